// Sums as if added in twice the precision, against sums in quadruple precision of numbers that cancel.
#include <doctest/doctest.h>

#include <cmath>
#include <error_text.h>
#include <random_data.h>
#include <weft/expr.h>
#include <weft/grad.h>
#include <weft/interpret.h>

using namespace weft;

namespace {

Array total_of(const Array& values, const ReduceOptions& options = {}, const Axes& axes = all_axes) {
  Graph g;
  const Expr x = g.input("x", values.dtype(), values.shape().size() == 1 ? Shape{"n"} : Shape{"n", "m"});
  return interpret({compensated_sum(x, axes, options)}, {x}, {values})[0];
}
double total_of(const std::vector<double>& values) { return total_of(Array::from(values, {static_cast<Index>(values.size())})).at<double>({}); }

}  // namespace

TEST_CASE("what cancels in a sum leaves its true rest") {
  CHECK(total_of({1e16, 1, -1e16}) == 1);
  CHECK(total_of({1e16, 1, 1, 1, -1e16}) == 3);
  CHECK(total_of({1, 1e100, 1, -1e100}) == 2);
  CHECK(total_of({0x1p1000, 1, -0x1p1000, 0x1p900}) == 0x1p900);
  CHECK(total_of({0x1p-1000, 0x1p-1050, -0x1p-1000}) == 0x1p-1050);
  CHECK(total_of({1e308, 1e308, 1e308}) == std::numeric_limits<double>::infinity());   // magnitudes beyond f64: as sum
  CHECK(std::isnan(total_of({1, NAN})));
  CHECK(total_of({INFINITY, 1}) == INFINITY);
  CHECK(total_of(std::vector<double>{}) == 0);
  const double zero = total_of({-0.0, -0.0});
  CHECK((zero == 0 && std::signbit(zero)));
}

TEST_CASE("a compensated sum of cancelling numbers is right to twice the precision of their magnitudes") {
  SeededSource random(1);
  for (const int count : {3, 100, 5000}) {
    std::vector<double> values;
    for (int k = 0; k < count; ++k) {
      const double value = std::ldexp(random.uniform() - 0.5, static_cast<int>(random.small(8)));
      values.insert(values.end(), {value, -value, value * 0x1p-40});
    }
    __float128 exact = 0;
    double magnitude = 0;
    for (double value : values) exact += value, magnitude += std::abs(value);
    const double sum = static_cast<double>(exact);
    CHECK(std::abs(total_of(values) - sum) <= 0x1p-52 * std::abs(sum) + 0x1p-95 * magnitude);
  }
}

TEST_CASE("f32 and halves add in f64, axes, masks and initial values are those of sum") {
  CHECK(total_of(Array::from(std::vector<float>{1e8f, 1, -1e8f}, {3})).at<float>({}) == 1);
  const Array grid = Array::from(std::vector<double>{1e16, 1, -1e16, 2, 3, 4}, {2, 3});
  CHECK(total_of(grid, {}, 1).to_vector<double>() == std::vector<double>{1, 9});
  CHECK(total_of(grid, {.keepdims = true}, 0).shape() == Dims{1, 3});
  CHECK(total_of(grid, {.initial = Value(0.5)}, 1).to_vector<double>() == std::vector<double>{1.5, 9.5});
  Graph g;
  const Expr x = g.input("x", f64, {"n"});
  const Expr masked = compensated_sum(x, all_axes, {.where = x > 0});
  CHECK(interpret({masked}, {x}, {Array::from(std::vector<double>{1e16, -5, 1.5}, {3})})[0].at<double>({}) == 1e16 + 2);
}

TEST_CASE("the gradient of a compensated sum is that of sum") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"});
  const Expr loss = compensated_sum(square(x));
  const Expr gradient = grad(loss, {x})[0];
  const Array values = Array::from(std::vector<double>{3, -1e9, 0, 0x1p-600}, {4});
  CHECK(interpret({gradient}, {x}, {values})[0].to_vector<double>() == std::vector<double>{6, -2e9, 0, 0x1p-599});
}

TEST_CASE("a compensated sum of integers is refused") {
  Graph g;
  const Expr x = g.input("x", i32, {"n"});
  CHECK(error_text([&] { compensated_sum(x); }) == "dtype: compensated_sum: %x is i32, and sums of integers are exact\n  use sum");
  const Expr y = g.input("y", f64, {"n"});
  CHECK(error_text([&] { compensated_sum(y, all_axes, {.dtype = f32}); }) == "dtype: compensated_sum: %y is f64, which does not fit f32\n  cast the result instead");
}
