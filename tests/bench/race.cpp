#include "race.h"

#include <algorithm>
#include <chrono>
#include <ctime>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// One thread is timed by its own processor time, which neighbours that preempt it do not lengthen.
double now(int threads) {
  timespec time{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> race(const std::vector<std::function<void()>>& contestants, int threads, double budget, double batch) {
  std::vector<int> calls;
  for (const auto& run : contestants) {
    run();
    int count = 0;
    for (const auto start = Clock::now(); seconds_since(start) < batch; ++count) run();
    calls.push_back(count);
  }
  std::vector<std::vector<double>> times(contestants.size());
  for (const auto start = Clock::now(); times[0].size() < 7 || seconds_since(start) < budget;)
    for (std::size_t k = 0; k < contestants.size(); ++k) {
      const double begin = now(threads);
      for (int call = 0; call < calls[k]; ++call) contestants[k]();
      times[k].push_back((now(threads) - begin) / calls[k]);
    }
  std::vector<double> medians;
  for (const auto& each : times) medians.push_back(median(each));
  return medians;
}

}  // namespace bench
