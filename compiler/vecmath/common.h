#pragma once
// Helpers shared by the parts of vecmath.h.
#include "lane.h"

#include <initializer_list>
#include <limits>
#include <optional>

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

// c(0) + c(1) x + c(2) x^2 + ... of `terms` coefficients.
template <LaneType V, class Coefficient>
V horner(const V& x, int terms, const Coefficient& c) {
  V sum = c(terms - 1);
  for (int k = terms - 2; k >= 0; --k) sum = fma(sum, x, c(k));
  return sum;
}

// The same of at least two, split into even and odd powers: one more multiply, half the dependency chain, and somewhat larger rounding errors.
template <LaneType V, class Coefficient>
V split_poly(const V& x, int terms, const Coefficient& c) {
  const V square = x * x;
  V next = c(terms - 1), sum = c(terms - 2);       // of the powers that end with this coefficient, and of the others
  for (int k = terms - 3; k >= 0; --k) {
    const V longer = fma(next, square, c(k));
    next = sum;
    sum = longer;
  }
  return fma(next, x, sum);
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

// Rows of a table of columns, the second with the third and so on where one load brings both: the first is asked for first, the others in pairs.
template <LaneType V, int rows, int columns>
class TableRows {
 public:
  TableRows(const double (&table)[rows][columns], const typename V::Int& index, bool wraps) : table_(table), index_(index), wraps_(wraps) {}

  V operator()(int k) {
    if (k == 0 || (k % 2 != 0 && k + 1 == rows) || !loads_pairs(index_)) return table_lookup(row(k), index_);
    const int first = (k - 1) / 2 * 2 + 1;
    if (first != first_) {
      pair_ = lookup_pair(row(first), row(first + 1), index_);
      first_ = first;
    }
    return (*pair_)[static_cast<std::size_t>(k - first)];
  }

 private:
  LaneTable row(int k) const { return {table_[k], columns, wraps_}; }

  const double (&table_)[rows][columns];
  typename V::Int index_;
  bool wraps_;
  int first_ = -1;                    // of the pair that was looked up last
  std::optional<std::array<V, 2>> pair_;
};

// A polynomial without a constant term for each of sixteen intervals, about a point where the function is nearly a number of the dtype: one
// rounding, that of the last fma, is all but all of the error. The interval about 0 has the point and the number 0 and a polynomial of
// function(a) - a; elsewhere the number is above all distances from the point: a maximum chooses, since comparisons go through the units
// that multiply. The index counts modulo 16.
template <LaneType V, int terms>
V piecewise(const V& a, const typename V::Int& index, const double (&table)[terms][16]) {
  TableRows<V, terms, 16> row(table, index, true);
  const V t = a - row(0), slope = horner(t, terms - 2, [&](int k) { return row(k + 2); });
  return fma(t, slope, max_raw(row(1), t));
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
