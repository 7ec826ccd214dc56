// Loops that take next to none of a function's time run one vector at a time; the others as many as they would alone.
#include "bits.h"

#include <sstream>

#include <doctest/doctest.h>

using namespace weft;

namespace {

// What the report says of the vector loops, in order.
std::vector<std::string> bodies_of(const Function& f) {
  std::vector<std::string> bodies;
  std::istringstream lines(f.report());
  for (std::string line; std::getline(lines, line);)
    if (line.find(" vector instructions, ") != std::string::npos) bodies.push_back(line);
  return bodies;
}

bool has_several_vectors(const std::string& body) { return body.find("vectors side by side") != std::string::npos; }

}  // namespace

TEST_CASE("what follows the sums of many rows runs one vector at a time, and several after few rows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), result = var(x, 0) * 2.0f + 1.0f;
  const auto last_body = [&](Index rows) {
    const Function f = compile({result}, {x}, {.threads = 1, .verify = true});
    same_bits(f, {uneven(f32, {rows, 1024})});
    return bodies_of(f).back();
  };
  CHECK_FALSE(has_several_vectors(last_body(4096)));
  CHECK(has_several_vectors(last_body(100)));
}

TEST_CASE("a nest that is all of a function, or half of it, keeps its vectors") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"m"});
  const Function one = compile({x * 2.0f}, {x}, {.threads = 1, .verify = true}), two = compile({x * 2.0f, y * 3.0f}, {x, y}, {.threads = 1, .verify = true});
  same_bits(one, {uneven(f32, {5000})});
  CHECK(has_several_vectors(bodies_of(one)[0]));
  same_bits(two, {uneven(f32, {5000}), uneven(f32, {5000})});
  CHECK(has_several_vectors(bodies_of(two)[0]));
  CHECK(has_several_vectors(bodies_of(two)[1]));
  const Function uneven_pair = compile({x * 2.0f, y * 3.0f}, {x, y}, {.threads = 1, .verify = true});
  same_bits(uneven_pair, {uneven(f32, {100000}), uneven(f32, {1000})});
  CHECK(has_several_vectors(bodies_of(uneven_pair)[0]) != has_several_vectors(bodies_of(uneven_pair)[1]));
}

TEST_CASE("a function that is called on nothing at first compiles for it") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const Function f = compile({var(x, 0), x + 1.0f}, {x}, {.threads = 1, .verify = true});
  for (const Index rows : {1, 0, 100}) same_bits(f, {uneven(f32, {rows, 100})});
}
