#pragma once
// erf.
#include "common.h"
#include "erf_tables.h"

namespace weft::vecmath {

// Sixteen intervals of equal width, each with its own polynomial about the middle; the value at the middle has two parts. The first
// interval is about 0, where the function is a + a * polynomial.
template <LaneType V, int terms>
V piecewise(const V& a, double width, const double (&table)[terms][16]) {
  const V shift = round_shift(a);
  const V shifted = fma(a, a.like(1 / width), shift);
  const V t = fma(shifted - shift, a.like(-width), a);
  const auto index = to_bits(shifted) & a.int_like(15);
  const auto column = [&](int k) { return table_lookup(LaneTable{table[k], 16}, index); };
  V sum = column(terms - 1);
  for (int k = terms - 2; k > 0; --k) sum = fma(sum, t, column(k));
  return select(index == a.int_like(0), t, column(0)) + sum;
}

template <LaneType V>
V erf(const V& x) {
  const V a = abs(x);
  if (x.bits() == 32) return copysign(piecewise(min_raw(x.like(3.9296875), a), 0.25390625, erf_f32), x);
  return copysign(piecewise(min_raw(x.like(6.03125), a), 0.390625, erf_f64), x);
}

}  // namespace weft::vecmath
