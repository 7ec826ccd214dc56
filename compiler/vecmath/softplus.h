#pragma once
// Logarithms of sums of exponentials: softplus, logaddexp. Both are high + log1p(exp(-d)), of which no part is rounded before the last sum.
#include "log.h"
#include "log1p_table.h"

namespace weft::vecmath {

// high + log(1 + u) for u = e.value + e.error in [0, 1]: high and a number of the table are summed exactly, or high and u in the first interval;
// a polynomial adds the rest, at most 1/64 where the sum is below 1/16, so that its roundings count little.
template <LaneType V>
V add_log1p_f32(const V& high, const ExpPair<V>& e) {
  const auto index = to_bits(fma(e.value, e.value.like(0.97), e.value.like(0.34375))) >> 20;
  const auto first = index == high.int_like(0x3eb00000 >> 20);
  const auto row = [&](int k) { return table_lookup(LaneTable{log1p_pieces[k], 16, true}, index); };
  const V distance = e.value - row(0), t = distance + e.error;
  const V slope = horner(t, 4, [&](int k) { return row(k + 2); }), lost = select(first, e.error, high.like(0));
  V error = high;
  const V sum = two_sum(high, max_raw(row(1), distance), error);
  return sum + (fma(t, slope, lost) + error);
}

template <LaneType V>
V add_log1p(const V& high, const ExpPair<V>& e) {
  if (high.bits() == 32) return add_log1p_f32(high, e);
  const V zero = high.like(0);
  V c = high, error = high;
  const V u = fast_two_sum(high.like(1), e.value, c);
  const auto y = log_pair(u, c + e.error, zero < zero, zero);
  const V sum = two_sum(high, y.high, error);
  return sum + (y.rest + error);
}

// log(1 + exp(x)). f32 0.99 ULP, f64 1.03 ULP, all x, subnormal results included. 0 at -inf, inf at inf.
template <LaneType V>
V softplus(const V& x) {
  return max_raw(add_log1p(max_raw(x.like(0), x), exp_pair_negative(x)), x);        // x where x is infinite: the sum is NaN
}

// log(exp(a) + exp(b)). f32 0.90 ULP, f64 0.89 ULP of the largest of a, b and the result; near the zeros of the result, where the
// operands cancel, that is more of its own. logaddexp(+-inf, +-inf) = +-inf for equal signs, inf if one operand is.
template <LaneType V>
V logaddexp(const V& a, const V& b) {
  const auto swap = a < b;
  const V high = select(swap, b, a), low = select(swap, a, b), limit = constant(a, 104, 746);
  V d_error = a;
  const V d = two_sum(high, -low, d_error);
  auto e = exp_pair_negative(d);
  e.error = e.error + select(d < limit, -e.value * d_error, a.like(0));
  return select((d > limit) | ((a == b) & (d != d)), high, add_log1p(high, e));
}

}  // namespace weft::vecmath
