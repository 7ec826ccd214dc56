// weft_bench --table [--filter=TEXT]   prints the comparison as a markdown table
//            --csv [--filter=TEXT]     the same for machines: workload,threads,weft_ns,hand_ns,eigen_ns,compile_ms; empty: no contestant
//            --compare=FILE            a table, and how the times relate to those in FILE, the --csv of another build
//            --neighbours [--filter=TEXT] [--csv] [--threads=N]   each family of workloads beside itself with other extents, dtypes and
//                                      layouts, N threads (1): time for each byte, the worst first; --csv: in the order they are measured
//            --everyday [--filter=TEXT] [--csv] [--threads=N]     what the table does not have, each beside a copy of as many bytes
//            --products [--filter=TEXT] [--csv] [--threads=N]     products of matrices, GFLOP/s beside Eigen's
//            --lanes=N                 with any of these: weft in registers of N floats (8: as with AVX2), see weft/options.h
// weft_bench                           the same contestants as Google Benchmark's own benchmarks, with its flags
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include <benchmark/benchmark.h>

#include "everyday.h"
#include "hand.h"
#include "neighbours.h"
#include "products.h"
#include "race.h"
#include "workload.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

weft::Options with(weft::Options options, int threads) {
  options.threads = threads;
  return options;
}

using Values = std::vector<std::vector<double>>;

// The largest difference between what two contestants wrote, over the largest element, worst over the outputs.
double difference(const Values& a, const Values& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < a[k].size(); ++i) {
      largest = std::max(largest, std::abs(b[k][i]));
      apart = std::max(apart, std::isfinite(a[k][i]) ? std::abs(a[k][i] - b[k][i]) : INFINITY);
    }
    worst = std::max(worst, apart == 0 ? 0 : apart / largest);
  }
  return worst;
}

template <class Run> Values written(const Workload& work, const Run& run) {
  for (const Array& output : work.outputs) output.fill(weft::Scalar::of(output.dtype(), 77.0));
  run();
  Values values;
  for (const Array& output : work.outputs) {
    values.emplace_back();
    const auto take = [&](auto zero) {
      for (auto value : output.to_vector<decltype(zero)>()) values.back().push_back(static_cast<double>(value));
    };
    output.dtype() == weft::f64 ? take(0.0) : output.dtype() == weft::f32 ? take(0.0f) : take(std::uint8_t{0});
  }
  return values;
}

bool agree(const Workload& work, const weft::Call& call, const Team& team) {
  const Values weft_values = written(work, call);
  const double hand = work.hand ? difference(weft_values, written(work, [&] { work.hand(team); })) : 0;
  const double eigen = work.eigen ? difference(weft_values, written(work, work.eigen)) : 0;
  // Eigen's own full sums of f32 are less accurate than the tolerance of the others.
  if (hand <= work.tolerance && eigen <= 10 * work.tolerance) return true;
  std::fprintf(stderr, "%s: weft differs from the hand-written loop by %g, from Eigen by %g, allowed %g\n", work.name.c_str(), hand, eigen, work.tolerance);
  return false;
}

// Build, compile and bind in a warm process: the median of five.
double compile_seconds(const Workload& work, const weft::Options& options) {
  std::vector<double> times;
  for (int k = 0; k < 5; ++k) {
    const auto start = Clock::now();
    work.compile(options).bind(work.inputs, work.outputs);
    times.push_back(seconds_since(start));
  }
  return median(times);
}

// Seconds; 0: no such contestant.
struct Times {
  double weft = 0, hand = 0, eigen = 0, compile = 0;
};
using Key = std::pair<std::string, int>;              // workload, threads

std::string cell(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string microseconds(double seconds) { return seconds == 0 ? "-" : cell(seconds < 1e-7 ? "%.4f" : seconds < 1e-5 ? "%.2f" : seconds < 1e-3 ? "%.1f" : "%.0f", seconds * 1e6); }
std::string ratio(double a, double b) { return a == 0 || b == 0 ? "-" : cell("%.2f", a / b); }
std::string nanoseconds(double seconds) { return seconds == 0 ? "" : cell("%.6g", seconds * 1e9); }

Times measure(const Workload& work, const weft::Options& options, bool& right) {
  const weft::Call call = work.compile(options).bind(work.inputs, work.outputs);
  const Team team(options.threads);
  right &= agree(work, call, team);
  std::vector<std::function<void()>> contestants{[&] { call(); }};
  if (work.hand) contestants.push_back([&] { work.hand(team); });
  if (work.eigen) contestants.push_back(work.eigen);
  const auto times = race(contestants, options.threads, 1);
  return {times[0], work.hand ? times[1] : 0, work.eigen ? times.back() : 0, compile_seconds(work, options)};
}

// What --csv has printed.
std::map<Key, Times> read_csv(const std::string& path) {
  std::ifstream file(path);
  std::map<Key, Times> all;
  for (std::string line; std::getline(file, line);) {
    // Names may hold commas; the numbers do not.
    std::vector<std::string> fields;
    for (int k = 0; k < 5 && line.rfind(',') != std::string::npos; ++k) {
      fields.insert(fields.begin(), line.substr(line.rfind(',') + 1));
      line.resize(line.rfind(','));
    }
    if (fields.size() < 5 || fields[0] == "threads") continue;
    const auto number = [&](std::size_t k) { return fields[k].empty() ? 0 : std::stod(fields[k]); };
    all[{line, std::stoi(fields[0])}] = {number(1) * 1e-9, number(2) * 1e-9, number(3) * 1e-9, number(4) * 1e-3};
  }
  return all;
}

// How many times as fast weft has become, in time and measured by the contestants beside it, which the two builds share.
void print_change(const Times& old, const Times& now) {
  const double then_beside = old.hand > 0 ? old.hand : old.eigen, now_beside = old.hand > 0 ? now.hand : now.eigen;
  std::printf(" %s | %s |", ratio(old.weft, now.weft).c_str(), then_beside > 0 && now_beside > 0 ? cell("%.2f", old.weft / then_beside / (now.weft / now_beside)).c_str() : "-");
}

int table(std::string_view filter, bool csv, const weft::Options& options, const std::string& compared) {
  bool right = true;
  const std::map<Key, Times> before = compared.empty() ? std::map<Key, Times>() : read_csv(compared);
  if (csv) std::printf("workload,threads,weft_ns,hand_ns,eigen_ns,compile_ms\n");
  else std::printf("| workload | threads | weft us | hand us | Eigen us | hand/weft | Eigen/weft | compile ms |%s\n|---|---|---|---|---|---|---|---|%s\n",
                   compared.empty() ? "" : " before/now | the same beside others |", compared.empty() ? "" : "---|---|");
  for (const Entry& entry : workloads()) {
    if (entry.name.find(filter) == std::string::npos) continue;
    const Workload work = entry.make();
    for (int threads : {1, 2}) {
      const Times times = measure(work, with(options, threads), right);
      if (csv) {
        std::printf("%s,%d,%s,%s,%s,%.3g\n", entry.name.c_str(), threads, nanoseconds(times.weft).c_str(), nanoseconds(times.hand).c_str(), nanoseconds(times.eigen).c_str(), times.compile * 1e3);
      } else {
        std::printf("| %s | %d | %s | %s | %s | %s | %s | %.1f |", entry.name.c_str(), threads, microseconds(times.weft).c_str(), microseconds(times.hand).c_str(),
                    microseconds(times.eigen).c_str(), ratio(times.hand, times.weft).c_str(), ratio(times.eigen, times.weft).c_str(), times.compile * 1e3);
        if (auto old = before.find({entry.name, threads}); old != before.end()) print_change(old->second, times);
        std::printf("\n");
      }
      std::fflush(stdout);
    }
  }
  if (!csv) std::printf("Eigen runs on one thread.\n");
  if (!right) std::fprintf(stderr, "SOME RESULTS DIFFER.\n");
  return right ? 0 : 1;
}

void register_all() {
  for (const Entry& entry : workloads()) {
    auto name = [&](const char* who, int threads) { return entry.name + "/" + who + "/" + std::to_string(threads); };
    for (int threads : {1, 2}) {
      benchmark::RegisterBenchmark(name("weft", threads).c_str(), [=](benchmark::State& state) {
        const Workload work = entry.make();
        const weft::Call call = work.compile(with({}, threads)).bind(work.inputs, work.outputs);
        for (auto step : state) { static_cast<void>(step); call(); }
      })->UseRealTime();
      benchmark::RegisterBenchmark(name("hand", threads).c_str(), [=](benchmark::State& state) {
        const Workload work = entry.make();
        const Team team(threads);
        if (!work.hand) return state.SkipWithError("no hand-written loop");
        for (auto step : state) { static_cast<void>(step); work.hand(team); }
      })->UseRealTime();
    }
    benchmark::RegisterBenchmark(name("eigen", 1).c_str(), [=](benchmark::State& state) {
      const Workload work = entry.make();
      if (!work.eigen) return state.SkipWithError("nothing by Eigen");
      for (auto step : state) { static_cast<void>(step); work.eigen(); }
    })->UseRealTime();
  }
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  bool table = false, csv = false, neighbours = false, everyday = false, products = false;
  weft::Options options;
  options.threads = 1;
  std::string filter, compared;
  for (int k = 1; k < count; ++k) {
    const std::string_view word = words[k];
    if (word == "--table") table = true;
    if (word == "--csv") csv = true;
    if (word == "--neighbours") neighbours = true;
    if (word == "--everyday") everyday = true;
    if (word == "--products") products = true;
    if (word.starts_with("--threads=")) options.threads = std::atoi(words[k] + 10);
    if (word.starts_with("--lanes=")) options.lanes = std::atoi(words[k] + 8);
    if (word.starts_with("--filter=")) filter = word.substr(9);
    if (word.starts_with("--compare=")) compared = word.substr(10);
  }
  if (products) return bench::products(filter, csv, options);
  if (everyday) return bench::everyday(filter, csv, options);
  if (neighbours) return bench::neighbours(filter, csv, options);
  if (table || csv || !compared.empty()) return bench::table(filter, csv, options, compared);
  bench::register_all();
  benchmark::Initialize(&count, words);
  benchmark::RunSpecifiedBenchmarks();
}
