// Which steps of memory code counts on.
#include "schedule/stride_class.h"

#include <set>
#include <string>

#include <doctest/doctest.h>

using namespace weft;

namespace {

std::string letters(const Dims& strides, const Dims& shape) {
  std::string text;
  for (StrideClass each : stride_classes(strides, shape)) text += letter_of(each);
  return text;
}

}  // namespace

TEST_CASE("small steps are known along the fastest axis alone; axes of extent 1 say nothing") {
  CHECK(letters({}, {}) == "");
  CHECK(letters({32, 1}, {10, 30}) == "*u");
  CHECK(letters({30, -1}, {10, 30}) == "*r");
  CHECK(letters({60, 2}, {10, 30}) == "*b");
  CHECK(letters({60, -2}, {10, 30}) == "*B");
  CHECK(letters({3, 90}, {30, 10}) == "c*");
  CHECK(letters({-4, 120}, {30, 10}) == "D*");
  CHECK(letters({120, 5}, {10, 24}) == "**");
  CHECK(letters({0, 4}, {10, 24}) == "zd");
  CHECK(letters({4, 2}, {3000, 2}) == "*b");
  CHECK(letters({4, 1}, {3000, 1}) == "du");
  CHECK(letters({7, 2}, {1, 1}) == "uu");
}

TEST_CASE("strides of an array without elements say nothing") {
  CHECK(letters({1, 0}, {0, 4}) == "uu");
  CHECK(letters({0, 1}, {4, 0}) == "uu");
  CHECK(letters({20, 5, 1}, {0, 4, 5}) == "uuu");
}

TEST_CASE("the axis that follows the fastest without a gap is known") {
  CHECK(letters({30, 1}, {10, 30}) == "ju");
  CHECK(letters({4, 1}, {3000, 4}) == "ju");         // rows of four elements
  CHECK(letters({3840, 3, 1}, {720, 1280, 3}) == "sju");
  CHECK(letters({3848, 3, 1}, {720, 1280, 3}) == "*ju");     // a gap behind each line
  CHECK(letters({27, 9, 3, 1}, {50, 3, 3, 3}) == "*sju");
  CHECK(letters({9, 1, 3}, {50, 3, 3}) == "suj");
  CHECK(letters({9, 2}, {50, 3}) == "*b");
  CHECK(letters({1, 10}, {10, 30}) == "uj");
  CHECK(letters({30, 1, 3}, {5, 3, 10}) == "suj");
  CHECK(letters({-4, 1}, {3000, 4}) == "*u");
  CHECK(letters({6, 2}, {3000, 3}) == "*b");         // of step 1 alone
  CHECK(letters({30, 30, 1}, {10, 1, 30}) == "juu");
  CHECK(letters({5, 1, 1}, {100, 5, 3}) == "*uu");   // windows that overlap: the last of step 1 counts
  CHECK(letters({3, 1, 1}, {100, 5, 3}) == "juu");
}

TEST_CASE("steps of steps multiply while they are small") {
  const StrideClass two = times(StrideClass::unit, 2);
  CHECK(step_of(two) == 2);
  CHECK(step_of(times(two, 2)) == 4);
  CHECK(step_of(times(two, -1)) == -2);
  CHECK(step_of(times(StrideClass::reversed, -3)) == 3);
  CHECK(times(two, 3) == StrideClass::other);
  CHECK(times(StrideClass::unit, 5) == StrideClass::other);
  CHECK(times(StrideClass::other, 0) == StrideClass::other);
  CHECK(times(StrideClass::other, 1) == StrideClass::other);
  CHECK(times(StrideClass::joined, 1) == StrideClass::joined);
  CHECK(times(StrideClass::joined, -1) == StrideClass::other);
  CHECK(times(StrideClass::joined, 2) == StrideClass::other);
  CHECK(times(StrideClass::zero, 1000) == StrideClass::zero);
}

TEST_CASE("every class has a letter of its own") {
  std::set<char> letters{letter_of(StrideClass::other), letter_of(StrideClass::joined)};
  for (Index step = -longest_step; step <= longest_step; ++step) letters.insert(letter_of(static_cast<StrideClass>(step)));
  CHECK(letters.size() == 2 * longest_step + 3);
  for (char letter : letters) CHECK((letter < '0' || letter > '9'));         // digits of a key are axes
}
