#pragma once
// Helpers shared by the parts of vecmath.h.
#include "lane.h"

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

// c(first) + c(first + step) x + c(first + 2 step) x^2 + ... of the coefficients c(0) to c(terms - 1).
template <LaneType V, class Coefficient>
V horner(const V& x, int terms, const Coefficient& c, int first = 0, int step = 1) {
  int k = first + (terms - 1 - first) / step * step;
  V sum = c(k);
  for (k -= step; k >= first; k -= step) sum = fma(sum, x, c(k));
  return sum;
}

// Split into even and odd powers: one more multiply, half the dependency chain, and somewhat larger rounding errors.
template <LaneType V, class Coefficient>
V split_poly(const V& x, int terms, const Coefficient& c) {
  const V square = x * x;
  return fma(horner(square, terms, c, 1, 2), x, horner(square, terms, c, 0, 2));
}

inline constexpr int split_from = 11;            // terms

// c(0) + c(1) x + c(2) x^2 + ... Long ones are split.
template <LaneType V, class Coefficient>
V poly(const V& x, int terms, const Coefficient& c) {
  return terms < split_from ? horner(x, terms, c) : split_poly(x, terms, c);
}

// The same of numbers.
template <LaneType V>
V horner(const V& x, std::initializer_list<double> coefficients) {
  return horner(x, static_cast<int>(coefficients.size()), [&](int k) { return x.like(coefficients.begin()[k]); });
}

template <LaneType V>
V split_poly(const V& x, std::initializer_list<double> coefficients) {
  return split_poly(x, static_cast<int>(coefficients.size()), [&](int k) { return x.like(coefficients.begin()[k]); });
}

template <LaneType V>
V poly(const V& x, std::initializer_list<double> coefficients) {
  return poly(x, static_cast<int>(coefficients.size()), [&](int k) { return x.like(coefficients.begin()[k]); });
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

// 1 / x within 13 % for a positive normal x below 2^124 (f32) or 2^1020 (f64), and a finite number for x = 0: enough to apply the
// correction of a rounding error.
template <LaneType V>
V rough_inverse(const V& x) {
  return from_bits(x.int_like(x.bits() == 32 ? 0x7ef311c7 : 0x7fde6238da3c2118) - to_bits(x));
}

// A polynomial without a constant term for each of sixteen intervals, about a point where the function is nearly a number of the dtype: one
// rounding, that of the last fma, is all but all of the error. The interval about 0 has the point and the number 0 and a polynomial of
// function(a) - a; elsewhere the number is above all distances from the point: a maximum chooses, since comparisons go through the units
// that multiply. The index counts modulo 16.
template <LaneType V, int terms>
V piecewise(const V& a, const typename V::Int& index, const double (&table)[terms][16]) {
  const auto row = [&](int k) { return table_lookup(LaneTable{table[k], 16, true}, index); };
  const V t = a - row(0);
  return fma(t, horner(t, terms - 2, [&](int k) { return row(k + 2); }), max_raw(row(1), t));
}

// The sign bit of a lane, alone.
template <LaneType V>
typename V::Int sign_bit(const V& x) {
  return to_bits(x) & to_bits(x.like(-0.0));
}

// A magnitude, whose own sign bit is not set, with the sign of x: an instruction less than copysign.
template <LaneType V>
V with_sign_of(const V& x, const V& magnitude) {
  return from_bits(to_bits(magnitude) | sign_bit(x));
}

}  // namespace weft::vecmath
