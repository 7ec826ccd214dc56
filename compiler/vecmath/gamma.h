#pragma once
// lgamma, digamma, trigamma.
#include "log.h"

namespace weft::vecmath {

// (sin(pi r) / (pi r) - 1) / z for z = r^2, |r| <= 1/2
template <LaneType V>
V sinc_pi_tail(const V& z) {
  return z.bits() == 32 ? poly(z, {-0x1.a51a5cp0, 0x1.9f9998p-1, -0x1.861166p-3, 0x1.959d64p-6})
                        : poly(z, {-0x1.a51a6625307d3p0, 0x1.9f9cb402bc42dp-1, -0x1.86a8e4720a538p-3, 0x1.ac6805ccab5bbp-6,
                                   -0x1.338169a21ecf2p-9, 0x1.3746a4e45b6a7p-13, -0x1.d3e7bfaff77bep-18, 0x1.0756173bfd48bp-22});
}

// sin(pi r) / (pi r)
template <LaneType V>
V sinc_pi(const V& z) {
  return fma(sinc_pi_tail(z), z, z.like(1));
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
  const V argument = select(large, a, select(far_below, fma(a, a, a), select(below, a, product)));

  V log_rest = a, log_low = a, error = a;
  const V log_sum_high = log_sum(log_argument(argument), log_rest);
  const V log_high = fast_two_sum(log_sum_high, log_rest, log_low);

  // lgamma(2 + d) = d (1 + d) p(d + 1/4)
  const V u = d + a.like(0.25);
  const V p = f32 ? poly(u, {0x1.ccf152p-2, -0x1.e96586p-4, 0x1.6cb63ap-5, -0x1.382e96p-6, 0x1.1f85d2p-7, -0x1.14d3dep-8,
                           0x1.14eb1p-9, -0x1.19be64p-10, 0x1.fa3accp-12, -0x1.f892c2p-13, 0x1.fcfca8p-13, -0x1.1b5dd2p-13})
                  : poly(u, {0x1.ccf151e09cde8p-2, -0x1.e96586307946ep-4, 0x1.6cb6251711a5bp-5, -0x1.382e176f60a25p-6,
                           0x1.1f9587fa0d108p-7, -0x1.14f7c58ebc8ffp-8, 0x1.12aa72fd57e4ap-9, -0x1.16056269851f1p-10,
                           0x1.1daed4a7081d4p-11, -0x1.28f268d6ec952p-12, 0x1.3776827d38f27p-13, -0x1.491772902f359p-14,
                           0x1.5dd5e07a78048p-15, -0x1.75d7300c73ad8p-16, 0x1.912d652c34391p-17, -0x1.afa4cf719d526p-18,
                           0x1.d475d85530b25p-19, -0x1.00ea681de8846p-19, 0x1.0933e8b7fb6c1p-20, -0x1.0c36ad03451dap-21,
                           0x1.9c55e0f2556d5p-22, -0x1.103fdcc1f5a1ap-22, -0x1.adb6bfc9148f9p-31, 0x1.eb7d027445563p-26,
                           0x1.5fbaaeaa2de41p-24, -0x1.c87047e8233afp-25});
  const V sign = select(below, a.like(-1), one);
  const V next = one + d, factor = d * next, factor_error = fma(d, next, -factor);
  const V main_near = factor * p, main_error = fma(factor_error, p, fma(factor, p, -main_near));
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

// log|gamma(x)|. f32 1.89 ULP, f64 1.63 ULP for x >= 0. Left of zero a few roundings of the largest term: near the zeros there the relative
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

// digamma for positive a; `signed_a` differs from it in a zero only.
template <LaneType V>
V digamma_positive(const V& a, const V& signed_a) {
  const bool f32 = a.bits() == 32;
  const V one = a.like(1), zero = a.like(0), two = a.like(2);
  const auto large = a >= a.like(8), below = a < one;
  // To [1, 2], with the sum n/m of the reciprocals passed on the way down; from below 1 one step up.
  V y = a, n = select(below, a.like(-1), zero), m = select(below, signed_a, one);
  for (int k = 0; k < 6; ++k) {
    const auto above = y >= two;
    y = select(above, y - one, y);
    n = select(above, fma(n, y, m), n);
    m = select(above, m * y, m);
  }
  // The zero x0 in two parts; y - x0 loses nothing near it.
  const V root = constant(a, 0x1.762d86p0, 0x1.762d86356be3fp0);
  const V base = select(below, root - one, root);
  const V distance = (y - base) - constant(a, 0x1.ab5f2p-27, 0x1.b86a722197829p-54);
  const V u = select(below, y - a.like(0.5), y - a.like(1.5));
  const V p = f32 ? poly(u, {0x1.e6f0ccp-1, -0x1.b1cb68p-2, 0x1.eca142p-3, -0x1.2feba8p-3, 0x1.851b08p-4, -0x1.fc622p-5,
                             0x1.4dd67cp-5, -0x1.a64202p-6, 0x1.1e5a2cp-6, -0x1.0cb4b4p-6, 0x1.553236p-7})
                  : poly(u, {0x1.e6f0cbb873617p-1, -0x1.b1cb63005ee99p-2, 0x1.eca189b8e6b53p-3, -0x1.2feeeb98a77cp-3,
                             0x1.8512e59076843p-4, -0x1.fb44202a393e4p-5, 0x1.4de9a9fdcf005p-5, -0x1.b9f8b1158a6cap-6,
                             0x1.25647748db699p-6, -0x1.8635650417b15p-7, 0x1.03bfe319d1924p-7, -0x1.5a068a7209cdep-8,
                             0x1.cd43103261645p-9, -0x1.336f7e6d4e2aep-9, 0x1.97dd539192a62p-10, -0x1.0fa157c3f0d3ap-10,
                             0x1.7c801f35a30f3p-11, -0x1.fe77c481b2621p-12, 0x1.d3674a2de2deap-13, -0x1.2c65efb427a0fp-13,
                             0x1.13d2c238f7c41p-12, -0x1.784a5e99c0966p-13});
  const V near = fma(distance, p, n / m);

  const V inverse = one / a, z = inverse * inverse;
  const V t = f32 ? poly(z, {0x1.555554p-4, -0x1.110428p-7, 0x1.f57cf6p-9})
                  : poly(z, {0x1.5555555555535p-4, -0x1.11111110b7187p-7, 0x1.04103fae805f1p-8, -0x1.110fdb530263dp-8,
                             0x1.efe453b46474cp-8, -0x1.4f2aba9b6e119p-6, 0x1.e402fc0a4eaacp-5});
  const V far = log(a) - fma(z, t, inverse * a.like(0.5));
  return select(large, far, near);
}

// The derivative of lgamma. f32 3.94 ULP, f64 3.96 ULP for x >= 0; left of zero as lgamma. digamma(+-0) = -+inf, NaN at -1, -2, ... and at
// -inf.
template <LaneType V>
V digamma(const V& x) {
  const V one = x.like(1), zero = x.like(0);
  const auto negative = x < zero;
  // By reflection: digamma(x) = digamma(1 - x) - pi / tan(pi x).
  const V positive = digamma_positive(select(negative, one - x, abs(x)), select(negative, one, x));
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

// The derivative of digamma. f32 1.15 ULP, f64 1.04 ULP, all x. inf at 0, -1, -2, ..., 0 at inf, NaN at -inf.
template <LaneType V>
V trigamma(const V& x) {
  const V one = x.like(1), zero = x.like(0);
  const auto negative = x < zero;
  // By reflection: trigamma(x) = (pi / sin(pi x))^2 - trigamma(1 - x).
  const V positive = trigamma_positive(select(negative, one - x, abs(x)));
  return rare(negative, positive, [&] {
    const V r = x - round_even(x), z = r * r, p = sinc_pi_tail(z), s = fma(p, z, one);
    const V s_low = fma(p, z, one - s) + p * fma(r, r, -z);
    const V d = r * s, d_low = fma(r, s, -d) + r * s_low;  // sin(pi x) / pi, but for the sign
    V low = x;
    const V square = inverse_square(d, d_low, low), y = square + (low - positive);
    return select(r == zero, x.like(infinity), select(square < x.like(infinity), y, square));
  });
}

}  // namespace weft::vecmath
