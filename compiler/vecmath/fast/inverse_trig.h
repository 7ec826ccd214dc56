#pragma once
// Faster asin, acos, atan, atan2.
#include "../inverse_trig.h"

namespace weft::vecmath::fast {

// asin(a) = value for a <= 1/2, and pi/2 - 2 value above, for a >= 0.
template <LaneType V>
V asin_part(const V& a, const typename V::Mask& small) {
  const V half = a.like(0.5), z = select(small, a * a, fma(a, -half, half)), root = select(small, a, sqrt(z));
  return fma(root, asin_tail(z), root);
}

// asin(x). f32 2.35 ULP, f64 2.11 ULP.
template <LaneType V>
V asin(const V& x) {
  const V a = abs(x);
  const auto small = a <= x.like(0.5);
  const V part = asin_part(a, small);
  return copysign(select(small, part, fma(part, x.like(-2), half_pi(x))), x);
}

// acos(x): pi/2 - asin(x), 2 part, or pi - 2 part. f32 1.27 ULP, f64 1.15 ULP.
template <LaneType V>
V acos(const V& x) {
  const V a = abs(x), zero = x.like(0);
  const auto small = a <= x.like(0.5), left = x < zero;
  const V part = asin_part(a, small), two = x.like(2), pi = half_pi(x) * two;
  const V low = half_pi(x) - copysign(part, x);
  return select(small, low, fma(part, copysign(two, x), select(left, pi, zero)));
}

// (atan(t) - t) / t^3 for z = t^2, |t| <= tan(pi/8)
template <LaneType V>
V short_atan_tail(const V& z) {
  if (z.bits() == 32) return poly(z, {-0x1.555454p-2, 0x1.9924dap-3, -0x1.1c3808p-3, 0x1.49e716p-4});
  return poly(z, {-0x1.5555555555318p-2, 0x1.999999994974fp-3, -0x1.249249057d16dp-3, 0x1.c71c65cf94607p-4, -0x1.745bc32fe349p-4,
                  0x1.3afc355b0881bp-4, -0x1.10052eccdff74p-4, 0x1.d254f915531d3p-5, -0x1.65182eca1dcb6p-5, 0x1.5c508c9a9720fp-6});
}

// atan(x): from 0, pi/4 or pi/2, whichever is near. f32 2.80 ULP, f64 2.49 ULP.
template <LaneType V>
V atan(const V& x) {
  const V a = abs(x), one = x.like(1), quarter = half_pi(x) * x.like(0.5);
  const auto near = a <= x.like(0x1.a8279ap-2), far = a > x.like(0x1.3504f4p1);
  const V n = select(near, a, select(far, -one, a - one)), d = select(near, one, select(far, a, a + one));
  const V base = select(near, x.like(0), select(far, half_pi(x), quarter));
  const V t = n / d, z = t * t;
  return copysign(base + fma(t * z, short_atan_tail(z), t), x);
}

// The angle of the point (x, y); where the larger coordinate is of unusual size, by the exact function. f32 2.82 ULP, f64 2.49 ULP.
template <LaneType V>
V atan2(const V& y, const V& x) {
  const V a = abs(y), b = abs(x), zero = x.like(0), small = min_raw(a, b), large = max_raw(a, b);
  const auto steep = b < a, middle = small > large * x.like(0x1.a8279ap-2), left = x < zero;
  const V t = select(middle, small - large, small) / select(middle, small + large, large), z = t * t;
  // An eighth of a turn, or none, and t; then from pi/2 if steep, then from pi if left.
  const V angle = fma(t * z, short_atan_tail(z), t), pi = half_pi(x) * x.like(2), quarter = half_pi(x) * x.like(0.5);
  const V eighth = select(middle, quarter, zero);
  const V upright = select(steep, half_pi(x) - eighth, eighth), turned = from_bits(to_bits(angle) ^ select(steep, to_bits(x.like(-0.0)), x.int_like(0)));
  const V right = upright + turned;
  const V result = copysign(select(left, pi - right, right), y);
  const auto usual = (large > constant(x, 0x1p-64, 0x1p-900)) & (large < constant(x, 0x1p120, 0x1p1000)) & (a == a);
  return rare(!usual, result, [&] { return vecmath::atan2(y, x); });
}

}  // namespace weft::vecmath::fast
