#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include <weft/array.h>

#include "error_text.h"

using namespace weft;

namespace {

using Floats = std::vector<float>;

// An array of `shape` behind random strides: permuted axes, flips, gaps.
Array random_layout(DType dtype, const Dims& shape, std::mt19937& random) {
  std::vector<int> axes(shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(i);
  std::shuffle(axes.begin(), axes.end(), random);
  Dims stored(shape.size());
  std::vector<int> inverse(shape.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    stored[i] = shape[axes[i]] * static_cast<Index>(1 + random() % 2);
    inverse[axes[i]] = static_cast<int>(i);
  }
  Array result = Array(dtype, stored).permute(inverse);
  for (int axis = 0; axis < result.rank(); ++axis) {
    const Index step = result.shape()[axis] / std::max<Index>(shape[axis], 1);
    result = result.slice(axis, 0, shape[axis], std::max<Index>(step, 1));
    if (random() % 2 == 0) result = result.flip(axis);
  }
  return result;
}

void next_index(Dims& index, const Dims& shape) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis]) return;
    index[axis] = 0;
  }
}

}  // namespace

TEST_CASE("copies between all strides move every element to its place") {
  std::mt19937 random(1);
  const Dims shapes[] = {{}, {1}, {7}, {0, 3}, {5, 7}, {40, 70}, {1, 6, 1}, {3, 4, 5}, {2, 3, 4, 5}};
  for (const Dims& shape : shapes)
    for (const DType dtype : {u8, i16, f32, f64, bool_, bf16})
      for (int trial = 0; trial < 6; ++trial) {
        const Array from = random_layout(dtype, shape, random);
        const Array to = random_layout(dtype, shape, random);
        Dims index(shape.size(), 0);
        for (Index i = 0; i < from.size(); ++i, next_index(index, shape)) from.set(index, Scalar(i % 251));
        copy_elements(from, to);
        Index wrong = 0;
        for (Index i = 0; i < from.size(); ++i, next_index(index, shape)) wrong += !(to.get(index) == from.get(index));
        REQUIRE(wrong == 0);
      }
}

TEST_CASE("a broadcast source repeats") {
  const Array to(f32, {2, 3});
  copy_elements(Array::from<float>({1, 2, 3}).broadcast_to({2, 3}), to);
  CHECK(to.to_vector<float>() == Floats{1, 2, 3, 1, 2, 3});
}

TEST_CASE("overlapping source and target behave as if through a copy") {
  const Array a = Array::from<float>({1, 2, 3, 4, 5});
  copy_elements(a.slice(0, 0, 4), a.slice(0, 1, 4));
  CHECK(a.to_vector<float>() == Floats{1, 1, 2, 3, 4});
  copy_elements(a.flip(0), a);
  CHECK(a.to_vector<float>() == Floats{4, 3, 2, 1, 1});
}

TEST_CASE("fill casts its value and touches only the view") {
  const Array a(i8, {2, 4});
  a.slice(1, 0, 2, 2).fill(Scalar(300.0));
  CHECK(a.to_vector<std::int8_t>() == std::vector<std::int8_t>{127, 0, 127, 0, 127, 0, 127, 0});
  Array(f32, {0}).fill(Scalar(1));
  const Array b(bf16, {3});
  b.fill(Scalar(0.5));
  CHECK(b.get({2}) == Scalar::of(bf16, 0.5));
}

TEST_CASE("what a caller can get wrong with copies") {
  const Array a(f32, {2, 3});
  CHECK(error_text([&] { copy_elements(a, Array(f64, {2, 3})); }) ==
        "dtype: copy_elements: from f32 to f64\n  both must have the same dtype");
  CHECK(error_text([&] { copy_elements(a, Array(f32, {3, 2})); }) ==
        "shape: copy_elements: from shape [2, 3] to shape [3, 2]\n  broadcast_to or slice one of them first");
  CHECK(error_text([&] { copy_elements(a, Array(f32, {2, 3}).read_only()); }) ==
        "usage: copy_elements: the target of shape [2, 3] is read-only");
  CHECK(error_text([&] { copy_elements(a, View(Array(f32, {4}).data(), f32, {2, 3}, {1, 1})); }) ==
        "usage: copy_elements: elements of the target overlap: shape [2, 3] with strides [1, 1]");
  CHECK(error_text([&] { a.read_only().fill(Scalar(1)); }) ==
        "usage: the array is read-only\n  use data<const T>() or at<const T>() to read, copy() to get one to write to");
}
