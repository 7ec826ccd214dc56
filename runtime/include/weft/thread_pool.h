// A parallel loop over independent units.
//
//   ThreadPool pool(4);                                         // the calling thread and 3 workers
//   pool.run(units, {.smallest = 16}, [&](Index begin, Index end) { .. });   // returns when every unit is done
//
// Every thread has a share of its own, the same in all loops of as many units, so that it finds again what its caches hold, and
// then helps the others. The share is that of the processor which the thread is on: threads that the system moves take it over from each
// other. A thread claims slices: large ones first, never smaller than `smallest` units but for a whole share. The caller
// works too and waits only for slices that somebody has already begun, so nested calls and calls from several threads
// at once cannot block each other. The work must not throw. The threads are those of Eigen's non-blocking ThreadPool; a worker looks for
// the next loop for 200 us before it sleeps, unless threads outnumber the processors that whoever made the pool may run on.
//
// Thread-safe. Cost of a loop on two threads, work apart: two small allocations and 1.5 us where the loop before ended within those 200 us, else 14 us,
// or 80 where the core has gone to sleep too (medians, AMD Zen 5, a virtual machine); 50 ns per slice.
#pragma once
#include <limits>
#include <memory>

#include <weft/shape.h>

namespace weft {

// How the units of a loop are shared out.
struct Sharing {
  Index smallest = 1;                               // units in a slice, at least
  Index multiple = 1;                               // slices begin at multiples of it
  int threads = std::numeric_limits<int>::max();    // at most, the caller included
  // Unless it is worth waking for, a loop that comes long after the one before runs on the caller alone; where loops follow each other, the
  // second wakes the workers, and they stay awake.
  bool worth_waking = true;
};

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // at least 1, the caller included
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }
  // Calls work(begin, end) on disjoint slices that cover [0, units) once.
  template <class Work> void run(Index units, const Sharing& sharing, const Work& work) const {
    run(units, sharing, [](const void* context, Index begin, Index end) { (*static_cast<const Work*>(context))(begin, end); }, &work);
  }

 private:
  using Call = void (*)(const void* context, Index begin, Index end);
  void run(Index units, Sharing sharing, Call call, const void* context) const;
  struct Workers;
  int threads_;
  std::unique_ptr<Workers> workers_;
};

// The pool of so many threads that the whole process shares: made by the first who asks, ended by the last who lets it go. Functions that are called
// in turn keep the same workers awake instead of each their own.
std::shared_ptr<const ThreadPool> shared_pool(int threads);

int hardware_threads();  // processors that the calling thread may run on; at least 1

}  // namespace weft
