// Loops that take next to none of a function's time run one vector at a time; the others as many as they would alone.
#include "bits.h"

#include <sstream>

#include <doctest/doctest.h>

#include "function/compile_for.h"

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

// Microseconds of all nests on one thread, as the report says, or others that it says after `before`.
double estimate_of(const Function& f, const std::string& before = "threads  one: ") {
  double all = 0;
  std::istringstream lines(f.report());
  for (std::string line; std::getline(lines, line);) {
    const auto at = line.find(before);
    if (at == std::string::npos) continue;
    std::istringstream text(line.substr(at + before.size()));
    double value = 0;
    std::string unit;
    text >> value >> unit;
    all += value * (unit == "ns" ? 1e-3 : unit == "us" ? 1 : 1e3);
  }
  return all;
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

TEST_CASE("an estimate is of instructions, or of what memory takes where that is more: of arrays that the first level does not hold") {
  Machine near;
  near.vector_ps = 100;
  near.second_level_read = near.second_level_write = near.third_level_read = near.third_level_write = near.memory_read = near.memory_write = 0.01;
  Machine far = near;
  far.third_level_read = far.third_level_write = 50;
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n", "d"}), w = g.input("w", f32, {"d"});
  const auto on = [](const Machine& machine, const Expr& result, const std::vector<Expr>& inputs, const std::vector<Array>& arrays) {
    const Function f = compile_for(machine, {result}, inputs, {.threads = 1});
    f(arrays);
    return estimate_of(f);
  };
  const Array few = uneven(f32, {1000}), many = uneven(f32, {1 << 20});
  const double long_function = on(near, exp(x), {x}, {many}), short_function = on(near, x + 1.0f, {x}, {many});
  CHECK(long_function > 4 * short_function);
  CHECK(on(near, x + 1.0f, {x}, {few}) == on(far, x + 1.0f, {x}, {few}));
  // Twice 65536 lines, each of 50 instructions of 100 ps.
  CHECK(on(far, x + 1.0f, {x}, {many}) == doctest::Approx(2 * 65536 * 50 * 100e-6).epsilon(0.05));
  CHECK(on(far, exp(x), {x}, {many}) == on(far, x + 1.0f, {x}, {many}));
  // What every row reads again is in a cache.
  CHECK(on(far, y * w, {y, w}, {uneven(f32, {1024, 1024}), uneven(f32, {1024})}) == doctest::Approx(2 * 65536 * 50 * 100e-6).epsilon(0.05));
}

TEST_CASE("an estimate of functions of bytes is of lookups, and operands that repeat count once") {
  Graph g;
  const Expr image = g.input("image", u8, {"h", "w", 3}), gain = g.input("gain", f32, {3});
  const auto toned = [&](const Expr& bytes) { return cast(minimum(floor(pow(cast(bytes, f32) / 255.0f, 2.2f) * gain), 255.0f), u8); };
  const Array pixels(u8, {64, 64, 3}), gains = uneven(f32, {3});
  const Function by_tables = compile({toned(image)}, {image, gain}, {.threads = 1});
  by_tables({pixels, gains});
  CHECK(by_tables.report().find("looked up in tables of bytes") != std::string::npos);
  CHECK(estimate_of(by_tables) < 2);
  const Expr floats = g.input("floats", f32, {"h", "w", 3}), result = pow(floats, 2.2f) * gain;
  const Function of_floats = compile({result}, {floats, gain}, {.threads = 1});
  of_floats({uneven(f32, {64, 64, 3}), gains});
  CHECK(estimate_of(of_floats) > 4 * estimate_of(by_tables));
}

TEST_CASE("others help with functions of bytes from where the tables of a slice are little of it") {
  Graph g;
  const Expr image = g.input("image", u8, {"h", "w"}), floats = g.input("floats", f32, {"h", "w"});
  const auto helps_from = [](const Expr& result, const Expr& input, const Array& array) {
    const Function f = compile({result}, {input}, {.threads = 2});
    f({array});
    return estimate_of(f, "others help from ");
  };
  const double of_floats = helps_from(floats + 1.0f, floats, uneven(f32, {64, 64}));
  CHECK(of_floats == 4);
  CHECK(helps_from(cast(floor(pow(cast(image, f32) / 255.0f, 2.2f) * 255.0f), u8), image, Array(u8, {64, 64})) > of_floats + 0.5);
  CHECK(helps_from(image + image, image, Array(u8, {64, 64})) == of_floats);
}
