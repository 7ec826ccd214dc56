// weft_bench --table [--filter=TEXT]   prints the comparison as a markdown table
// weft_bench                           the same contestants as Google Benchmark's own benchmarks, with its flags
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string_view>

#include <benchmark/benchmark.h>

#include "hand.h"
#include "race.h"
#include "workload.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

weft::Options with(int threads) {
  weft::Options options;
  options.threads = threads;
  return options;
}

// The largest difference between what two contestants wrote, over the largest element, worst over the outputs.
double difference(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < a[k].size(); ++i) {
      largest = std::max<double>(largest, std::abs(b[k][i]));
      apart = std::max<double>(apart, std::isfinite(a[k][i]) ? std::abs(a[k][i] - b[k][i]) : INFINITY);
    }
    worst = std::max(worst, apart == 0 ? 0 : apart / largest);
  }
  return worst;
}

template <class Run> std::vector<std::vector<float>> written(const Workload& work, const Run& run) {
  for (const Array& output : work.outputs) output.fill(weft::Scalar(-7.0f));
  run();
  std::vector<std::vector<float>> values;
  for (const Array& output : work.outputs) values.push_back(output.to_vector<float>());
  return values;
}

bool agree(const Workload& work, const weft::Call& call, const Team& team) {
  const auto weft_values = written(work, call);
  const double hand = difference(weft_values, written(work, [&] { work.hand(team); }));
  const double eigen = difference(weft_values, written(work, work.eigen));
  // Eigen's own full sums of f32 are less accurate than the tolerance of the others.
  if (hand <= work.tolerance && eigen <= 10 * work.tolerance) return true;
  std::fprintf(stderr, "%s: weft differs from the hand-written loop by %g, from Eigen by %g, allowed %g\n", work.name.c_str(), hand, eigen, work.tolerance);
  return false;
}

// Build, compile and bind in a warm process: the median of five.
double compile_seconds(const Workload& work, int threads) {
  std::vector<double> times;
  for (int k = 0; k < 5; ++k) {
    const auto start = Clock::now();
    work.compile(with(threads)).bind(work.inputs, work.outputs);
    times.push_back(seconds_since(start));
  }
  return median(times);
}

std::string cell(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string microseconds(double seconds) { return cell(seconds < 1e-5 ? "%.2f" : seconds < 1e-3 ? "%.1f" : "%.0f", seconds * 1e6); }

int table(std::string_view filter) {
  bool right = true;
  std::printf("| workload | threads | weft us | hand us | Eigen us | hand/weft | Eigen/weft | compile ms |\n"
              "|---|---|---|---|---|---|---|---|\n");
  for (const Entry& entry : workloads()) {
    if (entry.name.find(filter) == std::string::npos) continue;
    const Workload work = entry.make();
    for (int threads : {1, 2}) {
      const weft::Call call = work.compile(with(threads)).bind(work.inputs, work.outputs);
      const Team team(threads);
      right &= agree(work, call, team);
      const auto times = race({[&] { call(); }, [&] { work.hand(team); }, work.eigen}, threads, 1);
      std::printf("| %s | %d | %s | %s | %s | %.2f | %.2f | %.1f |\n", work.name.c_str(), threads, microseconds(times[0]).c_str(), microseconds(times[1]).c_str(),
                  microseconds(times[2]).c_str(), times[1] / times[0], times[2] / times[0], compile_seconds(work, threads) * 1e3);
      std::fflush(stdout);
    }
  }
  if (std::string_view("bind").find(filter) != std::string_view::npos) {
    const Array x = Array(weft::f32, {16}), y = Array(weft::f32, {16}), out(weft::f32, {16});
    weft::Graph g;
    const auto a = g.input("a", weft::f32, {"n"}), b = g.input("b", weft::f32, {"n"});
    const weft::Call call = weft::compile({1.5 * a + b}, {a, b}, with(1)).bind({x, y}, {out});
    float* const data[] = {x.data<float>(), y.data<float>(), out.data<float>()};
    const auto times = race({[&] { for (int k = 0; k < 1000; ++k) call(); },
                             [&] { for (int k = 0; k < 1000; ++k) hand::axpy(data[0], data[1], data[2], 0, 16, false); }}, 1, 0.3);
    std::printf("\nbound call, axpy of 16 elements: %.1f ns; hand-written function: %.1f ns\n", times[0] * 1e6, times[1] * 1e6);
  }
  std::printf("Eigen runs on one thread.%s\n", right ? "" : " SOME RESULTS DIFFER.");
  return right ? 0 : 1;
}

void register_all() {
  for (const Entry& entry : workloads()) {
    auto name = [&](const char* who, int threads) { return entry.name + "/" + who + "/" + std::to_string(threads); };
    for (int threads : {1, 2}) {
      benchmark::RegisterBenchmark(name("weft", threads).c_str(), [=](benchmark::State& state) {
        const Workload work = entry.make();
        const weft::Call call = work.compile(with(threads)).bind(work.inputs, work.outputs);
        for (auto step : state) { static_cast<void>(step); call(); }
      })->UseRealTime();
      benchmark::RegisterBenchmark(name("hand", threads).c_str(), [=](benchmark::State& state) {
        const Workload work = entry.make();
        const Team team(threads);
        for (auto step : state) { static_cast<void>(step); work.hand(team); }
      })->UseRealTime();
    }
    benchmark::RegisterBenchmark(name("eigen", 1).c_str(), [=](benchmark::State& state) {
      const Workload work = entry.make();
      for (auto step : state) { static_cast<void>(step); work.eigen(); }
    })->UseRealTime();
  }
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  bool table = false;
  std::string filter;
  for (int k = 1; k < count; ++k) {
    const std::string_view word = words[k];
    if (word == "--table") table = true;
    if (word.starts_with("--filter=")) filter = word.substr(9);
  }
  if (table) return bench::table(filter);
  bench::register_all();
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
