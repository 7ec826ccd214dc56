// Accumulators of one's own, and the gradients that weft derives from their steps.
//
// The log of a sum of exponentials in one pass: a monoid whose state is the largest element so far and the sum relative to it.
// An exponential moving average: a fold, in which the order of the elements matters. Both run along the rows of a table;
// their gradients run backwards along the rows, and are compared with central differences.
#include <cmath>
#include <cstdio>
#include <limits>

#include <weft/check_gradient.h>
#include <weft/weft.h>

namespace {

constexpr weft::Index rows = 6, columns = 40;

weft::Array signal() {
  weft::Array table(weft::f64, {rows, columns});
  for (weft::Index i = 0; i < rows; ++i)
    for (weft::Index j = 0; j < columns; ++j) table.at<double>({i, j}) = 3 * std::sin(0.3 * static_cast<double>(j * (i + 1))) + 0.1 * static_cast<double>(i);
  return table;
}

bool report(const char* name, const weft::Expr& loss, const weft::Expr& x, const weft::Array& data) {
  const weft::GradientReport checked = weft::check_gradient(loss, {x}, {data});
  std::printf("%-24s gradient of %d elements, worst relative error %.1e: %s\n", name, static_cast<int>(checked.elements), checked.worst,
              checked.ok ? "right" : checked.text.c_str());
  return checked.ok;
}

int run() {
  using weft::Accumulator;
  using weft::Expr;
  constexpr double infinity = std::numeric_limits<double>::infinity();

  const auto logsumexp = Accumulator::monoid(
      "online_logsumexp", std::tuple(-infinity, 0.0),
      [](Expr x) { return std::tuple(x, 1.0); },
      [](Expr m, Expr s, Expr n, Expr t) {
        const Expr top = maximum(m, n);
        return std::tuple(top, where(m == -infinity, 0, s * exp(m - top)) + where(n == -infinity, 0, t * exp(n - top)));
      },
      [](Expr m, Expr s) { return m + log(s); });
  const auto average = Accumulator::fold("moving_average", 0.0, [](Expr state, Expr x) { return 0.9 * state + 0.1 * x; });

  weft::Graph g("accumulators");
  const Expr x = g.input("x", weft::f64, {"n", "m"});
  const Expr pooled = reduce(x, logsumexp, {1}), smooth = scan(x, average, 1);
  const weft::Array data = signal();

  const auto f = weft::compile({pooled, weft::logsumexp(x, 1), smooth}, {x});
  const auto out = f({data});
  double apart = 0;
  for (weft::Index i = 0; i < rows; ++i) apart = std::max(apart, std::abs(out[0].at<double>({i}) - out[1].at<double>({i})));
  std::printf("logsumexp of row 0: %.12f in one pass, %.12f in two\n", out[0].at<double>({0}), out[1].at<double>({0}));
  std::printf("moving average of row 0 ends at %.12f\n", out[2].at<double>({0, columns - 1}));

  const bool right = report("online logsumexp", sum(pooled * pooled), x, data) && report("moving average", sum(smooth * smooth), x, data);
  return right && apart < 1e-12 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
