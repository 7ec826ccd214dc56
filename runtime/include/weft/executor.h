// Runs the stages of a Kernel: serially, or on several threads. Other transports can be written against this interface: they give slices of a
// stage's units to run_units (weft/kernel.h).
//
//   std::shared_ptr<Executor> executor = make_executor(4);
//   executor->run(kernel, slots, sizes);
//
// A stage's units are independent and what a unit covers does not depend on the executor, so the results are the same
// bits for any number of threads. Kernels cannot throw: everything is checked before launch, and machine code has no
// way to. Scratch memory is one buffer per thread, kept until the thread ends and grown when a stage asks for more;
// a worker that cannot get its scratch ends the program, so stages ask for little (tiles and some rows, not arrays).
//
// Thread-safe: one executor may run many kernels from many threads at once. Executors of as many threads share
// their workers, which may run where the thread could that ran the first parallel loop on them: who binds threads to
// processors does so after that. Cost: the serial path allocates nothing once a thread's scratch is large enough.
#pragma once
#include <memory>
#include <mutex>

#include <weft/kernel.h>
#include <weft/thread_pool.h>

namespace weft {

class Executor {
 public:
  virtual ~Executor() = default;
  virtual void run(const Stage& stage, void* const* slots, const Index* sizes) const = 0;
  virtual int threads() const = 0;
  // Whether run() would do no more than call the stage once, on this thread and without scratch: who knows may call it instead.
  virtual bool only_calls(const Stage&, const Index*) const { return false; }
  void run(const Kernel& kernel, void* const* slots, const Index* sizes) const {
    for (const Stage& stage : kernel.stages) run(stage, slots, sizes);
  }
};

// When threads are worth it, in nanoseconds of estimated work. A worker that looks for the next loop has begun within 1 us: of 2.8 us that were estimated at
// 7 two threads take 2.1, of 4.2 (11) 2.3. One that sleeps costs the caller 8 to 35 us and begins up to 80 us later: 23 us (55) take 30, 51 (90) take
// 47 (AMD Zen 5, a virtual machine). It is woken by less work than `wake_from` only where loops follow each other. Claiming a slice costs 50 ns: small
// slices cost little, and on a busy machine they let the caller do the work of a worker that comes late.
struct ThreadCosts {
  double parallel_from = 4e3;   // total work below which the caller is alone
  double worker_from = 2e3;     // work per thread that takes part
  Index slice_from = 1500;      // work per slice
  double wake_from = 60e3;      // total work that wakes those who sleep, however long ago the last loop was
};

// Work below which the caller is alone, where each slice takes so many nanoseconds for what it makes first: a fifth of its work at most.
double parallel_from(const ThreadCosts& costs, Index slice_work);

// How these threads share so many units of so many nanoseconds each, where each slice takes so many more. One thread: the caller alone.
Sharing sharing_of(Index units, Index unit_work, int threads, const ThreadCosts& costs, Index slice_work = 0);

class SerialExecutor final : public Executor {
 public:
  using Executor::run;
  void run(const Stage& stage, void* const* slots, const Index* sizes) const override;
  int threads() const override { return 1; }
  bool only_calls(const Stage& stage, const Index* sizes) const override;
};

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(int threads, const ThreadCosts& costs = {});  // workers start when a stage first has enough work for them
  using Executor::run;
  void run(const Stage& stage, void* const* slots, const Index* sizes) const override;
  int threads() const override { return threads_; }
  bool only_calls(const Stage& stage, const Index* sizes) const override;

 private:
  int threads_;
  ThreadCosts costs_;
  mutable std::once_flag started_;
  mutable std::shared_ptr<const ThreadPool> pool_;
};

// 1: serial; 0: as many threads as hardware_threads(); n: n threads, the caller included.
std::shared_ptr<Executor> make_executor(int threads, const ThreadCosts& costs = {});

}  // namespace weft
