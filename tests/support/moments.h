// Mean and variance in one visit of the elements, after Welford: a state of three values, two of which are finished.
#pragma once
#include <tuple>

#include <weft/recurrence.h>

inline weft::Accumulator moments() {
  return weft::Accumulator::fold(
      "moments", std::tuple(0.0, 0.0, 0.0),
      [](auto state, weft::Expr x) {
        const auto [n, mean, m2] = state;
        const weft::Expr count = n + 1, delta = x - mean, next = mean + delta / count;
        return std::tuple(count, next, m2 + delta * (x - next));
      },
      [](weft::Expr n, weft::Expr mean, weft::Expr m2) { return std::tuple(mean, m2 / n); });
}
