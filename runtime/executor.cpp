#include <weft/executor.h>

#include <algorithm>

#include <weft/error.h>
#include <weft/memory.h>

namespace weft {

namespace {

// The scratch of this thread. Kernels never call back into weft, so at most one stage per thread uses it at a time.
std::byte* scratch_of_thread(Index bytes) {
  struct Scratch {
    std::shared_ptr<void> memory;
    Index bytes = 0;
  };
  thread_local Scratch scratch;
  if (bytes > scratch.bytes) {
    scratch.memory.reset();
    scratch.bytes = 0;                                       // if there is no memory
    scratch.memory = allocate(static_cast<std::size_t>(bytes));
    scratch.bytes = bytes;
  }
  return static_cast<std::byte*>(scratch.memory.get());
}

Index value_of(int position, const Index* sizes, Index otherwise) { return position < 0 ? otherwise : sizes[position]; }

Index work_of_unit(const Stage& stage, const Index* sizes) { return std::max<Index>(value_of(stage.unit_work, sizes, 0), 0); }

bool needs_scratch(const Stage& stage, const Index* sizes) { return value_of(stage.scratch, sizes, 0) > 0; }

void run_slice(const Stage& stage, void* const* slots, const Index* sizes, Index begin, Index end) {
  const Index bytes = value_of(stage.scratch, sizes, 0);
  run_units(stage, slots, sizes, begin, end, bytes > 0 ? scratch_of_thread(bytes) : nullptr);
}

}  // namespace

static double beside(Index slice_work) { return 4.0 * static_cast<double>(slice_work); }

double parallel_from(const ThreadCosts& costs, Index slice_work) { return costs.parallel_from + beside(slice_work); }

Sharing sharing_of(Index units, Index unit_work, int threads, const ThreadCosts& costs, Index slice_work) {
  const double work = static_cast<double>(units) * static_cast<double>(unit_work);
  if (units <= 1 || threads == 1 || work <= 0 || work < parallel_from(costs, slice_work)) return {.threads = 1};
  return {.smallest = std::max<Index>(1, (costs.slice_from + static_cast<Index>(beside(slice_work))) / unit_work),
          .threads = static_cast<int>(std::clamp(work / costs.worker_from, 2.0, static_cast<double>(threads))),
          .worth_waking = work >= costs.wake_from};
}

void SerialExecutor::run(const Stage& stage, void* const* slots, const Index* sizes) const {
  run_slice(stage, slots, sizes, 0, value_of(stage.units, sizes, 1));
}

bool SerialExecutor::only_calls(const Stage& stage, const Index* sizes) const { return !needs_scratch(stage, sizes); }

ThreadExecutor::ThreadExecutor(int threads, const ThreadCosts& costs) : threads_(threads), costs_(costs) {
  WEFT_REQUIRE(threads >= 1, usage, "an executor needs at least 1 thread, got ", threads);
}

void ThreadExecutor::run(const Stage& stage, void* const* slots, const Index* sizes) const {
  const Index units = value_of(stage.units, sizes, 1);
  Sharing sharing = sharing_of(units, work_of_unit(stage, sizes), threads_, costs_, stage.slice_work);
  if (sharing.threads == 1) return run_slice(stage, slots, sizes, 0, units);
  sharing.multiple = stage.together;
  if (needs_scratch(stage, sizes)) scratch_of_thread(value_of(stage.scratch, sizes, 0));   // throws here: amid slices it must not
  std::call_once(started_, [&] { pool_ = shared_pool(threads_); });
  pool_->run(units, sharing, [&](Index begin, Index end) { run_slice(stage, slots, sizes, begin, end); });
}

bool ThreadExecutor::only_calls(const Stage& stage, const Index* sizes) const {
  return !needs_scratch(stage, sizes) && sharing_of(value_of(stage.units, sizes, 1), work_of_unit(stage, sizes), threads_, costs_, stage.slice_work).threads == 1;
}

std::shared_ptr<Executor> make_executor(int threads, const ThreadCosts& costs) {
  WEFT_REQUIRE(threads >= 0, usage, "threads must be 0 (one for each processor that the caller may run on) or more, got ", threads);
  const int count = threads == 0 ? hardware_threads() : threads;
  if (count == 1) return std::make_shared<SerialExecutor>();
  return std::make_shared<ThreadExecutor>(count, costs);
}

}  // namespace weft
