#pragma once
// nextafter: exact.
#include "common.h"

namespace weft::vecmath {

// The value beside `a` in the direction of b, on the grid of values whose bits are multiples of `unit`. b itself if they are equal; NaN if
// either is. From +-0 to the least value with the sign of b.
template <LaneType V>
V next_on_grid(const V& a, const V& b, int64_t unit) {
  const V zero = a.like(0);
  const auto bits = to_bits(a), step = a.int_like(unit);
  const auto grows = ((a < b) & (a > zero)) | ((b < a) & (a < zero));
  const V moved = from_bits(select(grows, bits + step, bits - step));
  const V y = select(a == zero, from_bits(sign_bit(b) | step), moved);
  return select((a == a) & (b == b), select(a == b, b, y), a + b);
}

template <LaneType V>
V nextafter(const V& a, const V& b) {
  return next_on_grid(a, b, 1);
}

// For lanes of 32 bits that hold values of bf16: the upper half of the bits.
template <LaneType V>
V nextafter_bf16(const V& a, const V& b) {
  return next_on_grid(a, b, int64_t{1} << 16);
}

// For lanes of 32 bits that hold values of f16. Scaled so that the subnormals of f16 are subnormals here too, its values are those with 13
// zero bits; only the largest finite value and infinity are not neighbours then.
template <LaneType V>
V nextafter_f16(const V& a, const V& b) {
  const V inf = a.like(infinity), most = a.like(65504);
  const V y = next_on_grid(a * a.like(0x1p-112), b * a.like(0x1p-112), int64_t{1} << 13) * a.like(0x1p112);
  const V from_infinity = select(b < a, most, -most);
  return select((abs(a) == inf) & (a != b) & (b == b), from_infinity, select(abs(y) > most, copysign(inf, y), y));
}

}  // namespace weft::vecmath
