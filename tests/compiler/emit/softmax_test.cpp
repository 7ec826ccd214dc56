// softmax and log_softmax of 100,000 rows of extreme numbers: finite where mathematics is, NaN where it has no value, and
// nowhere else. Rows times a constant are where a maximum that is computed twice in two ways gives NaN.
#include <algorithm>

#include "compiled.h"

using namespace weft;

namespace {

constexpr Index rows = 100000, columns = 11;

// Mostly ordinary numbers, in half of the rows some that are huge, infinite or NaN.
Array extreme_rows() {
  SeededSource random(7);
  Array x(f32, {rows, columns});
  auto* to = x.View::data<float>();
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) {
      const float ordinary = static_cast<float>((random.uniform() - 0.5) * random.pick<double>({2, 40, 1e4}));
      const float huge = random.pick<float>({1e38f, -1e38f, 3.4e38f, -3.4e38f, 1e-40f, 0.0f, -0.0f, -INFINITY});
      const float wild = random.pick<float>({INFINITY, NAN, -INFINITY});
      to[i * columns + j] = i % 2 == 0 || random.chance(40) ? ordinary : i % 5 == 0 && random.chance(10) ? wild : i % 7 == 0 ? -INFINITY : huge;
    }
  return x;
}

// The row has a softmax: no NaN, no +inf, not -inf alone.
bool has_value(const float* row) {
  const bool number = std::none_of(row, row + columns, [](float x) { return std::isnan(x) || x == INFINITY; });
  return number && std::any_of(row, row + columns, [](float x) { return x != -INFINITY; });
}

struct Worst {
  double softmax = 0, log_softmax = 0;
  Index wrong = 0, rows = 0;
};

Worst compare(const float* x, const float* softmax, const float* log_softmax) {
  Worst worst;
  for (Index i = 0; i < rows; ++i, x += columns, softmax += columns, log_softmax += columns) {
    if (!has_value(x)) {
      worst.wrong += !std::all_of(softmax, softmax + columns, [](float y) { return std::isnan(y); });
      continue;
    }
    ++worst.rows;
    const double top = *std::max_element(x, x + columns);
    double total = 0;
    for (Index j = 0; j < columns; ++j) total += std::exp(x[j] - top);
    for (Index j = 0; j < columns; ++j) {
      const double exponent = x[j] - top, exact = std::exp(exponent) / total, exact_log = exponent - std::log(total);
      // exponent is rounded to f32, which moves exp(exponent) by as much as its own rounding error.
      const double allowed = 1 + std::min(std::abs(exponent), 110.0);
      worst.softmax = std::max(worst.softmax, exact < 0x1p-126 ? std::abs(softmax[j] - exact) / 0x1p-120 : std::abs(softmax[j] - exact) / exact / allowed);
      if (exponent > -1e38) worst.log_softmax = std::max(worst.log_softmax, std::abs(log_softmax[j] - exact_log) / (1 + std::abs(exact_log)));
      worst.wrong += !(softmax[j] >= 0 && softmax[j] <= 1) || !(log_softmax[j] <= 0);
    }
  }
  return worst;
}

void check_rows(double factor) {
  CAPTURE(factor);
  const Array x = extreme_rows();
  Graph g;
  const Expr in = g.input("x", f32, {"n", "m"}), scaled = factor == 1 ? in : in * factor;
  const auto got = compile({softmax(scaled), log_softmax(scaled)}, {in}, checked(2))({x});
  Array seen = x.copy();
  for (Index k = 0; k < seen.size(); ++k) seen.View::data<float>()[k] *= static_cast<float>(factor);
  const Worst worst = compare(seen.View::data<float>(), got[0].View::data<float>(), got[1].View::data<float>());
  CHECK(worst.rows > rows / 2);
  CHECK(worst.wrong == 0);
  CHECK(worst.softmax < 1e-6);
  CHECK(worst.log_softmax < 1e-6);
}

}  // namespace

TEST_CASE("softmax of rows with extreme numbers is finite where mathematics is") { check_rows(1); }
TEST_CASE("softmax of rows times a constant, which a fused multiply-add would compute in two ways") {
  for (double factor : {0.3, 1.7, -1.1, 1e-3}) check_rows(factor);
}
