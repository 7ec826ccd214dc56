#pragma once
// Faster pow.
#include "../pow.h"

namespace weft::vecmath::fast {

// log2_sum with fewer of its rounding errors kept: x >= 0.
template <LaneType V>
V log2_sum(const V& x, V& low) {
  const bool f32 = x.bits() == 32;
  const auto split = split_power(x, 0.75);
  const auto index = shift_right_logical(to_bits(split.mantissa), fraction_bits(x) - 4);
  const V r = fma(split.mantissa, table_lookup(LaneTable{inverse_table, 16, true}, index), x.like(-1));
  const auto of_c = lookup_pair({f32 ? log2_high_f32 : log2_high_f64, 16, true}, {f32 ? log2_low_f32 : log2_low_f64, 16, true}, index);
  const V whole = split.exponent + of_c[0];
  const V scale = constant(x, 0x1.715476p0, 0x1.71547652b82fep0), scale_low = constant(x, 0x1.4ae0cp-26, 0x1.777d0ffda0d24p-56);
  const V linear = r * scale, linear_error = fma(r, scale_low, fma(r, scale, -linear));
  const V half = r * x.like(-0.5), square = half * linear, square_error = fma(half, linear_error, fma(half, linear, -square));
  V e0 = x, e1 = x;
  const V sum = fast_two_sum(fast_two_sum(whole, linear, e0), square, e1);
  const V rest = ((linear_error + square_error) + of_c[1]) + (e0 + e1);
  const V q = f32 ? poly(r, {-0x1.555554p-1, 0x1.ffff84p-2, -0x1.99a1eep-2, 0x1.56c68ep-2, -0x1.1f328p-2})
                  : poly(r, {-0x1.5555555555555p-1, 0x1.ffffffffffff5p-2, -0x1.9999999999958p-2, 0x1.55555555623c4p-2,
                             -0x1.24924925307d3p-2, 0x1.ffffff6034581p-3, -0x1.c71c66a803e08p-3, 0x1.999b14000db61p-3,
                             -0x1.7481e7180a98p-3, 0x1.549d1e3412d34p-3, -0x1.1294d76d2319p-3});
  const V high = fast_two_sum(sum, fma(square, r * q, rest), low);
  return select(abs(whole) < x.like(infinity), high, whole);
}

// x^y. f32 0.94 ULP, f64 2.60 ULP.
template <LaneType V>
V pow(const V& x, const V& y) {
  V log_low = x;
  const V log_high = log2_sum(abs(x), log_low), product = y * log_high, limit = constant(x, 200, 1500);
  const V low = select(abs(product) < limit, fma(y, log_low, fma(y, log_high, -product)), x.like(0));
  const V clamped = max_raw(-limit, min_raw(limit, product)), shift = round_shift(x), shifted = clamped + shift, n = shifted - shift;
  const V result = exp2_scaled((clamped - n) + low, {n, shifted}), inf = x.like(infinity);
  const auto usual = (x > x.like(0)) & (x < inf) & (abs(y) < inf);
  return rare(!usual, result, [&] { return pow_special(result, x, y); });
}

}  // namespace weft::vecmath::fast
