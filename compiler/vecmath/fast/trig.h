#pragma once
// Faster sin, cos, tan: arguments beyond 2^13 (f32) or 2^28 go to the exact functions.
#include "../trig.h"

namespace weft::vecmath::fast {

// a - n * unit for a multiple n of 1/2 below 2^28 (f32: 2^13), unit in three parts: the first step is exact.
template <LaneType V>
V less_multiple(const V& a, const V& n, const V (&unit)[3]) {
  return fma(n, -unit[2], fma(n, -unit[1], fma(n, -unit[0], a)));
}

template <LaneType V>
typename V::Mask is_huge(const V& a) {
  return !(a <= constant(a, 0x1p13, 0x1p28));
}

// sin(|x|) or cos(|x|), the sign of the first to be changed by `sign`: |x| = n pi + r, where n has a half for the cosine.
template <LaneType V>
V sin_of_turns(const V& a, bool cosine, const typename V::Int& sign) {
  const V pi[3] = {constant(a, 0x1.921fb6p1, 0x1.921fb54442d18p1), constant(a, -0x1.777a5cp-24, 0x1.1a62633145c07p-53),
                   constant(a, -0x1.ee59dap-49, -0x1.f1976b7ed8fbcp-109)};
  const V shift = round_shift(a), inverse = a.like(0x1.45f306dc9c883p-2), half = a.like(0.5);
  const V shifted = cosine ? fma(a, inverse, -half) + shift : fma(a, inverse, shift), n = shifted - shift;
  const V r = less_multiple(a, cosine ? n + half : n, pi), z = r * r;
  const V q = a.bits() == 32 ? poly(z, {-0x1.55554cp-3, 0x1.110edap-7, -0x1.9f70e6p-13, 0x1.5dc7cep-19})
                             : poly(z, {-0x1.5555555555555p-3, 0x1.11111111110c9p-7, -0x1.a01a01a014eb7p-13, 0x1.71de3a52aac67p-19,
                                        -0x1.ae6454d968ce3p-26, 0x1.6123ce53aa479p-33, -0x1.ae43dd5090616p-41, 0x1.883c30bac11ffp-49});
  const V y = fma(r * z, q, r);
  return from_bits(to_bits(y) ^ (((to_bits(shifted) << (a.bits() - 1)) ^ sign) & to_bits(a.like(-0.0))));
}

// sin(x). f32 2.10 ULP, f64 2.11 ULP.
template <LaneType V>
V sin(const V& x) {
  const V a = abs(x);
  return rare(is_huge(a), sin_of_turns(a, false, to_bits(x)), x, [](const V& huge) { return vecmath::sin(huge); });
}

// cos(x). f32 2.10 ULP, f64 2.14 ULP.
template <LaneType V>
V cos(const V& x) {
  const V a = abs(x);
  return rare(is_huge(a), sin_of_turns(a, true, to_bits(x.like(-0.0))), x, [](const V& huge) { return vecmath::cos(huge); });
}

// tan(x): the quotient of two series on [-pi/4, pi/4], upside down in odd quadrants. f32 3.49 ULP, f64 3.22 ULP.
template <LaneType V>
V tan(const V& x) {
  const V a = abs(x), shift = round_shift(a), shifted = fma(a, a.like(0x1.45f306dc9c883p-1), shift), n = shifted - shift;
  const V half_pi[3] = {constant(a, 0x1.921fb6p0, 0x1.921fb54442d18p0), constant(a, -0x1.777a5cp-25, 0x1.1a62633145c07p-54),
                        constant(a, -0x1.ee59dap-50, -0x1.f1976b7ed8fbcp-110)};
  const V r = less_multiple(a, n, half_pi), z = r * r;
  const V s = a.bits() == 32 ? poly(z, {-0x1.555544p-3, 0x1.1106e2p-7, -0x1.992aacp-13})
                             : poly(z, {-0x1.5555555555548p-3, 0x1.111111110f76p-7, -0x1.a01a019bf2b7ap-13, 0x1.71de355fa46d5p-19,
                                        -0x1.ae5e54ffce7d4p-26, 0x1.5d8e6226d3873p-33});
  const V c = a.bits() == 32 ? poly(z, {-0x1.ffffb2p-2, 0x1.553e5ap-5, -0x1.6446b6p-10})
                             : poly(z, {-0x1.fffffffffff96p-2, 0x1.555555554f07p-5, -0x1.6c16c16407c7dp-10, 0x1.a019f81aa01cfp-16,
                                        -0x1.27df455579434p-22, 0x1.1b8b6b1d34f7ep-29});
  const V sine = fma(r * z, s, r), cosine = fma(z, c, a.like(1));
  const auto bits = to_bits(shifted);
  const auto even = (bits & a.int_like(1)) == a.int_like(0);
  const V y = select(even, sine, cosine) / select(even, cosine, sine);
  const V signed_y = from_bits(to_bits(y) ^ (((bits << (a.bits() - 1)) ^ to_bits(x)) & to_bits(a.like(-0.0))));
  return rare(is_huge(a), signed_y, x, [](const V& huge) { return vecmath::tan(huge); });
}

}  // namespace weft::vecmath::fast
