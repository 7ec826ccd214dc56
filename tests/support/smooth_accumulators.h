// Accumulators with derivatives, for gradients of random graphs.
#pragma once
#include <limits>
#include <tuple>

#include <weft/recurrence.h>

#include "moments.h"
#include "random_source.h"

inline weft::Accumulator smooth_accumulator(RandomSource& random, bool several_states) {
  using weft::Accumulator, weft::Expr;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (several_states) {
    switch (random.small(4)) {
      case 0: return moments();
      case 1:
        return Accumulator::monoid(
            "online_logsumexp", std::tuple(-infinity, 0.0), [](Expr x) { return std::tuple(x, 1.0); },
            [](Expr m, Expr s, Expr n, Expr t) {
              const Expr top = maximum(m, n);
              return std::tuple(top, where(m == -infinity, 0, s * exp(m - top)) + where(n == -infinity, 0, t * exp(n - top)));
            },
            [](Expr m, Expr s) { return where(s > 0, m + log(s), 0); });
      case 2:
        return Accumulator::fold(
            "rotation", std::tuple(1.0, 0.0), [](Expr a, Expr b, Expr x) { return std::tuple(a * cos(x) - b * sin(x), a * sin(x) + b * cos(x)); },
            [](Expr a, Expr b) { return std::tuple(b, a * b); });
      default:
        return Accumulator::fold(
            "counted", std::tuple(weft::Scalar::of(weft::i32, 0), 0.0),
            [](Expr n, Expr s, Expr x) { return std::tuple(n + 1, s * 0.5 + x / cast(n + 1, weft::f64)); }, [](Expr n, Expr s) { return std::tuple(s, s / (2 + cast(n, weft::f64))); });
    }
  }
  switch (random.small(5)) {
    case 0: return Accumulator::fold("mulplus", 1.0, [](Expr s, Expr x) { return s * x * 0.5 + x; });
    case 1: return Accumulator::fold("squashed", 0.5, [](Expr s, Expr x) { return tanh(s) * x + x; }, [](Expr s) { return s * s; });
    case 2: return Accumulator::monoid("sum_of_sines", 0.0, [](Expr x) { return sin(x); }, [](Expr a, Expr b) { return a + b; });
    case 3: return Accumulator::monoid("product_of_cosines", 1.0, [](Expr x) { return 1.25 * cos(x); }, [](Expr a, Expr b) { return a * b; }, [](Expr s) { return sin(s); });
    default:
      return Accumulator::fold("given", 0.0, [](Expr s, Expr x) { return s * 0.5 + x * x; }).with_grad([](Expr, Expr x, Expr g) { return std::tuple(g * 0.5, 2 * g * x); });
  }
}
