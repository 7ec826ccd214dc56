// What signs say of values, and code that relies on it: exponentials of what is never above 0, quotients of what lies in [0, 1]. The interpreter's
// bits.
#include <limits>

#include "bits.h"
#include "program/bounds.h"

using namespace weft;

namespace {

// "+" at least 0, "-" at most 0, "1" in [+0, 1], "w8" whole numbers below 2^8
std::string text_of(const Graph& g, const Expr& x) {
  const Bounds b = bounds_of(g, x.id());
  return std::string(b.nonnegative ? "+" : "") + (b.nonpositive ? "-" : "") + (b.unit ? "1" : "") + (b.whole_bits > 0 ? "w" + std::to_string(b.whole_bits) : "");
}

}  // namespace

TEST_CASE("what signs say") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"}), k = g.input("k", i32, {"n", "m"});
  CHECK(text_of(g, x) == "");
  CHECK(text_of(g, exp(x)) == "+");
  CHECK(text_of(g, exp(-abs(x))) == "+1");
  CHECK(text_of(g, exp(-square(x) * 0.5)) == "+1");
  CHECK(text_of(g, exp(x * x / -2)) == "+1");
  CHECK(text_of(g, exp(x * y / -2)) == "+");
  for (const Expr& gauss : {-x * x, x * -x, -(x * x), -0.5 * x * x, x * (x * -0.5), -x * x / 2, x / -2 * x, -(abs(y) * x) * x, (x * -3) * (x / 2)}) CHECK(text_of(g, exp(gauss)) == "+1");
  for (const Expr& other : {-x * -x, 0.5 * x * x, x / y * x, x * y * x, -x * y, (x - 1) * x, x * x / y}) CHECK(text_of(g, exp(other)) == "+");
  CHECK(text_of(g, -x * -x) == "+");
  CHECK(text_of(g, x / g.constant(-0.0f) * x) == "");
  CHECK(text_of(g, exp2(-abs(x) - exp(y))) == "+1");
  CHECK(text_of(g, sigmoid(x)) == "+1");
  CHECK(text_of(g, -sigmoid(x)) == "-");
  CHECK(text_of(g, abs(x) + square(y)) == "+");
  CHECK(text_of(g, abs(x) - square(y)) == "");
  CHECK(text_of(g, -abs(x) * square(y)) == "-");
  CHECK(text_of(g, square(k)) == "");
}

TEST_CASE("what comes of integers is whole, and never -0") {
  Graph g;
  const Expr p = g.input("p", u8, {"n", "m"}), k = g.input("k", i32, {"n", "m"}), c = g.input("c", DType::bool_, {"n", "m"}), x = g.input("x", f32, {"n", "m"});
  const Expr pixel = cast(p, f32), number = cast(k, f32);
  CHECK(text_of(g, pixel) == "+w8");
  CHECK(text_of(g, number) == "w32");
  CHECK(text_of(g, cast(c, f64)) == "+1w8");
  CHECK(text_of(g, cast(k, f16)) == "");
  CHECK(text_of(g, cast(x, f64)) == "");
  CHECK(text_of(g, pixel + pixel + number) == "w33");
  CHECK(text_of(g, number - pixel) == "w33");
  CHECK(text_of(g, -pixel) == "-");
  CHECK(text_of(g, pixel * number) == "");
  CHECK(text_of(g, pixel + x) == "");
  CHECK(text_of(g, pixel + 3) == "+w33");
  CHECK(text_of(g, pixel + 0.5) == "+");
  CHECK(text_of(g, pixel - g.constant(-0.0f)) == "+");
  CHECK(text_of(g, sum(pixel, {0})) == "+w71");
  CHECK(text_of(g, sum(pixel, {0}) + sum(pixel + pixel, {0})) == "+w73");
  CHECK(text_of(g, sum(number, {0})) == "");
  CHECK(text_of(g, sum(sum(pixel, {0}))) == "+");
  CHECK(text_of(g, max(pixel, {0})) == "");
}

// -1 / -0 is above 0: a divisor that is a square may be 0, that of abs(-1) * -0 is -0.
TEST_CASE("quotients by what may be zero have no sign") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  CHECK(text_of(g, abs(x) / 3) == "+");
  CHECK(text_of(g, abs(x) / -3) == "-");
  CHECK(text_of(g, abs(x) / abs(y)) == "");
  CHECK(text_of(g, abs(x) / 0) == "");
  CHECK(text_of(g, abs(x) / g.constant(-0.0f)) == "");
}

TEST_CASE("what is subtracted is a maximum of the same elements") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"}), square_ = g.input("s", f32, {"n", "n"});
  CHECK(text_of(g, x - max(x, {1}, true)) == "-");
  CHECK(text_of(g, x - max(x, {0}, true)) == "-");
  CHECK(text_of(g, x - max(x)) == "-");
  CHECK(text_of(g, exp(x - max(x, {1}, true))) == "+1");
  CHECK(text_of(g, x - min(x, {1}, true)) == "");
  CHECK(text_of(g, x - max(y, {1}, true)) == "");
  CHECK(text_of(g, max(x, {1}, true) - x) == "");
  // the maximum of row i beside column i
  CHECK(text_of(g, square_ - max(square_, {1}, true)) == "-");
  CHECK(text_of(g, square_ - max(square_, {1})) == "");
  CHECK(text_of(g, transpose(square_) - max(square_, {1}, true)) == "");
}

TEST_CASE("exponentials of what is never above zero have the bits of others") {
  for (const DType dtype : {f32, f64, f16, bf16})
    for (const int lanes : {0, 4, 8}) {
      CAPTURE(dtype);
      CAPTURE(lanes);
      Graph g;
      const Expr x = g.input("x", dtype, {"n"});
      Array a = counted_by(dtype, {5000}, [](Index k) { return std::ldexp(static_cast<double>(k * 7919 % 5000) - 2500, static_cast<int>(k % 23) - 12); });
      const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-45, -1e-310, 103.97, 104, 87.4, 745.2, 746};
      for (std::size_t k = 0; k < std::size(specials); ++k) Scalar::of(dtype, specials[k]).store(static_cast<std::byte*>(a.data()) + k * 97 * size_of(dtype));
      check_bits({exp(-abs(x)), exp(x * x * -0.25), exp(x - max(x))}, {x}, {a}, 1, lanes);
    }
}

// From 1 down to subnormal numbers and zeros, by divisors of all sizes.
TEST_CASE("quotients of what lies between zero and one have the bits of the divider") {
  for (const DType dtype : {f32, f64, f16})
    for (const int lanes : {0, 4, 8}) {
      CAPTURE(dtype);
      CAPTURE(lanes);
      Graph g;
      const Expr x = g.input("x", dtype, {"n"}), d = g.input("d", dtype, {});
      const Function f = compile({exp(-abs(x)) / d, sigmoid(x) / d}, {x, d}, {.threads = 1, .lanes = lanes, .verify = true});
      for (const double wide : {1.0, 60.0, 120.0, 800.0})
        for (const double divisor : {1.0, 3.0, -7.0, 1e-3, 1234.567, 1e9, 0x1p31, 1e-10, 1e30, 0.0, -0.0, double(INFINITY), double(NAN), 1e-320}) {
          CAPTURE(divisor);
          Array a = counted_by(dtype, {1037}, [&](Index k) { return static_cast<double>(k * 7919 % 1037 - 518) * wide / 518; });
          Array by(dtype, {});
          Scalar::of(dtype, divisor).store(by.data());
          same_bits(f, {a, by});
        }
    }
}

TEST_CASE("softmax of rows that spread wide, with minus infinity, NaN and nothing else") {
  for (const DType dtype : {f32, f64}) {
    CAPTURE(dtype);
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"});
    const Function f = compile({softmax(x, 1), logsumexp(x, {1}), softmax(x, 0)}, {x}, {.threads = 2, .verify = true});
    for (const Index columns : {1, 7, 64, 1000}) {
      const Index rows = 37;
      Array a = counted_by(dtype, {rows, columns}, [&](Index k) {
        const Index row = k / columns, at = k * 7919 % 997;
        if (row % 5 == 1 && at % 3 == 0) return -std::numeric_limits<double>::infinity();
        if (row == 7) return -std::numeric_limits<double>::infinity();
        if (row == 11 && at % 50 == 0) return std::numeric_limits<double>::infinity();
        if (row == 13 && at % 90 == 0) return std::numeric_limits<double>::quiet_NaN();
        return (static_cast<double>(at) - 500) * (row % 4 == 0 ? .01 : row % 4 == 1 ? .3 : row % 4 == 2 ? 2 : 1e36);
      });
      same_bits(f, {a});
    }
  }
}
