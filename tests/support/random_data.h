// Random arrays: their values, and the same values in other layouts.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>

#include <weft/array.h>

#include "random_source.h"

// small: whole numbers, so that sums and products are exact; reals: of size 1; special: with NaN, infinities, -0,
// subnormals, the largest and smallest numbers.
enum class Data { small, reals, special };

// The smallest subnormal, the smallest normal and the largest number of a floating dtype.
struct FloatRange {
  double tiny, least, most;
};
inline FloatRange float_range(weft::DType dtype) {
  switch (dtype) {
    case weft::DType::f16: return {0x1p-24, 0x1p-14, 65504};
    case weft::DType::bf16: return {0x1p-133, 0x1p-126, 0x1.fep127};
    case weft::DType::f32: return {0x1p-149, 0x1p-126, 0x1.fffffep127};
    default: return {0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023};
  }
}

inline weft::Scalar random_scalar(RandomSource& random, weft::DType dtype, Data data) {
  using weft::Scalar;
  if (is_boolean(dtype)) return Scalar::of(dtype, random.chance(50) ? 1 : 0);
  if (is_floating(dtype)) {
    if (data == Data::small || (data == Data::special && random.chance(50))) {
      const auto value = static_cast<double>(random.between(-4, 4));
      return Scalar::of(dtype, value);
    }
    if (data == Data::reals) return Scalar::of(dtype, random.uniform() * 4 - 2);
    using D = std::numeric_limits<double>;
    const FloatRange range = float_range(dtype);
    const double tiny = range.tiny, least = range.least, most = range.most;
    return Scalar::of(dtype, random.pick({D::quiet_NaN(), D::infinity(), -D::infinity(), -0.0, 0.0, tiny, -tiny, 3 * tiny, least, -least,
                                          most, -most, 0.5, -0.5, 2.5, 1e10, -1e19, 0x1p24 + 1, 0.1, 1e-30}));
  }
  if (data == Data::special && random.chance(50)) {
    if (random.chance(30)) return Scalar::of(dtype, static_cast<std::int64_t>(random.bits()));
    const int width = static_cast<int>(8 * size_of(dtype));
    const std::int64_t lowest = is_signed_integer(dtype) ? static_cast<std::int64_t>(std::uint64_t{1} << (width - 1) | (width < 64 ? ~std::uint64_t{0} << width : 0)) : 0;
    return Scalar::of(dtype, random.pick<std::int64_t>({lowest, static_cast<std::int64_t>(static_cast<std::uint64_t>(lowest) - 1), lowest + 1, -1, 0, 1, 2, width, width - 1, -width}));
  }
  return Scalar::of(dtype, random.between(is_signed_integer(dtype) ? -5 : 0, 5));
}

inline std::byte* element_address(const weft::View& array, const weft::Dims& index) {
  weft::Index offset = 0;
  for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * array.strides()[d];
  return static_cast<std::byte*>(array.data()) + offset * static_cast<weft::Index>(size_of(array.dtype()));
}

// Calls visit(index) in row-major order.
template <class Visit> void for_each_element(const weft::Dims& shape, const Visit& visit) {
  weft::Index count = 1;
  for (weft::Index extent : shape) count *= extent;
  weft::Dims index(shape.size(), 0);
  for (weft::Index k = 0; k < count; ++k) {
    visit(index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

// In that many of a hundred arrays all elements along one axis are equal, so that a view with stride 0 can hold it.
inline weft::Array random_array(RandomSource& random, weft::DType dtype, const weft::Dims& shape, Data data, int constant_chance = 10) {
  weft::Array array(dtype, shape);
  const int constant = !shape.empty() && random.chance(constant_chance) ? static_cast<int>(random.small(shape.size())) : -1;
  for_each_element(shape, [&](const weft::Dims& index) {
    weft::Dims source = index;
    if (constant >= 0) source[static_cast<std::size_t>(constant)] = 0;
    if (source != index) std::memcpy(element_address(array, index), element_address(array, source), size_of(dtype));
    else random_scalar(random, dtype, data).store(element_address(array, index));
  });
  return array;
}

// Memory of another layout for `shape`: axes in any order, gaps, reversed axes, an offset. The bytes between are `filler`.
inline weft::Array other_layout(RandomSource& random, weft::DType dtype, const weft::Dims& shape, std::uint8_t filler) {
  using weft::Index;
  const std::size_t rank = shape.size();
  std::vector<int> order(rank);
  for (std::size_t k = 0; k < rank; ++k) order[k] = static_cast<int>(k);
  if (random.chance(60)) random.shuffle(order);
  std::vector<int> place(rank);
  weft::Dims large(rank);
  std::vector<Index> step(rank), first(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    const auto axis = static_cast<std::size_t>(order[k]);
    place[axis] = static_cast<int>(k);
    step[k] = random.chance(25) ? 2 : 1;
    first[k] = random.chance(30) ? random.between(1, 3) : 0;
    large[k] = first[k] + shape[axis] * step[k] + (random.chance(30) ? random.between(1, 3) : 0);
  }
  weft::Array memory = weft::Array::empty(dtype, large, random.pick({weft::Order::c, weft::Order::f}));
  if (memory.size() > 0)
    std::memset(const_cast<std::byte*>(memory.byte_range().first), filler, static_cast<std::size_t>(memory.size()) * size_of(dtype));
  for (std::size_t k = 0; k < rank; ++k) {
    const auto axis = static_cast<std::size_t>(order[k]);
    if (shape[axis] > 0) memory = memory.slice(static_cast<int>(k), first[k], shape[axis], step[k]);
    else memory = memory.slice(static_cast<int>(k), 0, 0);
    if (random.chance(20)) memory = memory.flip(static_cast<int>(k));
  }
  return memory.permute(place);
}

inline bool is_constant_along(const weft::View& array, std::size_t axis) {
  bool constant = true;
  for_each_element(array.shape(), [&](weft::Dims index) {
    const std::byte* here = element_address(array, index);
    index[axis] = 0;
    constant = constant && std::memcmp(here, element_address(array, index), size_of(array.dtype())) == 0;
  });
  return constant;
}

// The same values; axes along which they are constant often get stride 0.
inline weft::Array in_other_layout(RandomSource& random, const weft::Array& array) {
  weft::Array result = other_layout(random, array.dtype(), array.shape(), 0x5b);
  copy_elements(array, result);
  if (array.size() == 0) return result;
  weft::Dims strides = result.strides();
  bool repeats = false;
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (random.chance(70) && is_constant_along(array, d)) strides[d] = 0, repeats = true;
  if (!repeats) return result;
  return weft::Array::borrow(weft::View(static_cast<const void*>(result.data()), array.dtype(), array.shape(), strides), result.owner());
}
