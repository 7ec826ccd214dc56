// A parallel loop over independent units.
//
//   ThreadPool pool(4);                                         // the calling thread and 3 workers
//   pool.run(units, smallest, [&](Index begin, Index end) { .. });   // returns when every unit is done
//
// Every thread has a share of its own, the same in all loops of as many units, so that it finds again what its caches hold, and
// then helps the others. It claims slices: large ones first, never smaller than `smallest` units but for a whole share. The caller
// works too and waits only for slices that somebody has already begun, so nested calls and calls from several threads
// at once cannot block each other. The work must not throw. The threads are those of Eigen's non-blocking ThreadPool; a worker looks for
// the next loop for 200 us before it sleeps.
//
// Thread-safe. Cost of a loop on two threads, work apart: two small allocations and 1.5 us where the loop before ended within those 200 us, else 14 us,
// or 80 where the core has gone to sleep too (medians, AMD Zen 5, a virtual machine); 50 ns per slice.
#pragma once
#include <memory>

#include <weft/shape.h>

namespace weft {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // at least 1, the caller included
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  // Calls work(begin, end) on disjoint slices that cover [0, units) once, on at most `wanted` threads. They begin at multiples of `multiple`.
  // Unless it is worth waking for, a loop that comes long after the one before runs on the caller alone; where loops follow each other, the
  // second wakes the workers, and they stay awake.
  template <class Work> void run(Index units, Index smallest, const Work& work, Index wanted = 1 << 20, Index multiple = 1, bool worth_waking = true) const {
    run({units, smallest, multiple, wanted, worth_waking}, [](const void* context, Index begin, Index end) {
      (*static_cast<const Work*>(context))(begin, end);
    }, &work);
  }

 private:
  using Call = void (*)(const void* context, Index begin, Index end);
  struct Loop {
    Index units, smallest, multiple, wanted;
    bool worth_waking;
  };
  void run(Loop loop, Call call, const void* context) const;
  struct Workers;
  int threads_;
  std::unique_ptr<Workers> workers_;
};

// The pool of so many threads that the whole process shares: made by the first who asks, ended by the last who lets it go. Functions that are called
// in turn keep the same workers awake instead of each their own.
std::shared_ptr<const ThreadPool> shared_pool(int threads);

int hardware_threads();  // at least 1

}  // namespace weft
