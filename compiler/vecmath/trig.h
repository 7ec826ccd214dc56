#pragma once
// sin, cos, tan, right for every finite argument.
//
// Floats take off multiples of pi/2 and choose between a sine and a cosine, which keeps errors below 1 ULP. Doubles take off multiples
// of pi, half a turn further for a cosine, and need the sine alone.
#include "trig_reduce.h"

namespace weft::vecmath {

// finish(r) of r = x less multiples of pi * scale, `ahead` added to their number. For huge x: as for |x|, then the sign of x where `odd`.
// NaN for an infinity.
template <LaneType V, class Finish>
V of_turns(const V& x, double scale, int ahead, bool odd, Finish finish) {
  const Multiples of{scale, 0};
  const Turns<V> turns = count_turns(x, scale, ahead);
  return rare(turns.past, finish(reduce(x, of, turns.count, turn_unit(x), turns.bits)), x, [&](const V& huge) {
    auto r = reduce_huge(huge, of);
    r.turns = r.turns + huge.int_like(ahead);
    return odd ? from_bits(to_bits(finish(r)) ^ sign_bit(huge)) : finish(r);
  });
}

// sin(turns * pi/2 + high - low) of floats.
template <LaneType V>
V sin_f32(const Reduced<V>& r) {
  // Both series are about the middle of the range of the square: it and what they add to the value there carry smaller roundings.
  const V &high = r.high, &low = r.low, u = fma(high, high, high.like(-0x1.377d2ap-2)), exact = fma(high + high, -low, u);
  const V s = poly(u, {0x1.990c22p-5, 0x1.4b1002p-3, -0x1.0b313p-7, 0x1.9924ecp-13});
  const V c = poly(u, {-0x1.e66f3ep-2, 0x1.4b1002p-5, -0x1.643ff6p-10, 0x1.9931e4p-16});
  const V sin = high - fma(high, s, low), cos = fma(exact, c, u.like(0x1.b414f4p-1));  // -0 stays -0
  const V chosen = select((r.turns & u.int_like(1)) == u.int_like(0), sin, cos);
  return from_bits(to_bits(chosen) ^ ((r.turns << 30) & to_bits(u.like(-0.0))));
}

// sin(high - low), |high| < 1.58, as high times a polynomial in its square, about the middle of the range and of the values.
template <LaneType V>
V sin_f64(const Reduced<V>& r) {
  const V u = fma(r.high, r.high, r.high.like(-1.5)), slope = fma(u, u.like(-0.42), u.like(0.37));  // about cos(high), 1 at 0
  const V p = poly(u, {-0x1.af178601d8373p-7, -0x1.24cd20f0113a1p-3, 0x1.ea00a556b7aa6p-8, -0x1.7e960b5910303p-13, 0x1.595d81933fa62p-19,
                       -0x1.962c6133f9e28p-26, 0x1.4fde9469ff6f4p-33, -0x1.9be14a470ade6p-41, 0x1.84387ca4fe066p-49, -0x1.5d88ba9bf944fp-57});
  const V y = fma(r.high, u.like(0.78125), fma(r.high, p, -(r.low * slope)));
  return from_bits(to_bits(y) ^ (r.turns << 63));
}

// sin(x). f32 0.84 ULP, f64 1.05 ULP, every finite x. sin(-0) = -0, sin(+-inf) = NaN.
template <LaneType V>
V sin(const V& x) {
  const bool f32 = x.bits() == 32;
  return of_turns(x, f32 ? 0.5 : 1, 0, true, [&](const Reduced<V>& r) { return f32 ? sin_f32(r) : sin_f64(r); });
}

// cos(x). f32 0.84 ULP, f64 1.13 ULP, every finite x. cos(+-inf) = NaN.
template <LaneType V>
V cos(const V& x) {
  if (x.bits() == 32) return of_turns(x, 0.5, 1, false, [](const Reduced<V>& r) { return sin_f32(r); });
  // |x| / pi with seven bits after the point; those become 1/2. `past`: bits that turns from 2^28 on reach, or set in the exponent.
  const V a = abs(x), shift = x.like(0x1.8p45);
  const auto quotient = to_bits(fma(a, a.like(0x1.45f306dc9c883p-2), shift)), past = quotient & a.int_like(0x3d37fff800000000);
  const V shifted = from_bits((quotient & a.int_like(-128)) | a.int_like(64));
  const Multiples halves{1, 0.5};
  return rare(past, -sin_f64(reduce(a, halves, shifted - shift, 1, shift_right_logical(quotient, 7))), a,
              [&](const V& huge) { return -sin_f64(reduce_huge(huge, halves)); });
}

// tan(high + low) = high + rest.
template <LaneType V>
V tan_rest(const V& high, const V& low) {
  if (high.bits() == 32) {
    // About a place where the errors at both ends are alike. The derivative is about 1 + 1.62 high^2.
    const V u = fma(high, high, high.like(-0.4375)), slope = fma(u, u.like(1.62), u.like(1.70875));
    const V p = split_poly(u, {0x1.6a2ef6p-3, 0x1.f6247ep-2, 0x1.ea1f62p-3, 0x1.e28738p-4, 0x1.dbb02ap-5, 0x1.d5e9fcp-6, 0x1.bcd914p-7, 0x1.24c586p-8});
    return fma(high, p, low * slope);
  }
  const V z = high * high;
  const V p = poly(z, {0x1.555555555555fp-2, 0x1.11111111104acp-3, 0x1.ba1ba1baccce6p-5, 0x1.664f485abb194p-6, 0x1.226e3abfae751p-7,
                       0x1.d6d2dfe6a7db2p-9, 0x1.7db1dfd2b0455p-10, 0x1.34b9f105a15cfp-11, 0x1.ff4181685fbf2p-13,
                       0x1.5e4a7c59b7293p-14, 0x1.19fd5e4b23f5cp-14, -0x1.ad114ec108dabp-16, 0x1.972895eb45a84p-15,
                       -0x1.9616ddb517befp-16, 0x1.48292dbb928f4p-17});
  // The derivative of tan is 1 + tan^2.
  const V tail = high * z * p, near = high + tail;
  return fma(high * z, p, fma(low * near, near, low));
}

// tan(x). f32 1.00 ULP, f64 1.14 ULP, every finite x. tan(-0) = -0, tan(+-inf) = NaN.
template <LaneType V>
V tan(const V& x) {
  return of_turns(x, 0.5, 0, true, [&](const Reduced<V>& r) {
    const V rest = tan_rest(r.high, -r.low), t = r.high + rest;
    // Odd quadrants: -1 / (high + rest), corrected once.
    const V q = t.like(-1) / t;
    const V inverse = fma(q, fma(q, rest, fma(q, r.high, t.like(1))), q);
    const auto odd = r.turns & t.int_like(1);
    return select(odd == t.int_like(0), t, inverse);
  });
}

}  // namespace weft::vecmath
