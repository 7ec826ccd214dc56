#pragma once
// cbrt, hypot (sqrt is an operation of the lane itself).
#include "common.h"

namespace weft::vecmath {

// The cube root. f32 0.50 ULP, f64 0.50 ULP, all x. cbrt(-0) = -0, cbrt(+-inf) = +-inf.
template <LaneType V>
V cbrt(const V& x) {
  const V a = abs(x), one = x.like(1), third = x.like(1.0 / 3);
  const auto split = split_power(a);
  // a = 2^(3k + j) m; cubed = 2^j m.
  const V k = round_even(split.exponent * third), j = fma(k, x.like(-3), split.exponent);
  const auto below = j < x.like(0), above = j > x.like(0);
  const V cubed = split.mantissa * select(below, x.like(0.5), select(above, x.like(2), one));
  // r = cubed^(-1/3): a polynomial, then one step of third order.
  const V seed = poly(split.mantissa, {0x1.b2731cp0, -0x1.304ae6p0, 0x1.3e577cp-1, -0x1.0ad24p-3});
  V r = seed * select(below, x.like(0x1.428a2f98d728bp0), select(above, x.like(0x1.965fea53d6e3dp-1), one));
  const V h = fma(-cubed * (r * r), r, one);
  r = fma(r * h, fma(h, x.like(2.0 / 9), third), r);
  // The root, corrected by its residual.
  const V root = cubed * (r * r), square = root * root, square_error = fma(root, root, -square);
  const V residual = fma(square_error, root, fma(square, root, -cubed));
  const V y = fma(residual * (r * r), -third, root);
  const auto finite = (a < x.like(infinity)) & (a > x.like(0));
  return select(finite, copysign(scale_by_power(y, k), x), x);
}

// sqrt(x^2 + y^2) without overflow or underflow on the way. f32 0.75 ULP, f64 0.65 ULP on pairs of any sizes. inf if either is, even
// beside NaN.
template <LaneType V>
V hypot(const V& x, const V& y) {
  const V a = abs(x), b = abs(y), one = x.like(1), inf = x.like(infinity);
  const auto swap = a < b;
  const V high = select(swap, b, a), low = select(swap, a, b);
  // Scaled by a power of two so that the squares neither overflow nor lose bits.
  const auto large = high > constant(x, 0x1p60, 0x1p500), small = high < constant(x, 0x1p-45, 0x1p-400);
  const V scale = select(large, constant(x, 0x1p-80, 0x1p-600), select(small, constant(x, 0x1p80, 0x1p600), one));
  const V back = select(large, constant(x, 0x1p80, 0x1p600), select(small, constant(x, 0x1p-80, 0x1p-600), one));
  const V p = high * scale, q = low * scale, pp = p * p, qq = q * q;
  V error = x;
  const V sum = fast_two_sum(pp, qq, error), root = sqrt(sum);
  const V residual = (fma(-root, root, sum) + error) + (fma(p, p, -pp) + fma(q, q, -qq));
  const V y0 = fma(residual * x.like(0.5), rough_inverse(root), root) * back;
  return select((a == inf) | (b == inf), inf, y0);
}

}  // namespace weft::vecmath
