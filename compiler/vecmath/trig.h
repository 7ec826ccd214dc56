#pragma once
// sin, cos, tan, right for every finite argument.
#include "trig_tables.h"

namespace weft::vecmath {

// |x| = n * pi/2 + high + low, |high| <= pi/4 and a little. `shifted` holds (n + quadrants) mod 4 in its two lowest bits.
template <LaneType V>
struct Reduced {
  V shifted, high, low;
};

// Any x above the threshold. 2/pi mod 4 of the power of two in a comes from a table as four parts; its significand times these is
// summed exactly where it cancels. Follows Payne and Hanek, in floating point.
template <LaneType V>
Reduced<V> reduce_huge(const V& x, const V& shift) {
  const bool f32 = x.bits() == 32;
  const V a = min_raw(x, constant(x, 0x1.fffffep127, 0x1.fffffffffffffp1023));
  const int fraction = fraction_bits(a), log_step = f32 ? 3 : 4;
  const auto exponent = (to_bits(a) >> fraction) - a.int_like(exponent_bias(a) + fraction + 1);
  const auto zero = a.int_like(0), index = select(exponent > zero, exponent >> log_step, zero);
  const V m = from_bits(to_bits(a) - (index << (fraction + log_step)));

  V product[4] = {m, m, m, m}, error[4] = {m, m, m, m};
  for (int k = 0; k < 4; ++k) {
    const V part = table_lookup(f32 ? LaneTable{two_over_pi_f32[k], 13} : LaneTable{two_over_pi_f64[k], 61}, index);
    product[k] = m * part;
    error[k] = fma(m, part, -product[k]);
  }
  const auto mod4 = [](const V& t) { return fma(t.like(-4), round_even(t * t.like(0.25)), t); };
  V e0 = a, e1 = a, e2 = a, e3 = a, e4 = a, e5 = a;
  V sum = two_sum(mod4(product[0]), mod4(error[0]), e0);
  sum = two_sum(sum, mod4(product[1]), e1);
  const V n = round_even(sum);
  sum = two_sum(sum - n, error[1], e2);
  sum = two_sum(sum, product[2], e3);
  sum = two_sum(sum, e0, e4);
  sum = two_sum(sum, e1, e5);
  const V rest = ((e2 + e3) + (e4 + e5)) + (error[2] + product[3]);
  V low = rest;
  const V high = fast_two_sum(sum, rest, low);

  const V half_pi = constant(a, 0x1.921fb6p0, 0x1.921fb54442d18p0);
  const V half_pi_low = constant(a, -0x1.777a5cp-25, 0x1.1a62633145c07p-54);
  const V r = high * half_pi;
  const V r_low = fma(high, half_pi, -r) + fma(high, half_pi_low, low * half_pi);
  const V angle = fast_two_sum(r, r_low, low);
  return {n + shift, angle + (x - x), low};  // NaN for an infinity
}

// finish(r) of r = |x| reduced, where `shifted` counts from `quadrants`. NaN for an infinity.
template <LaneType V, class Finish>
V of_reduced(const V& x, int quadrants, Finish finish) {
  const V a = abs(x), shift = constant(a, 0x1.8p23 + quadrants, 0x1.8p52 + quadrants);
  const V shifted = fma(a, a.like(0x1.45f306dc9c883p-1), shift), n = shifted - shift;
  // Three parts of pi/2. The first step is exact; what the second loses goes to `low`.
  const V middle = constant(a, 0x1.444p-24, 0x1.1a62633145c06p-54), product = n * middle;
  const V first = fma(n, constant(a, -0x1.921fb4p0, -0x1.921fb54442d18p0), a);
  const V high = first - product;
  V lost = (first - high) - product;
  if (a.bits() == 64) lost = lost - fma(n, middle, -product);  // f32: the product is exact
  const V low = fma(n, constant(a, -0x1.68c234p-39, -0x1.c1cd129024e08p-107), lost);
  // n past 2^11 or 2^29 shows in the bits of `shifted`: in those of its exponent that are clear for a smaller n, or below them.
  const auto past = to_bits(shifted) & a.int_like(a.bits() == 32 ? 0x34bff800 : 0x3cc7ffffe0000000);
  return rare(!(past == a.int_like(0)), finish(Reduced<V>{shifted, high, low}), [&] { return finish(reduce_huge(a, shift)); });
}

// sin and cos of high + low.
template <LaneType V>
struct SinCos {
  V sin, cos;
};

// Both series are about the middle of the range of the square: it and what they add to the value there carry smaller roundings.
template <LaneType V>
SinCos<V> sin_cos_f32(const V& high, const V& low) {
  const V u = fma(high, high, high.like(-0x1.377d2ap-2)), exact = fma(high + high, low, u);
  const V s = poly(u, {-0x1.990c22p-5, -0x1.4b1002p-3, 0x1.0b313p-7, -0x1.9924ecp-13});
  const V c = poly(u, {-0x1.e66f3ep-2, 0x1.4b1002p-5, -0x1.643ff6p-10, 0x1.9931e4p-16});
  return {high + fma(high, s, low), fma(exact, c, u.like(0x1.b414f4p-1))};
}

template <LaneType V>
SinCos<V> sin_cos(const V& high, const V& low) {
  if (high.bits() == 32) return sin_cos_f32(high, low);
  const V z = high * high, one = z.like(1), half = z * z.like(0.5), top = one - half;
  const V s = poly(z, {-0x1.5555555555549p-3, 0x1.111111110f892p-7, -0x1.a01a019c1203p-13, 0x1.71de357691cd7p-19,
                       -0x1.ae5e64765696cp-26, 0x1.5d924b44f10fap-33});
  const V c = poly(z, {0x1.555555555554cp-5, -0x1.6c16c16c1521p-10, 0x1.a01a019cbcd88p-16, -0x1.27e4f81044811p-22,
                       0x1.1ee9ef518e21dp-29, -0x1.8fb000b867bebp-37});
  return {high + fma(high * z, s, low), top + fma(z * z, c, fma(-high, low, (one - top) - half))};
}

// sin(|x| + quadrants * pi/2), with its sign times `sign`.
template <LaneType V>
V sin_shifted(const V& x, int quadrants, const typename V::Int& sign) {
  return of_reduced(x, quadrants, [&](const Reduced<V>& r) {
    const auto y = sin_cos(r.high, r.low);
    const auto q = to_bits(r.shifted);
    const V chosen = select((q & x.int_like(1)) == x.int_like(0), y.sin, y.cos);
    return from_bits(to_bits(chosen) ^ (((q << (x.bits() - 2)) ^ sign) & to_bits(x.like(-0.0))));
  });
}

// sin(x). f32 0.84 ULP, f64 0.80 ULP, every finite x. sin(-0) = -0, sin(+-inf) = NaN.
template <LaneType V>
V sin(const V& x) {
  return sin_shifted(x, 0, to_bits(x));
}

// cos(x). f32 0.84 ULP, f64 0.81 ULP, every finite x. cos(+-inf) = NaN.
template <LaneType V>
V cos(const V& x) {
  return sin_shifted(x, 1, x.int_like(0));
}

// tan(high + low) = value + error.
template <LaneType V>
V tan_reduced(const V& high, const V& low, V& error) {
  if (high.bits() == 32) {
    // As in sin_cos_f32: tan is high * (1.125 + p). Its derivative is about 1 + 1.62 high^2.
    const V u = fma(high, high, high.like(-0x1.3p-2)), slope = fma(u, u.like(1.62), u.like(1.4809375));
    const V p = split_poly(u, {-0x1.9faaf0p-7, 0x1.b7c472p-2, 0x1.90f7dap-3, 0x1.712112p-4, 0x1.53f55ep-5, 0x1.38b812p-6, 0x1.2b95ap-7, 0x1.239eep-8});
    const V rest = fma(high, p, low * slope), base = u.like(1.125), t = fma(high, base, rest);
    error = fma(high, base, -t) + rest;
    return t;
  }
  const V z = high * high;
  const V p = poly(z, {0x1.555555555555fp-2, 0x1.11111111104acp-3, 0x1.ba1ba1baccce6p-5, 0x1.664f485abb194p-6, 0x1.226e3abfae751p-7,
                       0x1.d6d2dfe6a7db2p-9, 0x1.7db1dfd2b0455p-10, 0x1.34b9f105a15cfp-11, 0x1.ff4181685fbf2p-13,
                       0x1.5e4a7c59b7293p-14, 0x1.19fd5e4b23f5cp-14, -0x1.ad114ec108dabp-16, 0x1.972895eb45a84p-15,
                       -0x1.9616ddb517befp-16, 0x1.48292dbb928f4p-17});
  // The derivative of tan is 1 + tan^2.
  const V tail = high * z * p, near = high + tail;
  return fast_two_sum(high, fma(high * z, p, fma(low * near, near, low)), error);
}

// tan(x). f32 0.85 ULP, f64 1.10 ULP, every finite x. tan(-0) = -0, tan(+-inf) = NaN.
template <LaneType V>
V tan(const V& x) {
  return of_reduced(x, 0, [&](const Reduced<V>& r) {
    V error = x;
    const V t = tan_reduced(r.high, r.low, error);
    // Odd quadrants: -1 / (t + error), corrected once.
    const V q = x.like(-1) / t;
    const V inverse = fma(q, fma(q, error, fma(q, t, x.like(1))), q);
    const auto odd = to_bits(r.shifted) & x.int_like(1);
    return from_bits(to_bits(select(odd == x.int_like(0), t, inverse)) ^ sign_bit(x));
  });
}

}  // namespace weft::vecmath
