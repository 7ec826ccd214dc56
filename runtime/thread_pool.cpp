#include <weft/thread_pool.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#define EIGEN_USE_THREADS
#include <unsupported/Eigen/CXX11/ThreadPool>

#include <weft/error.h>

namespace weft {

namespace {

void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// One parallel loop. Counted by reference: a worker that wakes up after the loop is over finds nothing left to claim
// and only drops its reference, so the caller need not wait for workers that never began.
struct Job {
  Index units;
  Index smallest;
  Index multiple;  // of so many units are all slices but the last
  Index shares;    // 2 x threads that take part
  void (*call)(const void* context, Index begin, Index end);
  const void* context;
  std::atomic<Index> next{0};
  std::atomic<Index> done{0};
  std::atomic<int> references;

  // Half of a fair share of what is left: big slices while there is much to do, small ones to end together.
  bool claim(Index& begin, Index& end) {
    begin = next.load(std::memory_order_relaxed);
    do {
      if (begin >= units) return false;
      const Index share = std::max(smallest, (units - begin) / shares);
      end = std::min(units, begin + (share + multiple - 1) / multiple * multiple);
    } while (!next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    return true;
  }
  void work() {
    Index finished = 0;
    for (Index begin = 0, end = 0; claim(begin, end); finished += end - begin) call(context, begin, end);
    if (finished > 0 && done.fetch_add(finished, std::memory_order_acq_rel) + finished == units) done.notify_all();
  }
  // What others have begun mostly ends within the time that sleeping and waking take: that long, the caller looks.
  void wait() {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    for (Index seen = done.load(std::memory_order_acquire); seen != units; seen = done.load(std::memory_order_acquire)) {
      if (Clock::now() - start < std::chrono::microseconds(50)) pause();
      else done.wait(seen, std::memory_order_acquire);
    }
  }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

}  // namespace

struct ThreadPool::Workers {
  // A worker without work looks for more for some tens of microseconds, one of them at a time, and then sleeps: calls that follow each other find it
  // awake. Waking it would take longer than many loops do.
  explicit Workers(int count) : pool(count, true) {}
  Eigen::ThreadPool pool;
};

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  WEFT_REQUIRE(threads >= 1, usage, "a thread pool needs at least 1 thread, got ", threads);
  if (threads > 1) workers_ = std::make_unique<Workers>(threads - 1);
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::run(Index units, Index smallest, Index multiple, Index wanted, Call call, const void* context) const {
  if (units <= 0) return;
  smallest = std::max({smallest, multiple, Index{1}});
  const Index slices = (units + smallest - 1) / smallest;
  const int helpers = static_cast<int>(std::min({Index{threads_}, slices, wanted})) - 1;
  if (helpers <= 0) return call(context, 0, units);
  Job* job = new Job{units, smallest, multiple, 2 * Index{helpers + 1}, call, context, {}, {}, helpers + 1};
  for (int i = 0; i < helpers; ++i)
    workers_->pool.Schedule([job] {
      job->work();
      job->release();
    });
  job->work();
  job->wait();
  job->release();
}

int hardware_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace weft
