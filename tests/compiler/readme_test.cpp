// The first example of README.md: it stands here word for word, and prints what the README shows.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include <weft/weft.h>

namespace {

std::string readme() {
  std::ifstream file(std::filesystem::path(WEFT_TEST_DIR) / ".." / "README.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("the levels of the first example are those that README.md shows") {
  weft::Graph g("hello");
  auto x = g.input("x", weft::f32, {"n", "m"});
  auto w = g.input("w", weft::f32, {"m"});
  auto y = g.input("y", weft::f32, {"n"});
  auto loss = sum(square(sum(x * w, 1) - y));
  auto gradient = grad(loss, {w})[0];

  auto f = weft::compile({loss, gradient}, {x, w, y});
  const std::string graph = f.graph(), schedule = f.schedule(), program = f.program(), text = readme();
  for (const std::string& level : {graph, schedule, program}) {
    CAPTURE(level);
    CHECK(text.find("```\n" + level + "```\n") != std::string::npos);
  }
  std::vector<weft::Array> out = f({weft::Array::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}),
                                    weft::Array::from<float>({1, 0, -1}), weft::Array::from<float>({0, 1})});
  CHECK(out[0].at<float>({}) == 13);
  CHECK(out[1].to_vector<float>() == std::vector<float>{-28, -38, -48});
}
