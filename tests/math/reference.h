// What the vector functions should give, in double or long double, and the distance of a result from it in ULP.
#pragma once
#include "../../graph/gamma.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::math_test {

// The distance of y from the exact value, in units of the last place of the exact value in T. Infinite when the kinds differ. A power of
// two may be a value below it that was rounded: the smaller unit counts.
template <class T, class Exact>
double ulp_error(T y, Exact exact) {
  if (std::isnan(exact)) return std::isnan(y) ? 0 : INFINITY;
  if (std::isnan(y)) return INFINITY;
  using Limits = std::numeric_limits<T>;
  const T nearest = static_cast<T>(exact);
  if (std::isinf(nearest) || exact == 0) {
    if (y == nearest) return exact == 0 && std::signbit(y) != std::signbit(exact) ? INFINITY : 0;
    if (exact == 0 || std::isinf(exact)) return INFINITY;
  }
  const int power = std::ilogb(exact), below = std::fabs(exact) == std::ldexp(Exact{1}, power) ? power - 1 : power;
  int exponent = std::max(below, Limits::min_exponent - 1);
  exponent = std::min(exponent, Limits::max_exponent - 1);
  // Infinity stands for the first value past the largest.
  const Exact got = std::isinf(y) ? std::copysign(std::ldexp(Exact{1}, Limits::max_exponent), Exact{y}) : Exact{y};
  return static_cast<double>(std::ldexp(std::fabs(got - exact), Limits::digits - 1 - exponent));
}

template <class R>
R reference_sigmoid(R x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
template <class R>
R reference_softplus(R x) {
  return std::isnan(x) ? x : std::fmax(x, R{0}) + std::log1p(std::exp(-std::fabs(x)));
}

template <class R>
R reference_rsqrt(R x) {
  return 1 / std::sqrt(x);
}

template <class R>
R reference_digamma(R x) {
  return number::digamma_of(x);
}

// The derivative of digamma: the recurrence up to 30, then the asymptotic series; left of zero by reflection.
template <class R>
R reference_trigamma(R x) {
  constexpr auto pi = static_cast<R>(3.14159265358979323846264L);
  if (std::isnan(x) || x == -R{INFINITY}) return R{NAN};
  if (x <= 0) {
    const R r = x - std::nearbyint(x), ratio = pi / std::sin(pi * r);
    return r == 0 ? R{INFINITY} : ratio * ratio - reference_trigamma(1 - x);
  }
  R sum = 0;
  for (; x < 30; x += 1) sum += 1 / x / x;
  const R i = 1 / x, z = i * i;
  const R series = z * (R{1} / 6 - z * (R{1} / 30 - z * (R{1} / 42 - z * (R{1} / 30 - z * (R{5} / 66 - z * (R{691} / 2730))))));
  return sum + (i + (z / 2 + i * series));
}

inline long double reference_xlogy(long double x, long double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }
inline long double reference_logaddexp(long double x, long double y) {
  if (x == y) return x + std::log(2.0L);
  return std::isnan(x) || std::isnan(y) ? x + y : std::fmax(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
}

}  // namespace weft::math_test
