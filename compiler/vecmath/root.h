#pragma once
// cbrt, rsqrt, hypot, and sqrt from an estimate (else it is an operation of the lane itself).
#include "common.h"

namespace weft::vecmath {

// The cube root. f32 0.99 ULP, f64 0.50 ULP, all x. cbrt(-0) = -0, cbrt(+-inf) = +-inf.
template <LaneType V>
V cbrt(const V& x) {
  const auto split = split_power(abs(x), 0.75);
  // |x| = 2^(3k + j) m, j = -1, 0, 1, or NaN for zeros, infinities and NaN; j is read from its bits.
  const V m = split.mantissa, shift = round_shift(x), shifted = fma(split.exponent, x.like(1.0 / 3), shift), one = x.like(1);
  const V j = fma(shifted - shift, x.like(-3), split.exponent);
  const auto j_bits = to_bits(j), zero = x.int_like(0);
  const auto whole = (j_bits & to_bits(one)) == zero, above = sign_bit(j) == zero;
  const V factor = select(whole, one, select(above, constant(x, 0x1.428a3p+0, 0x1.428a2f98d728bp+0), constant(x, 0x1.965feap-1, 0x1.965fea53d6e3dp-1)));
  const V factor_low = select(whole, x.like(0), select(above, constant(x, -0x1.9ca35ep-26, -0x1.ddc22548ea41ep-56), constant(x, 0x1.4f5b9p-27, -0x1.f53e999952f09p-55)));

  // r = m^(-1/3) roughly; root = m r^2 and its correction.
  V r = poly(m, {0x1.b272ecp0, -0x1.304a64p0, 0x1.3e5692p-1, -0x1.0ad12ep-3});
  if (x.bits() == 64) {
    const V h = fma(-m * (r * r), r, one);
    r = fma(r * h, fma(h, x.like(2.0 / 9), x.like(1.0 / 3)), r);
  }
  const V rr = r * r, root = m * rr;
  V correction = root;
  if (x.bits() == 32) {
    const V h = fma(-root, r, one);
    correction = (root * h) * fma(h, x.like(5.0 / 9), x.like(2.0 / 3));
  } else {
    const V square = root * root, square_error = fma(root, root, -square);
    correction = fma(square_error, root, fma(square, root, -m)) * (rr * x.like(-1.0 / 3));
  }
  const V y = fma(root, factor, fma(correction, factor, root * factor_low));
  const V scaled = from_bits(to_bits(y) + (to_bits(shifted) << fraction_bits(x)));
  const auto finite = (j_bits & x.int_like(int64_t{1} << (fraction_bits(x) - 1))) == zero;
  return select(finite, copysign(scaled, x), x);
}

// sqrt(x), correctly rounded, from y within 2^-14 of 1 / sqrt(x), whatever its bits. f32: 2^-80 <= x < 2^120; f64: 2^-900 <= x < 2^1000.
// g -> sqrt(x) and h -> 1 / (2 sqrt(x)) by Newton's method; then g + (x - g^2) h, with an exact remainder (Markstein).
template <LaneType V>
V sqrt_from_estimate(const V& x, const V& y) {
  V g = x * y, h = y * x.like(0.5);
  for (int k = 0; k < (x.bits() == 32 ? 1 : 2); ++k) {
    const V r = fma(-h, g, x.like(0.5));
    g = fma(g, r, g);
    h = fma(h, r, h);
  }
  return fma(fma(-g, g, x), h, g);
}

// a / b of f64, correctly rounded, from an estimate within 2^-14 of 1 / b, whatever its bits; |a| and |b| in [2^-500, 2^500), not all bits of
// b's mantissa set. Newton's method makes it 2^-28 near, then faithful, then the correctly rounded y. Remainders are exact, q is faithful:
// the last step rounds correctly (Markstein; 1 / b is the one quotient that misses where y is not the nearest, which those b are).
template <LaneType V>
V quotient_from_estimate(const V& a, const V& b, const V& estimate) {
  const V one = b.like(1), near = fma(estimate, fma(-b, estimate, one), estimate), faithful = fma(near, fma(-b, near, one), near);
  const V rough = a * near, q = fma(fma(-b, rough, a), faithful, rough), y = fma(faithful, fma(-b, faithful, one), faithful);
  return fma(fma(-b, q, a), y, q);
}

// 1 / sqrt(x) of a positive normal number: Halley's method from a guess within 4 %, and a last step that knows the error of x y^2.
template <LaneType V>
V rsqrt_normal(const V& x) {
  const V one = x.like(1);
  V y = from_bits(x.int_like(x.bits() == 32 ? 0x5f37642f : 0x5fe6ec85e7de30da) - shift_right_logical(to_bits(x), 1));
  for (int k = 0; k < (x.bits() == 32 ? 1 : 2); ++k) {
    const V h = fma(x * y, -y, one);
    y = fma(y * h, fma(h, x.like(0.375), x.like(0.5)), y);
  }
  const V square = x * y, square_error = fma(x, y, -square), rest = fma(square_error, -y, fma(square, -y, one));
  return fma(y * rest, x.bits() == 32 ? fma(rest, x.like(0.375), x.like(0.5)) : x.like(0.5), y);
}

// 1 / sqrt(x). f32 0.51 ULP, f64 0.51 ULP, x > 0, subnormals included. rsqrt(+-0) = +-inf, rsqrt(inf) = +0, rsqrt(x < 0) = NaN.
template <LaneType V>
V rsqrt(const V& x) {
  const auto usual = (x >= constant(x, 0x1p-126, 0x1p-1022)) & (x < x.like(infinity));
  return rare(!usual, rsqrt_normal(x), [&] {
    const V scaled = rsqrt_normal(x * constant(x, 0x1p24, 0x1p54)) * constant(x, 0x1p12, 0x1p27);
    return select((x > x.like(0)) & (x < x.like(infinity)), scaled, x.like(1) / sqrt(x));
  });
}

// sqrt(p^2 + q^2), p >= q >= 0 or NaN.
template <LaneType V>
V root_of_squares(const V& p, const V& q) {
  if (p.bits() == 32) {
    // p^2 + q^2, or 2 p q + (p - q)^2 where p - q is exact: what is rounded first is small.
    const V gap = p - q;
    const auto far = q < gap;
    const V rest = select(far, q, gap);
    return sqrt(fma(select(far, p, p + p), select(far, p, q), rest * rest));
  }
  const V pp = p * p, qq = q * q;
  V error = p;
  const V sum = fast_two_sum(pp, qq, error), root = sqrt(sum);
  const V residual = (fma(-root, root, sum) + error) + (fma(p, p, -pp) + fma(q, q, -qq));
  return fma(residual * p.like(0.5), rough_inverse(root), root);
}

// sqrt(x^2 + y^2) without overflow or underflow on the way. f32 0.90 ULP, f64 0.71 ULP on pairs of any sizes. inf if either is, even
// beside NaN.
template <LaneType V>
V hypot(const V& x, const V& y) {
  const V a = abs(x), b = abs(y), inf = x.like(infinity);
  const auto swap = a < b;
  const V high = select(swap, b, a), low = select(swap, a, b);
  // Between 2^-45 and 2^60, or 2^-400 and 2^500, by their bits: one comparison. Half of them, for a signed one.
  const V least = constant(x, 0x1p-45, 0x1p-400), most = constant(x, 0x1p60, 0x1p500);
  const auto above = shift_right_logical(to_bits(high) - to_bits(least), 1), span = shift_right_logical(to_bits(most) - to_bits(least), 1);
  return rare(!(above < span), root_of_squares(high, low), [&] {
    const auto large = !(high <= most);
    // Scaled by a power of two, so that the squares neither overflow nor lose bits.
    const V scale = select(large, constant(x, 0x1p-80, 0x1p-600), constant(x, 0x1p80, 0x1p600));
    const V back = select(large, constant(x, 0x1p80, 0x1p600), constant(x, 0x1p-80, 0x1p-600));
    return select((a == inf) | (b == inf), inf, root_of_squares(high * scale, low * scale) * back);
  });
}

}  // namespace weft::vecmath
