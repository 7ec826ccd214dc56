#include <weft/array.h>

#include <cstdint>
#include <sstream>

#include <doctest/doctest.h>

#include "error_text.h"

using namespace weft;

namespace {

// 0, 1, 2, .. in the memory order of `order`.
Array counting(const Dims& shape, Order order = Order::c) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Array::from(values, shape, order);
}
using Floats = std::vector<float>;

}  // namespace

TEST_CASE("arrays of zeros, of values, and of one value") {
  const Array zeros(i32, {2, 3}, Order::f);
  CHECK(zeros.to_vector<std::int32_t>() == std::vector<std::int32_t>(6, 0));
  CHECK(zeros.strides() == Dims{1, 2});
  CHECK(zeros.dtype() == i32);
  CHECK(zeros.size() == 6);
  CHECK(zeros.rank() == 2);
  CHECK(zeros.is_writable());
  CHECK(Array::from(Floats{1, 2, 3}).shape() == Dims{3});
  CHECK(Array::from<float>({1, 2, 3, 4}, {2, 2}, Order::f).to_vector<float>() == Floats{1, 3, 2, 4});
  CHECK(Array::from({1.0, 2.0}).dtype() == f64);
  CHECK(Array::from(std::vector<bool>{true, false, true}).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(Array::scalar(2.5f).shape() == Dims{});
  CHECK(Array::scalar(2.5f).at<float>({}) == 2.5f);
  CHECK(Array::scalar(Scalar::of(bf16, 2.5)).get({}) == Scalar::of(bf16, 2.5));
  CHECK(Array::scalar(Eigen::half(0.5f)).get({}) == Scalar::of(f16, 0.5));
  CHECK(Array().shape() == Dims{0});
  CHECK(Array().to_vector<double>().empty());
  CHECK(Array(f32, {0, 5}).size() == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(Array::empty(u8, {3}).data()) % 64 == 0);
  CHECK(error_text([] { Array::from<float>({1, 2, 3}, {2, 2}); }) == "shape: shape [2, 2] needs 4 values, got 3");
  CHECK(error_text([] { Array(f32, {-1}); }) == "shape: sizes must not be negative, got [-1]");
  CHECK(error_text([] { Array(f64, {Index{1} << 61}); }) ==
        "shape: the bytes of an array f64[2305843009213693952] do not fit 64 bits");
}

TEST_CASE("copies share the elements, copy() does not") {
  const Array a = counting({2, 2});
  const Array b = a;
  const Array c = a.copy();
  b.at<float>({0, 1}) = 9;
  CHECK(a.at<float>({0, 1}) == 9);
  CHECK(c.at<float>({0, 1}) == 1);
  CHECK(a.owner() == b.owner());
}

TEST_CASE("views keep the memory of their array alive") {
  Array view;
  {
    const Array a = counting({2, 3});
    view = a.transpose().slice(0, 1, 2);
  }
  CHECK(view.to_vector<float>() == Floats{1, 4, 2, 5});
}

TEST_CASE("transforms in both orders") {
  for (const Order order : {Order::c, Order::f}) {
    // The same logical elements 0 .. 23 in both.
    const Array a = counting({2, 3, 4}).copy(order);
    CHECK(a.is_contiguous(order));
    CHECK(a.transpose().shape() == Dims{4, 3, 2});
    CHECK(a.transpose().at<float>({3, 1, 1}) == 19);
    CHECK(a.permute({1, 2, 0}).shape() == Dims{3, 4, 2});
    CHECK(a.permute({1, 2, 0}).at<float>({2, 3, 1}) == 23);
    CHECK(a.permute({-1, 0, 1}).at<float>({3, 1, 2}) == 23);
    CHECK(a.slice(1, 1, 2).slice(2, 0, 2, 3).slice(0, 1, 1).to_vector<float>() == Floats{16, 19, 20, 23});
    CHECK(a.slice(2, 3, 4, -1).slice(0, 0, 1).slice(1, 0, 1).to_vector<float>() == Floats{3, 2, 1, 0});
    CHECK(a.flip(1).flip(-1).at<float>({0, 0, 0}) == 11);
    CHECK(a.slice(0, 0, 1).squeeze().shape() == Dims{3, 4});
    CHECK(a.slice(0, 0, 1).squeeze(0).shape() == Dims{3, 4});
    CHECK(a.expand_dims(0).shape() == Dims{1, 2, 3, 4});
    CHECK(a.expand_dims(-1).shape() == Dims{2, 3, 4, 1});
    CHECK(a.expand_dims(2).squeeze(2).to_vector<float>() == counting({2, 3, 4}).to_vector<float>());
    CHECK(a.slice(0, 1, 1).broadcast_to({2, 2, 3, 4}).at<const float>({1, 0, 2, 3}) == 23);
    CHECK(a.flip(0).flip(1).flip(2).transpose().copy(order).to_vector<float>() ==
          a.transpose().flip(0).flip(1).flip(2).to_vector<float>());
  }
  const Array a = counting({2, 6});
  CHECK(a.reshape_view({3, 4}).at<float>({2, 1}) == 9);
  CHECK(a.reshape_view({3, 4}).data() == a.data());
  CHECK(a.slice(0, 1, 1).reshape_view({2, 3}).to_vector<float>() == Floats{6, 7, 8, 9, 10, 11});
  CHECK(Array(f32, {0, 3}).flip(0).size() == 0);
  CHECK(a.slice(1, 6, 0).size() == 0);
}

TEST_CASE("contiguity ignores extents of 1 and empty arrays") {
  const Array a = counting({3, 1, 4});
  CHECK(a.is_contiguous(Order::c));
  CHECK_FALSE(a.is_contiguous(Order::f));
  CHECK(a.slice(0, 1, 1).is_contiguous(Order::f));
  CHECK_FALSE(a.slice(2, 0, 2, 2).is_contiguous());
  CHECK_FALSE(a.flip(0).is_contiguous());
  CHECK(a.slice(0, 0, 0).is_contiguous());
  CHECK(Array::scalar(1).is_contiguous());
}

TEST_CASE("the address range covers every element") {
  const Array a = counting({4, 5});
  const auto* first = static_cast<const std::byte*>(a.data());
  CHECK(a.byte_range() == std::pair{first, first + 80});
  CHECK(a.flip(0).flip(1).byte_range() == a.byte_range());
  CHECK(a.slice(1, 1, 2, 2).byte_range() == std::pair{first + 4, first + 76});
  CHECK(a.slice(0, 0, 0).byte_range() == std::pair{first, first});
}

TEST_CASE("overlap between arrays") {
  const Array a = counting({4, 6});
  CHECK(a.overlaps(a.transpose()));
  CHECK_FALSE(a.overlaps(a.copy()));
  CHECK_FALSE(a.slice(0, 0, 2).overlaps(a.slice(0, 2, 2)));
  CHECK(a.slice(0, 0, 3).overlaps(a.slice(0, 2, 2)));
  CHECK_FALSE(a.slice(1, 0, 3, 2).overlaps(a.slice(1, 1, 3, 2)));
  CHECK_FALSE(a.slice(1, 1, 3, 2).overlaps(a.slice(1, 4, 3, -2)));
  CHECK(a.slice(1, 0, 3, 2).overlaps(a.slice(1, 4, 2)));
  CHECK_FALSE(a.overlaps(a.slice(0, 0, 0)));
  CHECK(a.overlaps(View(static_cast<std::byte*>(a.data()) + 5, u8, {1})));
}

TEST_CASE("overlap within an array") {
  const Array a = counting({4, 6});
  CHECK_FALSE(a.is_self_overlapping());
  CHECK_FALSE(a.transpose().flip(0).is_self_overlapping());
  CHECK_FALSE(a.slice(1, 0, 3, 2).is_self_overlapping());
  CHECK(a.slice(0, 0, 1).broadcast_to({4, 6}).is_self_overlapping());
  CHECK_FALSE(a.slice(0, 0, 1).broadcast_to({1, 6}).is_self_overlapping());
  CHECK(View(a.data(), f32, {4, 3}, {1, 1}).is_self_overlapping());
  CHECK(View(a.data(), f32, {4, 3}, {-2, 1}).is_self_overlapping());
  CHECK_FALSE(View(a.data(), f32, {4, 2}, {-2, 1}).is_self_overlapping());
  CHECK_FALSE(View(a.data(), f32, {0, 3}, {0, 0}).is_self_overlapping());
}

TEST_CASE("any dtype can be read and written by index") {
  const Array a(f16, {2, 2});
  a.set({1, 0}, Scalar(0.1));
  CHECK(a.get({1, 0}) == Scalar::of(f16, 0.1));
  CHECK(a.flip(0).get({0, 0}) == Scalar::of(f16, 0.1));
}

TEST_CASE("borrowed memory") {
  float values[] = {1, 2, 3, 4};
  const Array a = Array::borrow(View(values, f32, {2, 2}));
  a.at<float>({1, 1}) = 5;
  CHECK(values[3] == 5);
  const float* constant = values;
  CHECK_FALSE(View(constant, f32, {4}).is_writable());
  CHECK(View(constant, f32, {2}, {-2}).read_only().rank() == 1);
  auto owner = std::make_shared<int>(1);
  const Array owned = Array::borrow(View(owner.get(), i32, {}), owner);
  CHECK(owner.use_count() == 2);
}

TEST_CASE("what a caller can get wrong with elements") {
  const Array a = counting({2, 3});
  CHECK(error_text([&] { a.data<double>(); }) == "dtype: the elements are f32, asked for as f64");
  CHECK(error_text([&] { a.to_vector<int>(); }) == "dtype: the elements are f32, asked for as i32");
  CHECK(error_text([&] { a.read_only().at<float>({0, 0}); }) ==
        "usage: the array is read-only\n  use data<const T>() or at<const T>() to read, copy() to get one to write to");
  CHECK(error_text([&] { a.at<float>({0}); }) == "shape: an array of shape [2, 3] needs 2 indices, got [0]");
  CHECK(error_text([&] { counting({4}).at<float>({0, 1}); }) == "shape: an array of shape [4] needs 1 index, got [0, 1]");
  CHECK(error_text([&] { a.at<float>({0, 3}); }) == "shape: index [0, 3] is outside of shape [2, 3]");
  CHECK(error_text([&] { a.at<float>({-1, 0}); }) == "shape: index [-1, 0] is outside of shape [2, 3]");
  CHECK(error_text([&] { View(a.data(), f32, {2, 3}, {1}); }) ==
        "shape: expected one stride per axis, got shape [2, 3] and strides [1]");
  CHECK(error_text([&] { View(static_cast<void*>(nullptr), f32, {2}); }) ==
        "usage: an array of shape [2] needs memory, got a null address");
}

TEST_CASE("what a caller can get wrong with transforms") {
  const Array a = counting({2, 3});
  CHECK(error_text([&] { a.permute({0}); }) == "shape: permute: expected each of the 2 axes of shape [2, 3] once, got [0]");
  CHECK(error_text([&] { a.permute({0, -2}); }) ==
        "shape: permute: expected each of the 2 axes of shape [2, 3] once, got [0, -2]");
  CHECK(error_text([&] { a.permute({0, 2}); }) == "shape: permute: axis 2 is not an axis of shape [2, 3], expected -2 to 1");
  CHECK(error_text([&] { a.slice(2, 0, 1); }) == "shape: slice: axis 2 is not an axis of shape [2, 3], expected -2 to 1");
  CHECK(error_text([&] { a.slice(1, 0, 1, 0); }) ==
        "usage: slice: the step must not be 0\n  use broadcast_to to repeat elements");
  CHECK(error_text([&] { a.slice(1, 0, -1); }) == "shape: slice: the extent must not be negative, got -1");
  CHECK(error_text([&] { a.slice(1, 1, 3); }) ==
        "shape: slice: 3 indices from 1 in steps of 1 leave axis 1 of shape [2, 3]");
  CHECK(error_text([&] { a.slice(1, 1, 3, -1); }) ==
        "shape: slice: 3 indices from 1 in steps of -1 leave axis 1 of shape [2, 3]");
  CHECK(error_text([&] { a.slice(1, 4, 0); }) ==
        "shape: slice: 0 indices from 4 in steps of 1 leave axis 1 of shape [2, 3]");
  CHECK(error_text([&] { a.slice(1, 0, Index{1} << 62, Index{1} << 62); }) ==
        "shape: slice: 4611686018427387904 indices from 0 in steps of 4611686018427387904 leave axis 1 of shape [2, 3]");
  CHECK(error_text([&] { a.flip(-3); }) == "shape: flip: axis -3 is not an axis of shape [2, 3], expected -2 to 1");
  CHECK(error_text([&] { a.broadcast_to({3, 3}); }) ==
        "shape: broadcast_to: shape [2, 3] does not broadcast to [3, 3]\n"
        "  aligned at the last axes, extents must agree or be 1");
  CHECK(error_text([&] { a.broadcast_to({3}); }) ==
        "shape: broadcast_to: shape [2, 3] does not broadcast to [3]\n"
        "  aligned at the last axes, extents must agree or be 1");
  CHECK(error_text([&] { a.expand_dims(3); }) ==
        "shape: expand_dims: axis 3 is not an axis of shape [2, 3], expected -3 to 2");
  CHECK(error_text([&] { a.squeeze(1); }) == "shape: squeeze: axis 1 of shape [2, 3] has extent 3, expected 1");
  CHECK(error_text([&] { a.reshape_view({4}); }) ==
        "shape: reshape_view: shape [2, 3] has 6 elements but [4] has 4");
  CHECK(error_text([&] { a.transpose().reshape_view({6}); }) ==
        "usage: reshape_view: the array of shape [3, 2] and strides [1, 3] is not contiguous\n  copy(Order::c) it first");
}

TEST_CASE("slices from anywhere, however far, are refused") {
  const Array a = counting({4});
  for (const Index start : {INT64_MIN, Index{-1}, Index{4}, INT64_MAX})
    for (const Index step : {INT64_MIN, Index{-1}, Index{1}, INT64_MAX})
      CHECK(error_text([&] { a.slice(0, start, 1, step); }) == concat("shape: slice: 1 indices from ", start, " in steps of ", step, " leave axis 0 of shape [4]"));
  CHECK(a.slice(0, 3, 1, INT64_MIN).to_vector<float>() == Floats{3});
}

TEST_CASE("arrays as text: dtype, shape, a line for each row; of many elements the ends") {
  CHECK(to_text(Array::scalar(13.0f)) == "f32[] 13");
  CHECK(to_text(Array::from({0.1, -0.0, 1e300})) == "f64[3] [0.1, -0, 1e+300]");
  CHECK(to_text(Array::from(std::vector<bool>{true, false})) == "bool[2] [true, false]");
  CHECK(to_text(Array::from<std::uint8_t>({200, 0}).flip(0)) == "u8[2] [0, 200]");
  CHECK(to_text(counting({2, 3}).transpose()) == "f32[3, 2]\n[[0, 3],\n [1, 4],\n [2, 5]]");
  CHECK(to_text(counting({2, 2, 1})) == "f32[2, 2, 1]\n[[[0],\n  [1]],\n\n [[2],\n  [3]]]");
  CHECK(to_text(Array(f32, {1000000000, 0})) == "f32[1000000000, 0] []");
  CHECK(to_text(counting({1001})) == "f32[1001] [0, 1, 2, .., 998, 999, 1000]");
  CHECK(to_text(counting({8, 200}).slice(1, 0, 200)) ==
        "f32[8, 200]\n[[0, 1, 2, .., 197, 198, 199],\n [200, 201, 202, .., 397, 398, 399],\n [400, 401, 402, .., 597, 598, 599],\n ..,\n"
        " [1000, 1001, 1002, .., 1197, 1198, 1199],\n [1200, 1201, 1202, .., 1397, 1398, 1399],\n [1400, 1401, 1402, .., 1597, 1598, 1599]]");
  std::ostringstream out;
  out << Array::from<float>({1, 2});
  CHECK(out.str() == "f32[2] [1, 2]");
}
