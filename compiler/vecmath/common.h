#pragma once
// Helpers shared by the parts of vecmath.h.
#include "../lane.h"

#include <initializer_list>
#include <limits>

namespace weft::vecmath {

using portable::exponent_bias;
using portable::fraction_bits;
using portable::round_shift;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The constant of the lane's own type.
template <LaneType V>
V constant(const V& x, double f32, double f64) {
  return x.like(x.bits() == 32 ? f32 : f64);
}

// c0 + c1 x + c2 x^2 + ... Long ones are split into even and odd powers: one more multiply, half the dependency chain.
template <LaneType V>
V poly(const V& x, std::initializer_list<double> coefficients) {
  const double* c = coefficients.begin();
  const int n = static_cast<int>(coefficients.size());
  const auto horner = [&](const V& t, int first, int step) {
    int k = first + (n - 1 - first) / step * step;
    V sum = x.like(c[k]);
    for (k -= step; k >= first; k -= step) sum = fma(sum, t, x.like(c[k]));
    return sum;
  };
  if (n < 8) return horner(x, 0, 1);
  const V square = x * x;
  return fma(horner(square, 1, 2), x, horner(square, 0, 2));
}

// s + e = a + b exactly, for any a and b without overflow.
template <LaneType V>
V two_sum(const V& a, const V& b, V& error) {
  const V sum = a + b, b_part = sum - a;
  error = (a - (sum - b_part)) + (b - b_part);
  return sum;
}

// The same when a is zero or |a| >= |b|.
template <LaneType V>
V fast_two_sum(const V& a, const V& b, V& error) {
  const V sum = a + b;
  error = b - (sum - a);
  return sum;
}

// The sign bit of a lane, alone.
template <LaneType V>
typename V::Int sign_bit(const V& x) {
  return to_bits(x) & to_bits(x.like(-0.0));
}

}  // namespace weft::vecmath
