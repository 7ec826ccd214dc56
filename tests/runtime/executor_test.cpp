#include <weft/executor.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "error_text.h"

using namespace weft;

namespace {

// A stage that counts in slot 0 how often each unit ran, and in slot 1 how many slices there were.
// sizes: units, nanoseconds per unit, bytes of scratch.
void count_units(void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch) {
  auto* runs = static_cast<std::atomic<int>*>(slots[0]);
  ++*static_cast<std::atomic<int>*>(slots[1]);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(scratch) % 64 == 0;
  if (sizes[2] == 0 ? scratch != nullptr : !is_aligned) return;
  for (Index i = 0; i < sizes[2]; ++i) scratch[i] = static_cast<std::byte>(begin);
  for (Index i = begin; i < end; ++i) ++runs[i];
  for (Index i = 0; i < sizes[2]; ++i)
    if (scratch[i] != static_cast<std::byte>(begin)) runs[begin] = 1000;  // somebody else wrote to it
}

Stage counting_stage() {
  Stage stage;
  stage.run = count_units;
  stage.units = 0;
  stage.unit_work = 1;
  stage.scratch = 2;
  return stage;
}

struct Counted {
  bool all_once;
  int slices;
};
Counted run_counting(const Executor& executor, Index units, Index work, Index scratch, const Stage& stage) {
  const std::unique_ptr<std::atomic<int>[]> runs(new std::atomic<int>[units + 1]());
  std::atomic<int> slices{0};
  void* slots[] = {runs.get(), &slices};
  const Index sizes[] = {units, work, scratch};
  executor.run(stage, slots, sizes);
  const Index expected = stage.units < 0 ? 1 : units;
  return {std::all_of(&runs[0], &runs[expected], [](const auto& count) { return count == 1; }), slices};
}

}  // namespace

TEST_CASE("every unit of a stage runs exactly once for 1 to 8 threads") {
  for (int threads = 1; threads <= 8; ++threads) {
    const std::shared_ptr<Executor> executor = make_executor(threads);
    CHECK(executor->threads() == threads);
    for (const Index units : {0, 1, 2, 63, 1000})
      for (const Index work : {0, 10, 5000, 100000})
        for (const Index scratch : {0, 1, 4096}) {
          CAPTURE(units);
          CAPTURE(work);
          REQUIRE(run_counting(*executor, units, work, scratch, counting_stage()).all_once);
        }
  }
}

TEST_CASE("little work, unknown work and a single unit stay on the calling thread") {
  const std::shared_ptr<Executor> executor = make_executor(4);
  CHECK(run_counting(*executor, 1000, 10, 0, counting_stage()).slices == 1);
  CHECK(run_counting(*executor, 1, 1000000, 0, counting_stage()).slices == 1);
  CHECK(run_counting(*executor, 1000, 1000, 0, counting_stage()).slices > 1);
  Stage stage = counting_stage();
  stage.unit_work = -1;
  CHECK(run_counting(*executor, 1000, 1000000, 0, stage).slices == 1);
  stage.units = -1;
  stage.scratch = -1;
  CHECK(run_counting(*executor, 7, 1000000, 0, stage).all_once);
  CHECK(run_counting(*executor, 0, 100, 64, counting_stage()).slices == 0);
}

TEST_CASE("slices carry at least 4 microseconds of estimated work") {
  const std::shared_ptr<Executor> executor = make_executor(4);
  CHECK(run_counting(*executor, 1000, 100, 0, counting_stage()).slices <= 25);
  CHECK(run_counting(*executor, 150, 100, 0, counting_stage()).slices <= 4);
}

TEST_CASE("several threads run stages on one executor") {
  const std::shared_ptr<Executor> executor = make_executor(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 100; ++i) wrong += !run_counting(*executor, 40, 20000, 512, counting_stage()).all_once;
    });
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("the stages of a kernel run in order") {
  const auto append = [](char letter) {
    return letter == 'a' ? [](void* const* slots, const Index*, Index, Index, std::byte*) {
      static_cast<std::string*>(slots[0])->push_back('a');
    } : [](void* const* slots, const Index*, Index, Index, std::byte*) { static_cast<std::string*>(slots[0])->push_back('b'); };
  };
  Kernel kernel;
  for (const char letter : {'a', 'b', 'a'}) {
    Stage stage;
    stage.run = append(letter);
    kernel.stages.push_back(stage);
  }
  for (const int threads : {1, 2}) {
    std::string text;
    void* slots[] = {&text};
    make_executor(threads)->run(kernel, slots, nullptr);
    CHECK(text == "aba");
  }
}

TEST_CASE("the number of threads") {
  CHECK(make_executor(0)->threads() == hardware_threads());
  CHECK(error_text([] { make_executor(-1); }) == "usage: threads must be 0 (one for each processor that the caller may run on) or more, got -1");
  CHECK(error_text([] { ThreadExecutor executor(0); }) == "usage: an executor needs at least 1 thread, got 0");
}

TEST_CASE("work of no estimate stays with the caller, whatever the costs") {
  const ThreadCosts any{.parallel_from = 0, .worker_from = 0, .slice_from = 0, .wake_from = 0};
  CHECK(sharing_of(5, 0, 8, any).threads == 1);
  const Sharing sharing = sharing_of(5, 10, 8, any);
  CHECK(sharing.threads == 8);
  CHECK(sharing.smallest == 1);
}

TEST_CASE("what each slice makes first is a fifth of its work at most") {
  const ThreadCosts costs{.parallel_from = 4000, .worker_from = 2000, .slice_from = 1500, .wake_from = 1e9};
  CHECK(parallel_from(costs, 0) == 4000);
  CHECK(parallel_from(costs, 1000) == 8000);
  CHECK(sharing_of(79, 100, 2, costs, 1000).threads == 1);
  const Sharing with = sharing_of(80, 100, 2, costs, 1000), without = sharing_of(80, 100, 2, costs);
  CHECK(with.threads == 2);
  CHECK(with.smallest == 55);
  CHECK(without.smallest == 15);
}

TEST_CASE("code of a stage is never called for no units, neither by executors nor by who calls run_units") {
  for (int threads : {1, 2}) CHECK(run_counting(*make_executor(threads), 0, 100000, 64, counting_stage()).slices == 0);
  std::atomic<int> runs[4] = {}, slices{0};
  void* slots[] = {runs, &slices};
  const Index sizes[] = {4, 0, 0};
  for (Index at : {0, 2, 4}) run_units(counting_stage(), slots, sizes, at, at, nullptr);
  run_units(counting_stage(), slots, sizes, 3, 1, nullptr);
  CHECK(slices == 0);
  run_units(counting_stage(), slots, sizes, 1, 2, nullptr);
  CHECK(slices == 1);
  CHECK(runs[1] == 1);
}

TEST_CASE("scratch that the system does not give is an error, and the next stage gets what it asks for") {
  for (int threads = 1; threads <= 2; ++threads) {
    const std::shared_ptr<Executor> executor = make_executor(threads);
    CHECK(run_counting(*executor, 1000, 100000, 100, counting_stage()).all_once);
    CHECK(error_text([&] { run_counting(*executor, 1000, 100000, Index{1} << 60, counting_stage()); }).find("cannot allocate 1152921504606846976 bytes") != std::string::npos);
    CHECK(run_counting(*executor, 1000, 100000, 100, counting_stage()).all_once);
  }
}
