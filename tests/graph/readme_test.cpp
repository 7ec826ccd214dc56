// The five examples of README.md, "How X broadcasts": its lines stand here word for word, and do what it says.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include <weft/broadcast.h>
#include <weft/elemwise.h>
#include <weft/tml.h>
#include <weft/xla.h>

#include "values.h"

using namespace weft;

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The code of the section's table: what stands between backticks in the last column.
std::vector<std::string> lines_of_readme() {
  const std::string text = read(std::filesystem::path(WEFT_TEST_DIR) / ".." / "README.md");
  const auto begin = text.find("## How X broadcasts, and the call in weft"), end = text.find("\n## ", begin + 1);
  REQUIRE(begin != std::string::npos);
  std::vector<std::string> lines;
  std::istringstream section(text.substr(begin, end - begin));
  for (std::string row; std::getline(section, row);) {
    if (!row.starts_with("| ") || row.find('`') == std::string::npos) continue;
    std::string cell = row.substr(row.rfind("| ", row.size() - 3));
    for (auto at = cell.find('`'); at != std::string::npos; at = cell.find('`')) {
      const auto close = cell.find('`', at + 1);
      lines.push_back(cell.substr(at + 1, close - at - 1));
      cell.erase(0, close + 1);
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("the lines of README stand in this file") {
  const std::vector<std::string> lines = lines_of_readme();
  CHECK(lines.size() == 10);
  std::vector<std::string> here;
  std::istringstream source(read(std::filesystem::path(WEFT_TEST_DIR) / "graph" / "readme_test.cpp"));
  for (std::string line; std::getline(source, line);) here.push_back(line.substr(std::min(line.size(), line.find_first_not_of(' '))));
  for (const std::string& line : lines) {
    CAPTURE(line);
    CHECK(std::find(here.begin(), here.end(), line) != here.end());
  }
}

TEST_CASE("README, Array API") {
  Graph g;
  auto column = g.input("column", f64, {3, 1}), row = g.input("row", f64, {2});
  auto table = column + row;
  CHECK(table.shape() == Shape{3, 2});
  CHECK(values_of(table, {column, row}, {doubles({10, 20, 30}, {3, 1}), doubles({1, 2}, {2})}) == std::vector<double>{11, 12, 21, 22, 31, 32});
}

TEST_CASE("README, XLA") {
  Graph g;
  auto m = g.input("m", f64, {2, 3}), v = g.input("v", f64, {2});
  auto scaled = xla::apply(Op::multiply, m, v, {0});
  CHECK(values_of(scaled, {m, v}, {doubles({1, 2, 3, 4, 5, 6}, {2, 3}), doubles({10, 100}, {2})}) == std::vector<double>{10, 20, 30, 400, 500, 600});
}

TEST_CASE("README, OpenVINO") {
  Graph g;
  auto bias = g.input("bias", f64, {2});
  auto image = broadcast(bias, {1, 2, 2, 2}, BroadcastMode::explicit_axes, {1});
  CHECK(image.shape() == Shape{1, 2, 2, 2});
  CHECK(values_of(image, {bias}, {doubles({5, 7}, {2})}) == std::vector<double>{5, 5, 5, 5, 7, 7, 7, 7});
}

TEST_CASE("README, Theano") {
  Graph g;
  auto x = g.input("x", f64, {2, 3}), y = g.input("y", f64, {2});
  auto [p, s] = elemwise(x, y, Order::c, {Mode::broadcast, accumulate(sum)}, [](Expr a, Expr b) { return std::tuple{a * b, a + b}; });
  const std::vector<Array> arrays{doubles({1, 2, 3, 4, 5, 6}, {2, 3}), doubles({10, 100}, {2})};
  CHECK(values_of(p, {x, y}, arrays) == std::vector<double>{10, 20, 30, 400, 500, 600});
  CHECK(values_of(s, {x, y}, arrays) == std::vector<double>{16, 115});
}

TEST_CASE("README, TML") {
  Graph g;
  auto t = g.input("t", i64, nested({2}, {3})), u = g.input("u", i64, nested({1}, {1}));
  auto sums = t + u;
  CHECK(sums.nest() == std::vector<Shape>{{2}, {3}});
  CHECK(values_of(sums, {t, u}, {Array::from<std::int64_t>({1, 2, 3, 4, 5, 6}, {2, 3}), Array::from<std::int64_t>({10}, {1, 1})}) ==
        std::vector<double>{11, 12, 13, 14, 15, 16});
}
