#pragma once
// pow.
#include "exp.h"
#include "pow_tables.h"

namespace weft::vecmath {

// (2^f - 1 - f ln2) / f^2 for |f| <= 1/2 and a little, in f64.
template <LaneType V>
V exp2_tail(const V& f) {
  return poly(f, {0x1.ebfbdff82c5a5p-3, 0x1.c6b08d704a068p-5, 0x1.3b2ab6fb9ffa7p-7, 0x1.5d87fe78bb7bep-10, 0x1.4309130f17874p-13,
                  0x1.ffcbfbf04373ap-17, 0x1.62bfc7120e9c2p-20, 0x1.b525fd8b2e6cap-24, 0x1.e61c29d186124p-28, 0x1.e846c46316e75p-32});
}

// 2^(high + low), |high + low| <= 200 (f32) or 1500 (f64), low below one half.
template <LaneType V>
V exp2_sum(const V& high, const V& low) {
  const V shift = round_shift(high), shifted = high + shift, n = shifted - shift;
  if (high.bits() == 32) return exp2_scaled((high - n) + low, {n, shifted});
  // 2^(f + f_low) = 1 + f ln2 + f^2 q(f), with all that its two largest terms lose.
  V f_low = high, error = high;
  const V f = fast_two_sum(high - n, low, f_low), ln2 = f.like(0x1.62e42fefa39efp-1), linear = f * ln2;
  const V sum = fast_two_sum(f.like(1), linear, error);
  const V lost = fma(f_low, ln2, fma(f, f.like(0x1.abc9e3b39803fp-56), fma(f, ln2, -linear))) + error;
  return scale_by_power(sum + fma(f * f, exp2_tail(f), lost), {n, shifted});
}

// log2 of x >= 0 as an unevaluated sum; the low part means nothing when the high one is infinite.
template <LaneType V>
V log2_sum(const V& x, V& low) {
  const bool f32 = x.bits() == 32;
  const auto split = split_power(x, 0.75);
  const V m = split.mantissa;
  const int fraction = fraction_bits(x);
  const auto index = (to_bits(m) >> (fraction - 4)) & x.int_like(15);
  // Few bits in 1/c, so that r is exact; few bits in the upper part of log2(c), so that its sum with the exponent is.
  const V r = fma(m, table_lookup(LaneTable{inverse_table, 16}, index), x.like(-1));
  const auto of_c = lookup_pair({f32 ? log2_high_f32 : log2_high_f64, 16}, {f32 ? log2_low_f32 : log2_low_f64, 16}, index);
  const V whole = split.exponent + of_c[0], table_low = of_c[1];

  const double scale_low = f32 ? 0x1.4ae0cp-26 : 0x1.777d0ffda0d24p-56;
  const V scale = constant(x, 0x1.715476p0, 0x1.71547652b82fep0), minus_half = x.like(-0.5);
  const V linear = r * scale, linear_error = fma(r, x.like(scale_low), fma(r, scale, -linear));
  const V half = r * minus_half;
  const V square = half * linear, square_error = fma(half, linear_error, fma(half, linear, -square));
  // log(1 + r) = r - r^2/2 - r^2/2 * r q(r), summed from the largest term down.
  V e0 = x, e1 = x;
  V sum = fast_two_sum(two_sum(whole, linear, e0), square, e1);
  V rest = ((linear_error + square_error) + table_low) + (e0 + e1);
  if (f32) {
    const V q = poly(r, {-0x1.555554p-1, 0x1.ffff84p-2, -0x1.99a1eep-2, 0x1.56c68ep-2, -0x1.1f328p-2});
    rest = fma(square, r * q, rest);
  } else {
    // Here the third term too needs more than one double: r q = r (-2/3) + r q' in two parts.
    const V q = poly(r, {-0x1.5555555555536p-15, 0x1.ffffffffffff5p-2, -0x1.9999999999958p-2, 0x1.55555555623c4p-2,
                         -0x1.24924925307d3p-2, 0x1.ffffff6034581p-3, -0x1.c71c66a803e08p-3, 0x1.999b14000db61p-3,
                         -0x1.7481e7180a98p-3, 0x1.549d1e3412d34p-3, -0x1.1294d76d2319p-3});
    const V third = x.like(-0x1.555p-1), main = r * third;
    V ratio_error = x, e2 = x;
    const V ratio = fast_two_sum(main, r * q, ratio_error);
    const V cubic = square * ratio, cubic_error = fma(square, ratio, -cubic);
    sum = fast_two_sum(sum, cubic, e2);
    rest = fma(square_error, ratio, (rest + cubic_error) + e2);
    rest = fma(square, ratio_error + fma(r, third, -main), rest);
  }
  const V high = fast_two_sum(sum, rest, low);
  return select(abs(whole) < x.like(infinity), high, whole);
}

// What is left of |x|^y: signs and NaN. log2 is infinite at 0 and at infinity, so `result` is right there but for the cases y = 0 and
// |x| = 1.
template <LaneType V>
V pow_special(V result, const V& x, const V& y) {
  const V one = x.like(1), zero = x.like(0), base = abs(x), half = y * x.like(0.5);
  const auto integral = trunc(y) == y, odd = integral & (trunc(half) != half), negative = x < zero;
  result = select(negative & !integral & (base < x.like(infinity)), x.like(not_a_number), result);
  const auto zero_bits = x.int_like(0);
  result = from_bits(to_bits(result) | select(odd, sign_bit(x), zero_bits));
  return select((y == zero) | (x == one) | ((base == one) & (abs(y) == x.like(infinity))), one, result);
}

// x^y. f32 0.94 ULP, f64 0.76 ULP on pairs of any sizes, the result in range or out of it.
// x^0 = 1 and 1^y = 1 even for NaN, (-1)^(+-inf) = 1, NaN for x < 0 finite and y not an integer; all else as in C.
template <LaneType V>
V pow(const V& x, const V& y) {
  V log_low = x;
  const V log_high = log2_sum(abs(x), log_low);
  const V product = y * log_high, limit = constant(x, 200, 1500);
  const V exact = fma(y, log_low, fma(y, log_high, -product));
  // Out of range, the clamped integer alone gives 0 or infinity, and the low part is not a number of use.
  const V low = select(abs(product) < limit, exact, x.like(0));
  return pow_special(exp2_sum(max_raw(-limit, min_raw(limit, product)), low), x, y);
}

}  // namespace weft::vecmath
