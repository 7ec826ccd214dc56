// Deep recursion, several at once, and what happens to exceptions.
#include "code/large_stacks.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>

#include <doctest/doctest.h>

using namespace weft;

namespace {

// Takes some 200 bytes of stack for each level.
[[gnu::noinline]] long sum_to(long n) {
  volatile long kept[16] = {n};
  return n == 0 ? 0 : sum_to(n - 1) + kept[0];
}

std::vector<std::function<void()>> all(int count, const std::function<void(int)>& work) {
  std::vector<std::function<void()>> works;
  for (int k = 0; k < count; ++k) works.push_back([=] { work(k); });
  return works;
}

}  // namespace

TEST_CASE("each has a stack that takes a million calls, again and again") {
  constexpr long deep = 1000000;
  for (int count : {0, 1, 3}) {
    std::vector<long> sums(static_cast<std::size_t>(count));
    for (int again = 0; again < 3; ++again) {
      on_large_stacks(all(count, [&](int k) { sums[static_cast<std::size_t>(k)] = sum_to(deep + k); }));
      for (int k = 0; k < count; ++k) CHECK(sums[static_cast<std::size_t>(k)] == (deep + k) * (deep + k + 1) / 2);
    }
  }
}

TEST_CASE("work may begin more of it, and threads that do have stacks of their own") {
  std::atomic<long> total{0};
  const auto nested = [&] { on_large_stacks(all(2, [&](int) { on_large_stacks(all(2, [&](int) { total += sum_to(100000); })); })); };
  std::thread first(nested), second(nested);
  first.join();
  second.join();
  CHECK(total == 8 * (100000L * 100001 / 2));
}

TEST_CASE("what the first fails with is thrown, after all have ended") {
  for (int failing : {0, 1, 2}) {
    std::atomic<int> ended{0};
    const auto works = all(3, [&](int k) {
      ++ended;
      if (k >= failing) throw std::runtime_error("work " + std::to_string(k));
    });
    std::string what;
    try { on_large_stacks(works); } catch (const std::runtime_error& error) { what = error.what(); }
    CHECK(what == "work " + std::to_string(failing));
    CHECK(ended == 3);
  }
}
