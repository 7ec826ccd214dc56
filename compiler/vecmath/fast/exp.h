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

// exp(x) - 1. f32 1.48 ULP, f64 1.92 ULP.
template <LaneType V>
V expm1(const V& x) {
  const V half = expm1_scaled(max_raw(constant(x, -18, -38), min_raw(constant(x, 89, 710), x)), true);
  return copysign(half + half, x);
}

// tanh(x): tanh|x| = -t / (2 + t) with t = expm1(-2|x|). f64 2.50 ULP; for f32 the tables are as fast.
template <LaneType V>
V tanh(const V& x) {
  if (x.bits() == 32) return vecmath::tanh(x);
  const V t = expm1_scaled(min_raw(constant(x, 10, 20), abs(x)) * x.like(-2), false);
  return copysign(t / (t + x.like(2)), x);
}

// 1 / (1 + exp(-x)). f32 2.41 ULP, f64 2.28 ULP.
template <LaneType V>
V sigmoid(const V& x) {
  const V e = exp_nonpositive(-abs(x)), one = x.like(1);
  return select(x < x.like(0), e, one) / (one + e);
}

// log(1 + e) for e in [0, 1]: e times a polynomial about the middle.
template <LaneType V>
V log1p_unit(const V& e) {
  const V u = e - e.like(0.5);
  return e * (e.bits() == 32 ? poly(u, {0x1.9f323ep-1, -0x1.277388p-2, 0x1.0f9544p-3, -0x1.1558ep-4, 0x1.2c1fep-5, -0x1.4b63f2p-6,
                                        0x1.7b3c04p-7, -0x1.19162ap-7, 0x1.5878dap-8})
                             : poly(u, {0x1.9f323ecbf984cp-1, -0x1.2773a5da90bd5p-2, 0x1.0f95b3dc0a65ap-3, -0x1.1540afd54c95bp-4,
                                        0x1.2bec9fb9a8904p-5, -0x1.50abf6ca8ba6ap-6, 0x1.83c50b959d823p-7, -0x1.c72c6441465dcp-8,
                                        0x1.0f11765708b35p-8, -0x1.469c51aecaf7ap-9, 0x1.8d46125066035p-10, -0x1.e6fcfe9ef2471p-11,
                                        0x1.2bfe6f4a65e44p-11, -0x1.741034ec5776ap-12, 0x1.d9e884b2dc5c8p-13, -0x1.29f39d7ed82e6p-13,
                                        0x1.3284f0ed246b6p-14, -0x1.787db989deef6p-15, 0x1.eda3fcb110619p-15, -0x1.416cd5dcfc93dp-15}));
}

// log(1 + exp(x)). f32 3.05 ULP, f64 3.22 ULP.
template <LaneType V>
V softplus(const V& x) {
  return max_raw(x.like(0), x) + log1p_unit(exp_nonpositive(-abs(x)));
}

// log(exp(a) + exp(b)). f32 2.4 ULP, f64 2.3 ULP of the largest of a, b and the result.
template <LaneType V>
V logaddexp(const V& a, const V& b) {
  const auto swap = a < b;
  const V high = select(swap, b, a), low = select(swap, a, b);
  const V gap = select(a == b, a.like(0), low - high);
  return high + log1p_unit(exp_nonpositive(gap));
}

}  // namespace weft::vecmath::fast
