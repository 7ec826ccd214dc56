// Results of a few elements side by side, written by loops over them that do not run in registers: kept in rows, written as whole rows; the
// interpreter's bits.
#include <weft/weft.h>

#include "bits.h"

using namespace weft;

namespace {

bool scatters(const Function& f) { return f.llvm().find("scatter") != std::string::npos; }

// p[n,k] times r[m,k]: each point of k numbers becomes one of m.
Expr transformed(const Expr& p, const Expr& r) { return sum(expand_dims(p, 1) * r, 2); }

}  // namespace

TEST_CASE("points times a small matrix") {
  for (const DType dtype : {f32, f64, f16})
    for (const Index from : {2, 3, 4, 6})
      for (const Index to : {2, 3, 5, 8}) {
        CAPTURE(dtype);
        CAPTURE(from);
        CAPTURE(to);
        Graph g;
        const Expr p = g.input("p", dtype, {"n", from}), r = g.input("r", dtype, {to, from});
        const Function f = compile({transformed(p, r)}, {p, r}, {.threads = 2, .verify = true});
        for (const Index n : {4096, 1, 15, 16, 17, 512, 1040, 5000}) same_bits(f, {uneven(dtype, {n, from}), near_one(dtype, {to, from})});
      }
  Graph g;
  const Expr p = g.input("p", f32, {"n", 3}), r = g.input("r", f32, {3, 3});
  const Function f = compile({transformed(p, r)}, {p, r}, {.threads = 1, .verify = true});
  for (const Index n : {64, 4096}) {
    same_bits(f, {uneven(f32, {n, 3}), near_one(f32, {3, 3})});
    CHECK_FALSE(scatters(f));
  }
}

TEST_CASE("long functions of each channel") {
  Graph g;
  const Expr x = g.input("x", f32, {"h", "w", 3}), gain = g.input("gain", f32, {3});
  const Expr y = erf(pow(abs(x) + 0.25f, gain)) * tanh(x * gain) + lgamma(abs(x) + 1) * sin(x) - pow(gain + 2, x * 0.1f) * cos(x);
  const Function whole = compile({permute_dims(y, {2, 0, 1})}, {x, gain}, {.threads = 2, .verify = true}), pixels = compile({y + x}, {x, gain}, {.threads = 2, .verify = true});
  for (const Function* f : {&whole, &pixels})
    for (const Dims& shape : {Dims{32, 64, 3}, Dims{1, 1, 3}, Dims{5, 7, 3}}) same_bits(*f, {uneven(f32, shape), near_one(f32, {3})});
}

TEST_CASE("results that are read again, and several of them") {
  Graph g;
  const Expr p = g.input("p", f32, {"n", 4}), r = g.input("r", f32, {3, 4}), t = transformed(p, r);
  for (const auto& outputs : {std::vector<Expr>{t, sum(t, 0)}, {t, t * 2}, {t, sqrt(sum(t * t, 1))}, {t, transpose(t)}, {cumulative_sum(t, 0)}, {flip(t, {0})}, {t / sum(abs(t), 1, true)}}) {
    const Function f = compile(outputs, {p, r}, {.threads = 2, .verify = true});
    for (const Index n : {2048, 100, 1}) same_bits(f, {uneven(f32, {n, 4}), near_one(f32, {3, 4})});
  }
}

TEST_CASE("results in rows with gaps are written as before") {
  Graph g;
  const Expr p = g.input("p", f32, {"n", 3}), r = g.input("r", f32, {3, 3});
  const Function f = compile({transformed(p, r)}, {p, r}, {.threads = 2, .verify = true});
  const Array points = uneven(f32, {600, 3}), matrix = near_one(f32, {3, 3}), expected = f({points, matrix})[0];
  Array wide(f32, {600, 4});
  wide.fill(Scalar::of(f32, 77.0));
  f.run({points, matrix}, {wide.slice(1, 0, 3)});
  CHECK(difference(wide.slice(1, 0, 3), expected) == "");
  for (Index k = 0; k < 600; ++k) CHECK(wide.at<float>({k, 3}) == 77);
}

TEST_CASE("results may lie upon what they are computed from") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 3}), m = g.input("m", f32, {3, 3});
  for (const Expr& y : {transformed(x, m), erf(abs(x) + 0.25f) * tanh(x) + lgamma(abs(x) + 1) * sin(x) - pow(abs(x) + 2, x * 0.1f) * cos(x), flip(x, {1}) * 2, x / sqrt(sum(x * x, 1, true))})
    for (const int threads : {1, 2}) {
      const Function f = compile({y}, {x, m}, {.threads = threads, .verify = true});
      for (const Index n : {17, 64, 4096, 5000}) {
        const Array values = uneven(f32, {n, 3}), matrix = near_one(f32, {3, 3}), expected = f({values, matrix})[0], upon = values.copy();
        f.run({upon, matrix}, {upon});
        CHECK(difference(upon, expected) == "");
      }
    }
}

TEST_CASE("operands of few elements that several vector loops read come in rows") {
  const auto row_of_x = [](const Function& f) { return f.program().find("= load row1(%x)[") != std::string::npos || f.program().find("(%x)[j,k]") != std::string::npos; };
  for (const DType dtype : {f32, f64, f16})
    for (const Index few : {3, 5, 7, 16, 17}) {
      CAPTURE(dtype);
      CAPTURE(few);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m", few});
      const Function f = compile({softmax(x, 1)}, {x}, {.threads = 2, .verify = true});
      for (const Dims& shape : {Dims{30, 500, few}, Dims{3, 17, few}, Dims{2, 1, few}}) same_bits(f, {uneven(dtype, shape)});
      same_bits(f, {uneven(dtype, {30, 500, few}).copy(Order::f)});
    }
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m", 7}), y = g.input("y", f32, {"n", "m", 3});
  const Function seven = compile({softmax(x, 1)}, {x}, {.threads = 1, .verify = true}), three = compile({softmax(y, 1)}, {y}, {.threads = 1, .verify = true}), once = compile({sum(exp(x), 1)}, {x}, {.threads = 1, .verify = true});
  seven({uneven(f32, {300, 500, 7})});
  three({uneven(f32, {300, 500, 3})});
  once({uneven(f32, {300, 500, 7})});
  CHECK(row_of_x(seven));
  CHECK_FALSE(row_of_x(three));
  CHECK_FALSE(row_of_x(once));
}

TEST_CASE("operands that are results of the same loops stay where they are") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m", 7});
  const Function f = compile({softmax(x, 1)}, {x}, {.threads = 2, .verify = true});
  Array in_place = uneven(f32, {40, 300, 7});
  const Array expected = f({in_place.copy()})[0];
  f.run({in_place}, {in_place});
  CHECK(difference(in_place, expected) == "");
}
