#pragma once
// sin, cos, tan, right for every finite argument.
#include "trig_tables.h"

namespace weft::vecmath {

// |x| = n * pi/2 + high + low, |high| <= pi/4 and a little. `shifted` holds n mod 4 in its two lowest bits.
template <LaneType V>
struct Reduced {
  V shifted, high, low;
};

// Any a above the threshold. 2/pi mod 4 of the power of two in a comes from a table as four parts; a's significand times these is
// summed exactly where it cancels. Follows Payne and Hanek, in floating point.
template <LaneType V>
std::array<V, 3> reduce_huge(const V& a) {
  const bool f32 = a.bits() == 32;
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
  return {n + round_shift(a), angle, low};
}

template <LaneType V>
Reduced<V> reduce_angle(const V& a) {
  const V shift = round_shift(a);
  const V shifted = fma(a, a.like(0x1.45f306dc9c883p-1), shift), n = shifted - shift;
  // Three parts of pi/2. The first step is exact; what the second loses goes to `low`.
  const V middle = constant(a, 0x1.4442dp-24, 0x1.1a62633145c06p-54), product = n * middle;
  const V first = fma(n, constant(a, -0x1.921fb4p0, -0x1.921fb54442d18p0), a);
  const V high = first - product;
  const V lost = ((first - high) - product) - fma(n, middle, -product);
  const V low = fma(n, constant(a, -0x1.846988p-48, -0x1.c1cd129024e08p-107), lost);
  const V limit = constant(a, 8192, 0x1p30);
  const auto r = rare((a > limit) & (a < a.like(infinity)), std::array<V, 3>{shifted, high, low}, [&] { return reduce_huge(a); });
  return {r[0], r[1], r[2]};
}

template <LaneType V>
V sin_reduced(const Reduced<V>& r, const V& z) {
  const V p = r.high.bits() == 32 ? poly(z, {-0x1.555546p-3, 0x1.11077ap-7, -0x1.9954a8p-13})
                                  : poly(z, {-0x1.5555555555549p-3, 0x1.111111110f892p-7, -0x1.a01a019c1203p-13, 0x1.71de357691cd7p-19,
                                             -0x1.ae5e64765696cp-26, 0x1.5d924b44f10fap-33});
  return r.high + fma(r.high * z, p, r.low);
}

template <LaneType V>
V cos_reduced(const Reduced<V>& r, const V& z) {
  const V p = r.high.bits() == 32 ? poly(z, {0x1.55554ap-5, -0x1.6c0c1ap-10, 0x1.99e0eep-16})
                                  : poly(z, {0x1.555555555554cp-5, -0x1.6c16c16c1521p-10, 0x1.a01a019cbcd88p-16, -0x1.27e4f81044811p-22,
                                             0x1.1ee9ef518e21dp-29, -0x1.8fb000b867bebp-37});
  const V one = z.like(1), half = z * z.like(0.5), top = one - half;
  return top + fma(z * z, p, fma(-r.high, r.low, (one - top) - half));
}

// sin(|x| + quadrants * pi/2), with its sign times `sign`.
template <LaneType V>
V sin_shifted(const V& x, int quadrants, const typename V::Int& sign) {
  const auto r = reduce_angle(abs(x));
  const V z = r.high * r.high;
  const auto q = to_bits(r.shifted) + x.int_like(quadrants);
  const V y = select((q & x.int_like(1)) == x.int_like(0), sin_reduced(r, z), cos_reduced(r, z));
  return from_bits(to_bits(y) ^ ((q >> 1) << (x.bits() - 1)) ^ sign);
}

// sin(x). f32 0.87 ULP, f64 0.80 ULP, every finite x. sin(-0) = -0, sin(+-inf) = NaN.
template <LaneType V>
V sin(const V& x) {
  return sin_shifted(x, 0, sign_bit(x));
}

// cos(x). f32 0.88 ULP, f64 0.81 ULP, every finite x. cos(+-inf) = NaN.
template <LaneType V>
V cos(const V& x) {
  return sin_shifted(x, 1, x.int_like(0));
}

// tan(x). f32 1.09 ULP, f64 1.06 ULP, every finite x. tan(-0) = -0, tan(+-inf) = NaN.
template <LaneType V>
V tan(const V& x) {
  const auto r = reduce_angle(abs(x));
  const V z = r.high * r.high;
  const V p = x.bits() == 32
                  ? poly(z, {0x1.555562p-2, 0x1.110d22p-3, 0x1.baedbep-5, 0x1.5c046ep-6, 0x1.664972p-7, -0x1.b5629cp-16, 0x1.22498cp-8})
                  : poly(z, {0x1.555555555555fp-2, 0x1.11111111104acp-3, 0x1.ba1ba1baccce6p-5, 0x1.664f485abb194p-6, 0x1.226e3abfae751p-7,
                             0x1.d6d2dfe6a7db2p-9, 0x1.7db1dfd2b0455p-10, 0x1.34b9f105a15cfp-11, 0x1.ff4181685fbf2p-13,
                             0x1.5e4a7c59b7293p-14, 0x1.19fd5e4b23f5cp-14, -0x1.ad114ec108dabp-16, 0x1.972895eb45a84p-15,
                             -0x1.9616ddb517befp-16, 0x1.48292dbb928f4p-17});
  V error = r.low;
  const V tail = r.high * z * p, near = r.high + tail;
  // The derivative of tan is 1 + tan^2.
  const V t = fast_two_sum(r.high, fma(r.high * z, p, fma(r.low * near, near, r.low)), error);
  // Odd quadrants: -1 / (t + error), corrected once.
  const V q = x.like(-1) / t;
  const V inverse = fma(q, fma(q, error, fma(q, t, x.like(1))), q);
  const auto odd = to_bits(r.shifted) & x.int_like(1);
  return from_bits(to_bits(select(odd == x.int_like(0), t, inverse)) ^ sign_bit(x));
}

}  // namespace weft::vecmath
