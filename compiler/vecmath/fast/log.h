#pragma once
// Faster logarithms: log, log2, log10, log1p, asinh, acosh, atanh.
#include "../hyperbolic.h"
#include "../pow_tables.h"

namespace weft::vecmath::fast {

// -log(r), -log2(r), -log10(r) of the reciprocals r of pow_tables.h, and the logarithms of 2 and e.
struct LogTable {
  double values[16];
  double two, e;
};
inline constexpr LogTable natural = {
    {0, 0x1.9335e5d594989p-4, 0x1.1178e8227e47cp-3, 0x1.a93ed3c8ad9e3p-3,
     0x1.f991c6cb3b379p-3, 0x1.269621134db92p-2, 0x1.522ae0738a3d8p-2, 0x1.7fafa3bd8151cp-2,
     -0x1.1675cababa60ep-2, -0x1.c8ff7c79a9a22p-3, -0x1.5ff3070a793d4p-3, -0x1.5ff3070a793d4p-3,
     -0x1.e27076e2af2e6p-4, -0x1.f0a30c01162a6p-5, -0x1.f0a30c01162a6p-5, 0},
    0x1.62e42fefa39efp-1, 1};
inline constexpr LogTable binary = {
    {0, 0x1.22dadc2ab3497p-3, 0x1.8a8980abfbd32p-3, 0x1.32bfee370ee68p-2,
     0x1.6cb0f6865c8eap-2, 0x1.a8ff971810a5ep-2, 0x1.e7df5fe538ab3p-2, 0x1.14c560fe68af9p-1,
     -0x1.91bba891f1709p-2, -0x1.49a784bcd1b8bp-2, -0x1.fbc16b902680ap-3, -0x1.fbc16b902680ap-3,
     -0x1.5c01a39fbd688p-3, -0x1.663f6fac91316p-4, -0x1.663f6fac91316p-4, 0},
    1, 0x1.71547652b82fep0};
inline constexpr LogTable decimal = {
    {0, 0x1.5e3966b7e9295p-5, 0x1.db11ed766abf4p-5, 0x1.715d0ce367afcp-4,
     0x1.b721cd17157e3p-4, 0x1.ffbfc2bbc7803p-4, 0x1.25ba8215af7fcp-3, 0x1.4d43f8275a483p-3,
     -0x1.e3bc1ab0e19fep-4, -0x1.8cf183886480dp-4, -0x1.31b3055c47118p-4, -0x1.31b3055c47118p-4,
     -0x1.a30a9d609efeap-5, -0x1.af5f92b00e61p-6, -0x1.af5f92b00e61p-6, 0},
    0x1.34413509f79ffp-2, 0x1.bcb7b1526e50ep-2};

// x = 2^exponent (1 + f) / reciprocal, 3/4 <= (1 + f) / reciprocal < 3/2, -0.04 < f < 1/16.
template <LaneType V>
struct LogSteps {
  V exponent, reciprocal, f;
  typename V::Int index;
};

template <LaneType V>
LogSteps<V> log_steps(const V& x) {
  const auto split = split_power(x, 0.75);
  const auto index = shift_right_logical(to_bits(split.mantissa), fraction_bits(x) - 4);
  const V reciprocal = table_lookup(LaneTable{inverse_table, 16, true}, index);
  return {split.exponent, reciprocal, fma(split.mantissa, reciprocal, x.like(-1)), index};
}

template <LaneType V>
V log_of_steps(const LogSteps<V>& a, const LogTable& base) {
  const V& f = a.f;
  const V q = f.bits() == 32 ? poly(f, {-0x1.fffff8p-2, 0x1.55576ep-2, -0x1.004ffap-2, 0x1.8b2dc4p-3})
                             : poly(f, {-0x1.ffffffffffff8p-2, 0x1.5555555555a73p-2, -0x1.00000000255edp-2, 0x1.9999998cfbf6p-3,
                                        -0x1.555551d33b8bfp-3, 0x1.249279ed5e3c8p-3, -0x1.000e55ac01215p-3, 0x1.c73adabee01dap-4,
                                        -0x1.73deb0f26148ap-4});
  const V high = fma(a.exponent, f.like(base.two), table_lookup(LaneTable{base.values, 16, true}, a.index));
  const V low = fma(f * f, q, f);
  return base.e == 1 ? high + low : fma(low, f.like(base.e), high);
}

// log(x). f64 1.56 ULP; f32 is not faster.
template <LaneType V>
V log(const V& x) {
  return x.bits() == 32 ? vecmath::log(x) : log_of_steps(log_steps(x), natural);
}

// log2(x), exact for powers of two. f64 1.72 ULP; f32 is not faster.
template <LaneType V>
V log2(const V& x) {
  return x.bits() == 32 ? vecmath::log2(x) : log_of_steps(log_steps(x), binary);
}

// log10(x). f64 1.79 ULP; f32 is not faster.
template <LaneType V>
V log10(const V& x) {
  return x.bits() == 32 ? vecmath::log10(x) : log_of_steps(log_steps(x), decimal);
}

// log(1 + x). f32 1.52 ULP, f64 1.61 ULP.
template <LaneType V>
V log1p(const V& x) {
  const V one = x.like(1), u = one + x, lost = x - (u - one);
  auto a = log_steps(u);
  // What u lost, in the scale of the mantissa; nothing where u is 0 or all of it.
  const V down = from_bits(to_bits(a.reciprocal) - (to_bits(a.exponent + round_shift(u)) << fraction_bits(u)));
  a.f = a.f + select((u < x.like(0x1p60)) & (u > x.like(0)), lost * down, x.like(0));
  return copysign(log_of_steps(a, natural), x);
}

// The logarithm of twice x.
template <LaneType V>
V log_doubled(const V& x, const typename V::Mask& doubled) {
  auto a = log_steps(x);
  a.exponent = select(doubled, a.exponent + x.like(1), a.exponent);
  return log_of_steps(a, natural);
}

// asinh(x) = log(a + sqrt(a^2 + 1)); a polynomial where that is below 1/2 and its errors would count. f32 2.43 ULP, f64 2.46 ULP.
template <LaneType V>
V asinh(const V& x) {
  const V a = abs(x), z = a * a;
  const V q = x.bits() == 32 ? poly(z, {-0x1.555528p-3, 0x1.332018p-4, -0x1.6b1414p-5, 0x1.c827e6p-6, -0x1.9eee22p-7})
                             : poly(z, {-0x1.555555555552p-3, 0x1.333333332ca23p-4, -0x1.6db6db6931314p-5, 0x1.f1c71ae0e7b83p-6,
                                        -0x1.6e8b7a18fa2bp-6, 0x1.1c4c1c830b73dp-6, -0x1.c95e16a2a582dp-7, 0x1.78bbfe5d083b2p-7,
                                        -0x1.3633c76ac9727p-7, 0x1.dd6f588b96eddp-8, -0x1.2502a6badea34p-8, 0x1.91e86f0d686ebp-10});
  const auto big = a > constant(x, 0x1p28, 0x1p58);
  const V far = log_doubled(select(big, a, a + sqrt(fma(a, a, x.like(1)))), big);
  return copysign(select(a > x.like(0.5215), far, fma(a * z, q, a)), x);
}

// acosh(x) = log(x + sqrt(x^2 - 1)); up to 3/2 sqrt(2 t) times a polynomial in t = x - 1. f32 2.02 ULP, f64 2.21 ULP.
template <LaneType V>
V acosh(const V& x) {
  const V t = x - x.like(1);
  const auto near = t < x.like(0.5), big = x > constant(x, 0x1p28, 0x1p58);
  const V root = sqrt(select(near, t + t, fma(x, x, x.like(-1))));
  const V q = x.bits() == 32 ? poly(t, {-0x1.555536p-4, 0x1.3324fap-6, -0x1.6b971ep-8, 0x1.cd748ap-10, -0x1.b18ea2p-12})
                             : poly(t, {-0x1.5555555555541p-4, 0x1.3333333330756p-6, -0x1.6db6db6ba6292p-8, 0x1.f1c71ba9a4508p-10,
                                        -0x1.6e8b8ca586192p-11, 0x1.1c4d2f9b5ead3p-12, -0x1.c972ea48f3ce3p-14, 0x1.7941e7f22d6e8p-15,
                                        -0x1.386a2af2607eap-16, 0x1.e943e2c682dcbp-18, -0x1.3721df45d83eep-19, 0x1.c2621d112e16ap-22});
  const V far = log_doubled(select(big, x, x + root), big);
  return select(near, fma(root * t, q, root), far);
}

// atanh(x) = log((1 + a) / (1 - a)) / 2; up to 1/2 a polynomial. f64 1.83 ULP; f32 is not faster.
template <LaneType V>
V atanh(const V& x) {
  if (x.bits() == 32) return vecmath::atanh(x);
  const V a = abs(x), z = a * a, one = x.like(1);
  const V q = poly(z, {0x1.55555555555ccp-2, 0x1.99999999878a3p-3, 0x1.2492492c409c6p-3, 0x1.c71c6e7e0cb7cp-4, 0x1.745d811dce7bdp-4,
                       0x1.3b0b2979e2021p-4, 0x1.11876358bc387p-4, 0x1.d908da4e5645ep-5, 0x1.ea1976dff0e63p-5, 0x1.dcf593b56317fp-7,
                       0x1.28db0b36e91ebp-3, -0x1.392fc430dfaf2p-3, 0x1.cc6074a96a0f1p-3});
  return copysign(select(a > x.like(0.5), log((one + a) / (one - a)) * x.like(0.5), fma(a * z, q, a)), x);
}

}  // namespace weft::vecmath::fast
