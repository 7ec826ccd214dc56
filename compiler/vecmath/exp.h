#pragma once
// exp and its relatives: exp, expm1, sigmoid, tanh.
#include "common.h"
#include "tanh_table.h"

namespace weft::vecmath {

// x = n ln2 + r, |r| <= ln2 / 2. `high` is x - n * (upper part of ln2), exactly; r = high - n_low, with n_low of the other part, for those
// who want to know what r lost. `shifted` holds n in its low bits.
template <LaneType V>
struct ExpArgument {
  V shifted, n, high, n_low, r;
  Power<V> power() const { return {n, shifted}; }
};

template <LaneType V>
ExpArgument<V> split_exp(const V& x) {
  const V shift = round_shift(x);
  const V shifted = fma(x, x.like(0x1.71547652b82fep0), shift);
  const V n = shifted - shift;
  const V high = fma(n, constant(x, -0x1.62e4p-1, -0x1.62e42fefa4p-1), x);
  const V low = constant(x, 0x1.7f7d1cp-20, -0x1.8432a1b0e2634p-43);
  return {shifted, n, high, n * low, fma(-n, low, high)};
}

// (exp(r) - 1 - r) / r^2
template <LaneType V>
V exp_tail(const V& r) {
  if (r.bits() == 32) return poly(r, {0x1p-1, 0x1.55547p-3, 0x1.5554bep-5, 0x1.125086p-7, 0x1.6db916p-10});
  return poly(r, {0x1.000000000000ep-1, 0x1.555555555556ap-3, 0x1.555555554f31ap-5, 0x1.111111110a947p-7, 0x1.6c16c1885bfc7p-10,
                  0x1.a01a01ccd3259p-13, 0x1.a0198f7871acp-16, 0x1.71ddb227cd842p-19, 0x1.28b6b96894b34p-22, 0x1.afd5e3581520bp-26});
}

// 2^(f + n) for |f| <= 1/2 and a little.
template <LaneType V>
V exp2_scaled(const V& f, const Power<V>& n) {
  const V p = f.bits() == 32 ? poly(f, {0x1.62e43p-1, 0x1.ebfbep-3, 0x1.c6af6ap-5, 0x1.3b2a32p-7, 0x1.5f1384p-10, 0x1.4441dcp-13})
                             : poly(f, {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c5acp-3, 0x1.c6b08d704a223p-5, 0x1.3b2ab6fb9ec9p-7,
                                        0x1.5d87fe785db28p-10, 0x1.430913130eea7p-13, 0x1.ffcbfdce8a4dbp-17, 0x1.62bfbcdc074e5p-20,
                                        0x1.b521f839afc4ap-24, 0x1.e62e0a724f353p-28, 0x1.ee71678a1b23cp-32});
  return scale_by_power(fma(p, f, f.like(1)), n);
}

// exp(r)
template <LaneType V>
V exp_near_zero(const V& r) {
  const V one = r.like(1);
  return fma(fma(exp_tail(r), r, one), r, one);
}

// exp for x <= 0 or NaN: the same bits.
template <LaneType V>
V exp_nonpositive(const V& x) {
  const auto a = split_exp(max_raw(constant(x, -104, -746), x));
  return scale_down(exp_near_zero(a.r), a.power());
}

// exp(x). f32 0.89 ULP, f64 0.82 ULP, all x. exp(-inf) = +0, overflow to inf, gradual underflow.
template <LaneType V>
V exp(const V& x) {
  const auto a = split_exp(max_raw(constant(x, -104, -746), min_raw(constant(x, 89, 710), x)));
  return scale_by_power(exp_near_zero(a.r), a.power());
}

// 2^x. f32 0.83 ULP, f64 0.94 ULP, all x; exact for integral x. exp2(-inf) = +0.
template <LaneType V>
V exp2(const V& x) {
  const V clamped = max_raw(constant(x, -151, -1076), min_raw(constant(x, 129, 1025), x)), shift = round_shift(x);
  const V shifted = clamped + shift, n = shifted - shift;
  return exp2_scaled(clamped - n, {n, shifted});
}

// exp(x) - 1 = sum + error, or half of it, up to the rounding of `error`, which is the smaller part. The half is for large x, where
// 2^n must not overflow before the result does; the other is for x <= 0.
template <LaneType V>
struct Expm1 {
  V sum, error;
};

template <LaneType V>
Expm1<V> expm1_sum(const V& x, bool half) {
  const auto a = split_exp(x);
  const int fraction = fraction_bits(x);
  // 2^n or 2^(n - 1) from n in the low bits: the shift drops the bits of the rounding constant.
  const V power = from_bits((to_bits(a.shifted) << fraction) + x.int_like(int64_t{exponent_bias(x) - half} << fraction));
  const V unit = x.like(half ? 0.5 : 1), less = power - unit;
  const V lost = half ? (power - less) - unit : power - (less + unit);
  const V sum = fma(power, a.high, less);
  const V error = fma(power, a.high, less - sum) + lost;
  const V rest = fma(a.r * a.r, exp_tail(a.r), -a.n_low);
  return {sum, fma(power, rest, error)};
}

// exp(x) - 1. f32 0.995 ULP, f64 1.26 ULP, all x. expm1(-0) = -0, expm1(-inf) = -1.
template <LaneType V>
V expm1(const V& x) {
  const auto half = expm1_sum(max_raw(constant(x, -18, -38), min_raw(constant(x, 89, 710), x)), true);
  const V y = half.sum + half.error;
  return select(abs(x) < constant(x, 0x1p-26, 0x1p-55), x, y + y);
}

// 1 / d within 3 % for d in [1, 2]: enough to apply a correction of one rounding error.
template <LaneType V>
V rough_reciprocal(const V& d) {
  return fma(d, d.like(-0.4857421875), d.like(1.45703125));
}

// tanh for f32, from tables. The index is the exponent of a number that grows with |x| and the upper bits of its fraction.
template <LaneType V>
V tanh_f32(const V& x) {
  const V a = min_raw(x.like(9.05), abs(x));
  return with_sign_of(x, piecewise(a, to_bits(fma(a, x.like(1.65625), x.like(1))) >> 21, tanh_pieces));
}

// tanh(x). f32 0.86 ULP, f64 1.07 ULP, all x. tanh(-0) = -0, tanh(+-inf) = +-1.
template <LaneType V>
V tanh(const V& x) {
  if (x.bits() == 32) return tanh_f32(x);
  // With t = expm1(-2|x|) in (-1, 0]: tanh|x| = -t / (2 + t), both carried as a rounded value and its error.
  const auto t = expm1_sum(min_raw(constant(x, 10, 20), abs(x)) * x.like(-2), false);
  V t_error = x;
  const V sum = fast_two_sum(t.sum, t.error, t_error);
  const V two = x.like(2), d = sum + two, d_error = (sum - (d - two)) + t_error;
  const V q = sum / d;
  const V remainder = fma(-q, d_error, fma(-q, d, sum) + t_error);
  return copysign(fma(remainder, rough_reciprocal(d), q), x);
}

// exp(-|x|) as a rounded value and its error.
template <LaneType V>
struct ExpPair {
  V value, error;
};

template <LaneType V>
ExpPair<V> exp_pair_negative(const V& x) {
  const auto a = split_exp(max_raw(constant(x, -104, -746), -abs(x)));
  const V r_error = (a.high - a.r) - a.n_low;
  V error = x;
  const V u = fma(a.r * a.r, exp_tail(a.r), a.r), p = fast_two_sum(x.like(1), u, error);
  return {scale_down(p, a.power()), scale_down(error + r_error, a.power())};
}

// 1 / (1 + exp(-x)). f32 0.97 ULP, f64 0.94 ULP, all x, subnormal results included. 0 at -inf, 1 at inf.
template <LaneType V>
V sigmoid(const V& x) {
  // 2^n / (2^n + exp(-r)) for x = n ln2 + r, both parts of the quotient times a unit that keeps 2^n from being subnormal. The quotient of the
  // rounded sum is corrected by what the sum lost: the unit's own part is right but where the result is nearly 1. Few steps depend on r.
  const auto a = split_exp(max_raw(constant(x, -104, -746), min_raw(constant(x, 18, 38), x)));
  const int fraction = fraction_bits(x), exponent = x.bits() == 32 ? 24 : 54;
  const V one = x.like(1), unit = constant(x, 0x1p24, 0x1p54), scaled = a.r * -unit;
  const V power = from_bits((to_bits(a.shifted) << fraction) + x.int_like(int64_t{exponent_bias(x) + exponent} << fraction));
  const V sum = power + unit, rest = fma(-(a.r * scaled), exp_tail(-a.r), scaled), d = sum + rest;
  const V lost = ((sum - d) + rest) + (power - (sum - unit)), q = one / d;
  return fma(q, fma(-q, lost, fma(-q, d, one)), q) * power;
}

}  // namespace weft::vecmath
