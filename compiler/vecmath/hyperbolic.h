#pragma once
// sinh, cosh, asinh, acosh, atanh (tanh is in exp.h).
#include "log.h"

namespace weft::vecmath {

// sinh(r) = r + r z odd and cosh(r) = 1 + z even, z = r^2, |r| <= ln2 / 2.
template <LaneType V>
struct SinhCoshSeries {
  V odd, even;
};

template <LaneType V>
SinhCoshSeries<V> sinh_cosh_series(const V& z) {
  if (z.bits() == 32) return {poly(z, {0x1.5554acp-3, 0x1.122acp-7}), poly(z, {0x1p-1, 0x1.5554e2p-5, 0x1.6d5496p-10})};
  return {poly(z, {0x1.5555555555559p-3, 0x1.111111110f6p-7, 0x1.a01a01b03d34cp-13, 0x1.71ddf74e0e476p-19, 0x1.af60c34b8722ap-26}),
          poly(z, {0x1p-1, 0x1.5555555555558p-5, 0x1.6c16c16c14fd2p-10, 0x1.a01a01ad98d4cp-16, 0x1.27e4cbc0dc78ep-22, 0x1.1f8c7b81ceb8p-29})};
}

// up = 2^(n - 2) and up plus or minus 2^(-n - 2), n >= 0 in the low bits of `shifted`. `down` is 16 times as large as it counts: so it
// has the bits of a number, or of zero, for the largest n too.
template <LaneType V>
struct HalfPowers {
  V up, down, plus, minus;
  static constexpr double part = 0x1p-4;
};

template <LaneType V>
HalfPowers<V> half_powers(const V& shifted) {
  const int fraction = fraction_bits(shifted), bias = exponent_bias(shifted);
  const auto n = to_bits(shifted) << fraction;
  const V up = from_bits(shifted.int_like(int64_t{bias - 2} << fraction) + n), down = from_bits(shifted.int_like(int64_t{bias + 2} << fraction) - n);
  const V part = shifted.like(HalfPowers<V>::part);
  return {up, down, fma(down, part, up), fma(down, -part, up)};
}

// Half of sinh or cosh of a >= 0: with e^a = 2^n e^r both are (2^n + 2^-n) / 2 times one series in r and (2^n - 2^-n) / 2 times the other.
template <LaneType V>
V half_sinh_cosh(const V& a, bool cosh) {
  const auto x = split_exp(min_raw(constant(a, 89.5, 710.625), a));
  const auto power = half_powers(x.shifted);
  const V r = x.r, z = r * r;
  const auto [odd, even] = sinh_cosh_series(z);
  const V sinh_rest = fma(r * z, odd, -x.n_low), cosh_rest = z * even;
  // The two largest terms are summed exactly.
  const V first = cosh ? power.plus : power.minus, second = cosh ? power.minus : power.plus;
  const V first_low = fma(power.down, a.like(cosh ? power.part : -power.part), power.up - first);
  const V sum = fma(second, x.high, first), error = fma(second, x.high, first - sum) + first_low;
  return sum + fma(first, cosh_rest, fma(second, sinh_rest, error));
}

// sinh(x). f32 0.98 ULP, f64 0.79 ULP, all x. sinh(-0) = -0, sinh(+-inf) = +-inf.
template <LaneType V>
V sinh(const V& x) {
  const V a = abs(x), half = half_sinh_cosh(a, false);
  return select(a < constant(x, 0x1p-13, 0x1p-27), x, copysign(half + half, x));
}

// cosh(x). f32 0.79 ULP, f64 0.86 ULP, all x. cosh(+-inf) = inf.
template <LaneType V>
V cosh(const V& x) {
  const V half = half_sinh_cosh(abs(x), true);
  return half + half;
}

// log(1 + w + w_low), w >= 0 or w < -1 (NaN); where `big`, log(w) + ln2.
template <LaneType V>
V log1p_pair(const V& w, const V& w_low, const typename V::Mask& big) {
  const V one = w.like(1), zero = w.like(0), u = one + w, c = w - (u - one);
  const auto y = log_pair(select(big, w, u), c + w_low, big, select(big, one, zero));
  return log_finish(y.exponent, y.high, y.rest);
}

// asinh(x). f32 0.78 ULP, f64 0.89 ULP, all x. asinh(-0) = -0, asinh(+-inf) = +-inf.
template <LaneType V>
V asinh(const V& x) {
  // log1p(a + gain), gain = sqrt(a^2 + 1) - 1, or log(2 a) where a^2 is too large.
  const V a = abs(x), one = x.like(1);
  const auto big = a > constant(x, 0x1p28, 0x1p58);
  const V root = sqrt(fma(a, a, one)), gain = root - one;
  // gain^2 + 2 gain = a^2 gives the error of the gain, which is all of it where a is small: the inverse of 2 root must be right at 2.
  const V residual = fma(-gain, gain, fma(a, a, -(gain + gain))), inverse = from_bits(to_bits(one) + to_bits(x.like(0.5)) - to_bits(root));
  V low = x;
  const V w = fast_two_sum(a, gain, low);
  return copysign(log1p_pair(select(big, a, w), fma(residual, inverse, low), big), x);
}

// acosh(x). f32 0.79 ULP, f64 0.82 ULP. acosh(1) = +0, NaN below 1, acosh(inf) = inf.
template <LaneType V>
V acosh(const V& x) {
  // log1p(t + sqrt(t^2 + 2 t)), t = x - 1; the root is carried with its error.
  const V t = x - x.like(1), two = x.like(2);
  const auto big = x > constant(x, 0x1p28, 0x1p58);
  V t2_low = x, low = x;
  const V t2 = two_sum(t, two, t2_low), p = t * t2, root = sqrt(p);
  const V error = fma(-root, root, p) + fma(t, t2_low, fma(t, t2, -p));
  const V w = fast_two_sum(root, t, low);
  const V y = log1p_pair(select(big, x, w), fma(error * rough_inverse(root), x.like(0.5), low), big);
  return select(t < x.like(0), x.like(not_a_number), y);
}

// atanh(a) = k ln2 / 2 + atanh(s), where (1 + a) / (1 - a) = 2^k (1 + s) / (1 - s), for a >= 0. k = 0 up to a = 1/4 at least, with s = a.
template <LaneType V>
V atanh_f32(const V& a) {
  const V one = a.like(1), shift = round_shift(a), above = one + a, below = one - a;
  const auto k = (to_bits(above) - to_bits(below) + a.int_like(0x00133333)) >> 23;
  const V power = from_bits((k << 23) + to_bits(one)), n = from_bits(to_bits(shift) + k) - shift;
  const auto sum = [&](const V& top, const V& bottom) {
    const V s = top / bottom, z = s * s, error = fma(-s, bottom, top) * rough_inverse(bottom);
    const V base = n * a.like(0x1.62e4p-2), high = base + s, low = ((base - high) + s) + error;
    const V p = poly(z, {0x1.55555p-2, 0x1.99a7cp-3, 0x1.21d614p-3, 0x1.0db3c2p-3});
    return high + fma(s * z, p, fma(n, a.like(0x1.7f7d1cp-21), low));
  };
  // Close to 1, below is exact and the power too large for the first form.
  const V near = sum(fma(a, one + power, one - power), fma(a, one - power, one + power));
  return rare(!(a < a.like(0x1.ffffp-1)), near, [&] {
    const V edge = select(a == one, a.like(infinity), a.like(not_a_number));
    return select(a < one, sum(fma(-power, below, above), fma(power, below, above)), edge);
  });
}

// atanh(x). f32 0.83 ULP, f64 0.87 ULP. atanh(-0) = -0, atanh(+-1) = +-inf, NaN outside.
template <LaneType V>
V atanh(const V& x) {
  // log1p(2 a / (1 - a)) / 2
  const V a = abs(x), one = x.like(1), half = x.like(0.5);
  if (x.bits() == 32) return copysign(atanh_f32(a), x);
  const V d = one - a, d_error = (one - d) - a, twice = a + a, w = twice / d;
  const V error = fma(-w, d_error, fma(-w, d, twice)) * rough_inverse(d);
  return copysign(log1p_pair(w, error, !(a < one)) * half, x);
}

}  // namespace weft::vecmath
