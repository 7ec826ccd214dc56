// One array, every way to lay it out.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include <weft/array.h>

// Views of fresh memory in which every element is -99, by name.
inline std::vector<std::pair<std::string, weft::Array>> layouts(weft::DType dtype, const weft::Dims& shape) {
  auto fresh = [&](const weft::Dims& dims, weft::Order order = weft::Order::c) {
    weft::Array memory(dtype, dims, order);
    memory.fill(weft::Scalar::of(dtype, -99));
    return memory;
  };
  std::vector<std::pair<std::string, weft::Array>> result;
  result.emplace_back("c", fresh(shape));
  result.emplace_back("f", fresh(shape, weft::Order::f));
  weft::Array reversed = fresh(shape), gaps, offset;
  weft::Dims larger = shape, shifted = shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    reversed = reversed.flip(static_cast<int>(d));
    larger[d] = 3 * shape[d] + 2;
    shifted[d] = shape[d] + 3;
  }
  gaps = fresh(larger);
  offset = fresh(shifted, weft::Order::f);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    gaps = gaps.slice(static_cast<int>(d), 1, shape[d], 3);
    offset = offset.slice(static_cast<int>(d), 2, shape[d]);
  }
  result.emplace_back("reversed", reversed);
  result.emplace_back("gaps", gaps);
  result.emplace_back("offset", offset);
  result.emplace_back("last axis reversed", shape.empty() ? fresh(shape) : fresh(shape).flip(-1));
  return result;
}

inline weft::Array filled_like(const weft::Array& values, weft::Array view) {
  copy_elements(values, view);
  return view;
}
