// Shared by the scans.
#pragma once
#include <atomic>
#include <bit>
#include <thread>

#include "kernel.h"
#include "scan.h"

namespace weft::math_test {

// Calls make() in each of two threads, and what it returned on blocks 0, 1, .. count - 1, each once.
template <class Make> Worst over_blocks(uint64_t count, const Make& make) {
  std::atomic<uint64_t> next = 0;
  Worst worst[2];
  const auto work = [&](Worst& mine) {
    auto visit = make();
    for (uint64_t k; (k = next++) < count;) visit(k, mine);
  };
  std::thread other([&] { work(worst[1]); });
  work(worst[0]);
  other.join();
  worst[0].merge(worst[1]);
  return worst[0];
}

// The same bits, or both NaN.
template <class T> bool same_bits(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (a != a && b != b);
}

std::string at_text(const char* name, double x);
std::string at_text(const char* name, double x, double y);

}  // namespace weft::math_test
