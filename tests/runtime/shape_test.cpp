#include <weft/shape.h>

#include <doctest/doctest.h>

#include "error_text.h"

using namespace weft;

TEST_CASE("the number of elements is the product of the sizes") {
  CHECK(element_count({}) == 1);
  CHECK(element_count({3, 4}) == 12);
  CHECK(element_count({3, 0}) == 0);
  CHECK(element_count({Index{1} << 40, Index{1} << 20}) == Index{1} << 60);
  CHECK(element_count({Index{1} << 40, Index{1} << 40, 0}) == 0);
  CHECK(error_text([] { element_count({3, -1}); }) == "shape: sizes must not be negative, got [3, -1]");
  CHECK(error_text([] { element_count({0, -1}); }) == "shape: sizes must not be negative, got [0, -1]");
  CHECK(error_text([] { element_count({4294967296, 4294967296}); }) ==
        "shape: the number of elements of [4294967296, 4294967296] does not fit 64 bits");
}

TEST_CASE("strides of both orders") {
  CHECK(contiguous_strides({}, Order::c) == Dims{});
  CHECK(contiguous_strides({2, 3, 4}, Order::c) == Dims{12, 4, 1});
  CHECK(contiguous_strides({2, 3, 4}, Order::f) == Dims{1, 2, 6});
  CHECK(contiguous_strides({2, 0, 4}, Order::c) == Dims{4, 4, 1});
}

TEST_CASE("sizes and orders as text") {
  CHECK(to_text(Dims{}) == "[]");
  CHECK(to_text(Dims{2, -3}) == "[2, -3]");
  CHECK(std::string(to_text(Order::c)) + to_text(Order::f) == "cf");
}
