#pragma once
// asin, acos, atan, atan2.
#include "common.h"

namespace weft::vecmath {

// (asin(s) - s) / s for z = s^2 in [0, 1/4]
template <LaneType V>
V asin_tail(const V& z) {
  if (z.bits() == 32) return z * poly(z, {0x1.5555cap-3, 0x1.3301a4p-4, 0x1.7481d8p-5, 0x1.8c149cp-6, 0x1.5975f4p-5});
  return z * poly(z, {0x1.5555555555577p-3, 0x1.333333332e1b5p-4, 0x1.6db6db7209136p-5, 0x1.f1c71a992177fp-6, 0x1.6e8bde5eef62bp-6,
                      0x1.1c49f9e9a1923p-6, 0x1.ca1ea226fce03p-7, 0x1.758d268f2baa6p-7, 0x1.6111c748f16fap-7, 0x1.e878ce6d3033ap-9,
                      0x1.62daa94926672p-6, -0x1.56eedd4982235p-6, 0x1.0af379e321a7dp-5});
}

template <LaneType V>
V half_pi(const V& x) {
  return constant(x, 0x1.921fb6p0, 0x1.921fb54442d18p0);
}
template <LaneType V>
V half_pi_low(const V& x) {
  return constant(x, -0x1.777a5cp-25, 0x1.1a62633145c07p-54);
}

// asin(a) is asin itself for a <= 1/2 and pi/2 - 2 asin(sqrt((1 - a) / 2)) above. value + rest is asin of the argument in use,
// doubled above 1/2 and there less half_pi_low.
template <LaneType V>
struct AsinParts {
  typename V::Mask large;
  V value, rest;
};

template <LaneType V>
AsinParts<V> asin_parts(const V& a) {
  const V half = a.like(0.5), zero = a.like(0);
  const auto large = a > half;
  const V z = select(large, fma(a, -half, half), a * a), root = sqrt(z);
  const V error = fma(fma(-root, root, z), rough_inverse(root), -half_pi_low(a));  // of the doubled root
  const V value = select(large, root + root, a);
  return {large, value, fma(value, asin_tail(z), select(large, error, zero))};
}

// asin(x). f32 0.72 ULP, f64 0.65 ULP. asin(-0) = -0, NaN outside [-1, 1].
template <LaneType V>
V asin(const V& x) {
  const auto p = asin_parts(abs(x));
  const V high = half_pi(x) - p.value, low = ((half_pi(x) - high) - p.value) - p.rest;
  return copysign(select(p.large, high + low, p.value + p.rest), x);
}

// acos(x). f32 0.68 ULP, f64 0.64 ULP. acos(1) = +0, NaN outside [-1, 1].
template <LaneType V>
V acos(const V& x) {
  const auto p = asin_parts(abs(x));
  // pi/2 - asin(x), or 0 + value, or pi - value. half_pi_low is added once: the rest lacks it where pi or 0 is the base.
  const V base = select(p.large, half_pi(x) - copysign(half_pi(x), x), half_pi(x));
  const auto top = to_bits(x.like(-0.0)), sign = select(p.large, to_bits(x) ^ top, to_bits(x));
  const V value = from_bits(to_bits(p.value) ^ (sign & top)), rest = from_bits(to_bits(p.rest) ^ (sign & top));
  const V high = base - value;
  return high + (((base - high) - value) + (half_pi_low(x) - rest));
}

// (atan(t) - t) / t for z = t^2 in [0, 1]
template <LaneType V>
V atan_tail(const V& z) {
  // About the middle of the range, with smaller roundings.
  if (z.bits() == 32)
    return horner(z - z.like(0.5), {-0x1.09615ep-3, -0x1.a1494ep-3, 0x1.55a276p-4, -0x1.49b1fep-5, 0x1.591b6cp-6, -0x1.7b12cp-7,
                                        0x1.a360c4p-8, -0x1.e00f42p-9, 0x1.75a72cp-9, -0x1.d4a7fep-10});
  return z * horner(z, {-0x1.555555555551dp-2, 0x1.9999999994b2ap-3, -0x1.249249235b8e6p-3, 0x1.c71c7177f1fd2p-4, -0x1.745d11283b2dbp-4,
                      0x1.3b1360a96439ep-4, -0x1.110e21d39242p-4, 0x1.e1b97f481558ep-5, -0x1.ae5509969ba6bp-5, 0x1.82bb63f9d5ef9p-5,
                      -0x1.5952ad4b0773p-5, 0x1.2b8aace03797dp-5, -0x1.e7f877c9fdf2cp-6, 0x1.65cb90f2389eap-6, -0x1.c2ff65e8ff024p-7,
                      0x1.d14e193d87479p-8, -0x1.73a8577dee8ap-9, 0x1.aac0a57481e0bp-11, -0x1.37419b09b867p-13, 0x1.af3c5e9dbc836p-17});
}

// atan(x). f32 0.89 ULP, f64 1.06 ULP, all x. atan(-0) = -0, atan(+-inf) = +-pi/2.
template <LaneType V>
V atan(const V& x) {
  const V a = min_raw(x.like(0x1p100), abs(x)), zero = x.like(0), one = x.like(1);
  const auto large = a > one;
  // Half the rounding error of 1/a, and half_pi_low: the derivative of atan is 1/2 where that error matters, near 1.
  const V inverse = x.like(-1) / a, inverse_error = fma(inverse * fma(inverse, a, one), x.like(0.5), half_pi_low(x));
  const V t = select(large, inverse, a);
  const V base = select(large, half_pi(x), zero), base_low = select(large, inverse_error, zero);
  const V high = base + t, low = ((base - high) + t) + base_low;
  return copysign(high + fma(t, atan_tail(t * t), low), x);
}

// The angle of the point (x, y). f32 0.90 ULP, f64 1.16 ULP on pairs of any sizes. All signs of zero and infinity as in C.
template <LaneType V>
V atan2(const V& y, const V& x) {
  const V a = abs(y), b = abs(x), zero = x.like(0), one = x.like(1);
  const auto steep = b < a;
  const V n = select(steep, b, a), d = select(steep, a, b);
  // atan(t), or pi/2 minus it; then pi minus that for negative x: `turns` halves of pi, plus or minus atan(t).
  const auto left = to_bits(x) < x.int_like(0);
  const V turns = select(left, select(steep, one, x.like(2)), select(steep, one, zero));
  const auto sign = (select(steep, to_bits(x.like(-0.0)), x.int_like(0))) ^ sign_bit(x);
  const auto angle = [&](const V& t, const V& t_low) {
    const V z = t * t, slope = fma(z, x.like(-0.5), one);  // about 1 / (1 + z), the derivative
    const V tail = fma(t, atan_tail(z), t_low * slope);
    const V value = from_bits(to_bits(t) ^ sign), rest = from_bits(to_bits(tail) ^ sign);
    const V base = turns * half_pi(x), high = base + value;
    return copysign(high + (((base - high) + value) + fma(turns, half_pi_low(x), rest)), y);
  };
  const V t = n / d, t_low = fma(-t, d, n) * rough_inverse(d);
  const auto usual = (d > constant(x, 0x1p-64, 0x1p-900)) & (d < constant(x, 0x1p120, 0x1p1000));
  return rare(!usual, angle(t, t_low), [&] {
    // Scaled, so that the quotient's rounding error is in range. 0/0 counts as 0 and inf/inf as 1.
    const V scale = select(d < one, constant(x, 0x1p80, 0x1p200), x.like(0x1p-30)), bottom = d * scale, top = n * scale;
    const V q = top / bottom, q_low = fma(-q, bottom, top) * rough_inverse(bottom);
    const auto zeros = (n == zero) & (d == zero), infinite = d == x.like(infinity);
    return angle(select(zeros, zero, select(infinite & (n == d), one, q)), select(zeros | infinite, zero, q_low));
  });
}

}  // namespace weft::vecmath
