#pragma once
// Faster exp relatives: expm1, tanh, sigmoid, softplus, logaddexp.
#include "../exp.h"

namespace weft::vecmath::fast {

// (exp(x) - 1) / 2 for x in [-38, 710] (f32: [-18, 89]), or exp(x) - 1 for x below zero; +0 for -0.
template <LaneType V>
V expm1_scaled(const V& x, bool half) {
  const V shift = round_shift(x), shifted = fma(x, x.like(0x1.71547652b82fep0), shift), n = shifted - shift;
  const V high = fma(n, constant(x, -0x1.62e4p-1, -0x1.62e42fefa4p-1), x), r = fma(n, constant(x, -0x1.7f7d1cp-20, 0x1.8432a1b0e2634p-43), high);
  const int fraction = fraction_bits(x);
  const V power = from_bits((to_bits(shifted) << fraction) + x.int_like(int64_t{exponent_bias(x) - half} << fraction));
  return fma(power, fma(r * r, exp_tail(r), r), power - x.like(half ? 0.5 : 1));
}

// exp(x) - 1.
template <LaneType V>
V expm1(const V& x) {
  const V half = expm1_scaled(max_raw(constant(x, -18, -38), min_raw(constant(x, 89, 710), x)), true);
  return copysign(half + half, x);
}

// tanh|x| = -t / (2 + t) with t = expm1(-2|x|).
template <LaneType V>
V tanh(const V& x) {
  const V t = expm1_scaled(min_raw(constant(x, 10, 20), abs(x)) * x.like(-2), false);
  return copysign(t / (t + x.like(2)), x);
}

template <LaneType V>
V sigmoid(const V& x) {
  const V one = x.like(1);
  return one / (one + exp(-x));
}

// log(1 + e) for e in [0, 1].
template <LaneType V>
V log1p_unit(const V& e) {
  const V q = e.bits() == 32 ? poly(e, {-0x1.ffff14p-2, 0x1.5535dep-2, -0x1.fd1368p-3, 0x1.884554p-3, -0x1.19af8ep-3, 0x1.44707ap-4,
                                        -0x1.eca398p-6, 0x1.5fa0dap-8})
                             : poly(e, {-0x1.fffffffffff9fp-2, 0x1.5555555551052p-2, -0x1.fffffffdd4a4bp-3, 0x1.99999951fb01bp-3,
                                        -0x1.55554fbe64ea4p-3, 0x1.2491fed9cfc49p-3, -0x1.fffa8bd00015p-4, 0x1.c6f6a83b8b032p-4,
                                        -0x1.98d296b9a7e6ep-4, 0x1.712df6166bbf3p-4, -0x1.4b022086f5e76p-4, 0x1.202df1e817ab3p-4,
                                        -0x1.d7115508d32afp-5, 0x1.5a892cb90beap-5, -0x1.b632818d90001p-6, 0x1.c57efadae0fe3p-7,
                                        -0x1.6b4e60f26fbc4p-8, 0x1.a25bf104a7c7fp-10, -0x1.31f8cd7ab39fap-12, 0x1.a9067c062fc2ep-16});
  return fma(e * e, q, e);
}

template <LaneType V>
V softplus(const V& x) {
  return max_raw(x.like(0), x) + log1p_unit(exp_nonpositive(-abs(x)));
}

template <LaneType V>
V logaddexp(const V& a, const V& b) {
  const auto swap = a < b;
  const V high = select(swap, b, a), low = select(swap, a, b);
  const V gap = select(a == b, a.like(0), low - high);
  return high + log1p_unit(exp_nonpositive(gap));
}

}  // namespace weft::vecmath::fast
