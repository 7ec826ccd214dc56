// How work grows with its size, in processor time: unlike time on the clock it hardly depends on what else the machine does.
#pragma once
#include <algorithm>
#include <ctime>

#include <doctest/doctest.h>

// The least of three runs, in seconds.
template <class Work> double processor_seconds(const Work& work) {
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t start = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

// `small` and `large` do the same for one and for ten units: ten times the time is linear, a hundred times quadratic. The
// caches, and the resolution of the clock, get the rest.
template <class Small, class Large> void check_grows_linearly(const Small& small, const Large& large) {
  const double one = processor_seconds(small), ten = processor_seconds(large);
  CAPTURE(one);
  CAPTURE(ten);
  CHECK(ten <= 40 * one + 0.005);
}
