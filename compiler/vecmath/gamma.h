#pragma once
// lgamma, digamma, trigamma.
#include "log.h"

namespace weft::vecmath {

// c0 + c1 u + .. = sum + error but for the rounding of c1 + c2 u + .., where c0 is the largest term.
template <LaneType V>
V poly_sum(const V& u, double first, const V& others, V& error) {
  const V product = u * others, sum = fast_two_sum(u.like(first), product, error);
  error = error + fma(u, others, -product);
  return sum;
}

// (sin(pi r) / (pi r) - 1) / z for z = r^2, |r| <= 1/2, and what it lost.
template <LaneType V>
V sinc_pi_tail(const V& z, V& error) {
  const V p = z.bits() == 32 ? poly_sum(z, -0x1.a51a66p0, poly(z, {0x1.9f9cb2p-1, -0x1.86a7dap-3, 0x1.ac0decp-6, -0x1.271a0ep-9}), error)
                             : poly_sum(z, -0x1.a51a6625307d3p0, poly(z, {0x1.9f9cb402bc42dp-1, -0x1.86a8e4720a538p-3, 0x1.ac6805ccab5bbp-6,
                                   -0x1.338169a21ecf2p-9, 0x1.3746a4e45b6a7p-13, -0x1.d3e7bfaff77bep-18, 0x1.0756173bfd48bp-22}), error);
  error = error + constant(z, -0x1.2983eap-27, -0x1.1873d8912200cp-55);
  return p;
}

// sin(pi r) / (pi r)
template <LaneType V>
V sinc_pi(const V& z) {
  V lost = z;
  return fma(sinc_pi_tail(z, lost), z, z.like(1));
}

// lgamma for a > 0 (+0 and NaN too).
template <LaneType V>
V lgamma_positive(const V& a) {
  const bool f32 = a.bits() == 32;
  const V one = a.like(1), zero = a.like(0), limit = a.like(2.5);
  const auto large = a >= a.like(8), below = a < one, far_below = a < a.like(0.5);
  // To [1, 2.5], with the product of the factors passed on the way down; one step up from below 1, two from below 1/2.
  V y = a, product = one;
  for (int k = 0; k < 6; ++k) {
    const auto above = y >= limit;
    y = select(above, y - one, y);
    product = select(above, product * y, product);
  }
  const V d = select(far_below, a, select(below, a - one, y - a.like(2)));
  const V two_up = fma(a, a, a), two_up_error = fma(a, a, a - two_up);
  const V argument = select(large, a, select(far_below, two_up, select(below, a, product)));

  V log_low = a, error = a;
  const V log_high = log_two_parts(log_argument(argument), log_low);
  log_low = log_low + select(far_below, two_up_error * rough_inverse(argument), zero);

  // lgamma(2 + d) = d (1 + d) p(d + 1/4)
  const V u = d + a.like(0.25);
  V p_error = a;
  const V p = f32 ? poly_sum(u, 0x1.ccf152p-2, poly(u, {-0x1.e96586p-4, 0x1.6cb63ap-5, -0x1.382e96p-6, 0x1.1f85d2p-7, -0x1.14d3dep-8,
                           0x1.14eb1p-9, -0x1.19be64p-10, 0x1.fa3accp-12, -0x1.f892c2p-13, 0x1.fcfca8p-13, -0x1.1b5dd2p-13}), p_error)
                  : poly_sum(u, 0x1.ccf151e09cde8p-2, poly(u, {-0x1.e96586307946ep-4, 0x1.6cb6251711a5bp-5, -0x1.382e176f60a25p-6,
                           0x1.1f9587fa0d108p-7, -0x1.14f7c58ebc8ffp-8, 0x1.12aa72fd57e4ap-9, -0x1.16056269851f1p-10,
                           0x1.1daed4a7081d4p-11, -0x1.28f268d6ec952p-12, 0x1.3776827d38f27p-13, -0x1.491772902f359p-14,
                           0x1.5dd5e07a78048p-15, -0x1.75d7300c73ad8p-16, 0x1.912d652c34391p-17, -0x1.afa4cf719d526p-18,
                           0x1.d475d85530b25p-19, -0x1.00ea681de8846p-19, 0x1.0933e8b7fb6c1p-20, -0x1.0c36ad03451dap-21,
                           0x1.9c55e0f2556d5p-22, -0x1.103fdcc1f5a1ap-22, -0x1.adb6bfc9148f9p-31, 0x1.eb7d027445563p-26,
                           0x1.5fbaaeaa2de41p-24, -0x1.c87047e8233afp-25}), p_error);
  const V sign = select(below, a.like(-1), one);
  const V next = one + d, factor = d * next, factor_error = fma(d, next, -factor);
  const V main_near = factor * p, main_error = fma(factor, p_error, fma(factor_error, p, fma(factor, p, -main_near)));
  const V sum = two_sum(main_near, log_high * sign, error);
  const V near = sum + fma(log_low, sign, error + main_error);

  // Stirling: (a - 1/2) (log(a) - 1) + (log(2 pi) - 1) / 2 + s(1/a^2) / a, the first product in two parts.
  const V inverse = one / a, z = inverse * inverse;
  const V s = f32 ? poly(z, {0x1.55554ep-4, -0x1.6a416cp-9})
                  : poly(z, {0x1.5555555555555p-4, -0x1.6c16c16c0f746p-9, 0x1.a01a014ceebd2p-11, -0x1.38131df38e97ap-11,
                             0x1.b9168da56890bp-11, -0x1.ed3a1b0d05daap-10, 0x1.3fe421c6de1a5p-8});
  const V less = log_high - one, main = a * less;
  const V small = fma(s, inverse, a.like(0x1.acfe390c97d6ap-2));
  const V rest = fma(less, a.like(-0.5), fma(a, log_low, fma(a, less, -main))) + small;
  const V far = select(main < a.like(infinity), main + rest, main);
  return select((a == zero) | (a == a.like(infinity)), a.like(infinity), select(large, far, near));
}

// log|gamma(x)|. f32 1.00 ULP, f64 1.10 ULP for x >= 0. Left of zero a few roundings of the largest term: near the zeros there the relative
// error is larger. inf at 0, -1, -2, ..., and at +-inf.
template <LaneType V>
V lgamma(const V& x) {
  const V one = x.like(1), zero = x.like(0);
  const auto negative = x < zero;
  // By reflection: lgamma(x) = -log(|sin(pi x)| / pi) - lgamma(1 - x).
  const V positive = lgamma_positive(select(negative, one - x, abs(x)));
  return rare(negative, positive, [&] {
    const V r = abs(x - round_even(x));
    const V y = -log(r * sinc_pi(r * r)) - positive;
    return select((r == zero) | (x == x.like(-infinity)), x.like(infinity), y);
  });
}

// digamma for a < 5/2: (y - x0) p(y) where y = a, or y = a + 1 for a < 1, less the inverse of a there.
template <LaneType V>
V digamma_near(const V& a, const V& inverse) {
  const V one = a.like(1), zero = a.like(0);
  const auto below = a < one;
  // The zero x0 in two parts; y - root is exact. The middle of the polynomial is where its first coefficient is nearly exact.
  const V root = constant(a, 0x1.762d86p0, 0x1.762d86356be3fp0), root_low = constant(a, 0x1.ab5f2p-27, 0x1.b86a722197829p-54);
  const V middle = constant(a, 0x1.d14p0, 0x1.d1p0);
  const V distance = a - select(below, root - one, root), u = a - select(below, middle - one, middle);
  V p_error = a;
  const V p = u.bits() == 32
                  ? poly_sum(u, 0x1.ac7ca2p-1, horner(u, {-0x1.397f0ap-2, 0x1.221132p-3, -0x1.23e358p-4, 0x1.3186dp-5, -0x1.461e44p-6,
                          0x1.5e383ep-7, -0x1.8562c8p-8, 0x1.cf8318p-9, -0x1.8c32bap-10, 0x1.2bc74p-12, -0x1.ca263cp-11, 0x1.c32aeap-11}),
                          p_error)
                  : poly_sum(u, 0x1.aca3d669f2147p-1, poly(u, {-0x1.39c79ddac8a72p-2, 0x1.227ee756379bep-3, -0x1.247b14ec7defcp-4,
                          0x1.324253924193ep-5, -0x1.4763d80b45e4p-6, 0x1.621644a9a3751p-7, -0x1.8198e7157b3a2p-8, 0x1.a5a7c580c1c7ep-9,
                          -0x1.ce434edca26d2p-10, 0x1.fb969b54f184cp-11, -0x1.16f2c00b77727p-11, 0x1.32c71d677a784p-12,
                          -0x1.51c57d30b775dp-13, 0x1.74193819cdc82p-14, -0x1.957945438e0f7p-15, 0x1.bae1618f18a6dp-16,
                          -0x1.0d0ba620c3627p-16, 0x1.2ef82b9a0bd06p-17, -0x1.f51e8162573d3p-20, 0x1.6a368160e20c5p-20,
                          -0x1.45eb1931a49e5p-18, 0x1.8402f27b85ce7p-20, 0x1.3e1b13c529f1p-19, 0x1.417ccffb994c9p-23,
                          -0x1.36bdc35ba03a2p-20}), p_error);
  const V inverse_error = select(below, fma(-inverse, a, one) * inverse, zero);
  const V near = fma(distance, p, fma(distance, p_error, fma(-root_low, p, -inverse_error)));
  return select(abs(inverse) < a.like(infinity), near - select(below, inverse, zero), -inverse);
}

// digamma for x >= 0 and -0.
template <LaneType V>
V digamma_positive(const V& x) {
  const V a = abs(x), inverse = a.like(1) / x, z = inverse * inverse;
  const V near = digamma_near(a, inverse);
  // log(a) - 1 / (2 a) - z t(z)
  const V t = a.bits() == 32 ? poly(z, {0x1.55551cp-4, -0x1.10aed2p-7, 0x1.eb7996p-9, -0x1.32ad06p-9})
                  : poly(z, {0x1.55555555553fp-4, -0x1.1111110fafafap-7, 0x1.04103eff08279p-8, -0x1.11104a3bf3f3ap-8,
                          0x1.f04d2421b77e6p-8, -0x1.57b7a969b0b03p-6, 0x1.47bc28d43dca3p-4, -0x1.7b486dadfa9a6p-2, 0x1.c90458b41430cp0,
                          -0x1.f0a63d486232ep2, 0x1.b13eb2f6139f5p4, -0x1.10cba5dda7857p6, 0x1.afc1dc46b9998p6, -0x1.3f0f30f8b0b16p6});
  const auto argument = log_argument(a);
  V rest = a;
  const V sum = log_sum(argument, rest);
  const V far = log_finish(argument.exponent, sum, fma(inverse, a.like(-0.5), fma(-z, t, rest)));
  return select(a >= a.like(2.5), far, near);
}

// The derivative of lgamma. f32 0.86 ULP, f64 0.95 ULP for x >= 0; left of zero as lgamma. digamma(+-0) = -+inf, NaN at -1, -2, ... and at
// -inf.
template <LaneType V>
V digamma(const V& x) {
  const V one = x.like(1), zero = x.like(0);
  const auto negative = x < zero;
  // By reflection: digamma(x) = digamma(1 - x) - pi / tan(pi x).
  const V positive = digamma_positive(select(negative, one - x, x));
  return rare(negative, positive, [&] {
    const V r = x - round_even(x), s = x.like(0.5) - abs(r);
    const V cotangent = (s * sinc_pi(s * s)) / (r * sinc_pi(r * r));
    const V y = fma(cotangent, x.like(-0x1.921fb54442d18p1), positive);
    return select(r == zero, x.like(not_a_number), y);
  });
}

// 1 / (s + s_low)^2 = square + low for s_low below a rounding error of s.
template <LaneType V>
V inverse_square(const V& s, const V& s_low, V& low) {
  const V inverse = s.like(1) / s, error = (fma(-inverse, s, s.like(1)) - inverse * s_low) * inverse, square = inverse * inverse;
  low = fma(inverse, inverse, -square) + (inverse + inverse) * error;
  return square;
}

// trigamma for a > 0 (+0 and NaN too).
template <LaneType V>
V trigamma_positive(const V& a) {
  const V one = a.like(1), half = a.like(0.5), zero = a.like(0);
  const auto large = a >= a.like(8);
  // The asymptotic series at a, or at a + 8 and then 1/(a + 7)^2 .. 1/(a + 1)^2: the smallest first, all with their errors.
  const V shift = select(large, zero, a.like(8)), y = a + shift, y_low = select(large, zero, a - (y - shift)), i = one / y, z = i * i;
  const V p = a.bits() == 32 ? poly(z, {1.0 / 6, -1.0 / 30, 1.0 / 42})
                             : poly(z, {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510,
                                        43867.0 / 798, -174611.0 / 330, 854513.0 / 138});
  const V i_error = (fma(-i, y, one) - i * y_low) * i;
  V sum = i, low = fma(z, fma(i, p, half), i_error), square_low = a, sum_error = a;
  const V far = sum + low;
  for (int k = 7; k > 0; --k) {
    const V s = a + a.like(k), s_low = a - (s - a.like(k)), square = inverse_square(s, s_low, square_low);
    sum = two_sum(sum, square, sum_error);
    low = low + (sum_error + square_low);
  }
  const V square = inverse_square(a, zero, square_low);
  sum = two_sum(square, sum, sum_error);
  const V near = sum + (low + (sum_error + square_low));
  return select(large, select(a == a.like(infinity), zero, far), select(square < a.like(infinity), near, square));
}

// The derivative of digamma. f32 0.75 ULP, f64 0.75 ULP, all x. inf at 0, -1, -2, ..., 0 at inf, NaN at -inf.
template <LaneType V>
V trigamma(const V& x) {
  const V one = x.like(1), zero = x.like(0);
  const auto negative = x < zero;
  // By reflection: trigamma(x) = (pi / sin(pi x))^2 - trigamma(1 - x).
  const V positive = trigamma_positive(select(negative, one - x, abs(x)));
  return rare(negative, positive, [&] {
    V p_error = x;
    const V r = x - round_even(x), z = r * r, p = sinc_pi_tail(z, p_error), s = fma(p, z, one);
    const V s_low = fma(p, z, one - s) + fma(p_error, z, p * fma(r, r, -z));
    const V d = r * s, d_low = fma(r, s, -d) + r * s_low;  // sin(pi x) / pi, but for the sign
    V low = x;
    const V square = inverse_square(d, d_low, low), y = square + (low - positive);
    return select(r == zero, x.like(infinity), select(square < x.like(infinity), y, square));
  });
}

}  // namespace weft::vecmath
