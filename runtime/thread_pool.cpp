#include <weft/thread_pool.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

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

// -1: not known.
int processor() {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

using Clock = std::chrono::steady_clock;

// How long a thread that has nothing to do looks for something before it sleeps: a few times what waking it would take. Calls that
// follow each other find the workers awake.
constexpr std::chrono::microseconds linger_time{200};

// What is left of one thread's share, on a cache line of its own.
struct alignas(64) Share {
  std::atomic<Index> next;
  Index end;
};

// One parallel loop. Counted by reference: a worker that wakes up after the loop is over finds nothing left to claim
// and only drops its reference, so the caller need not wait for workers that never began.
//
// A thread begins with the share of its processor, so that loops of as many units, one after the other or call after call, find
// what they read in the caches of the core that has it; then it helps the others.
struct Job {
  using Call = void (*)(const void* context, Index begin, Index end);
  Job(Index all, const Sharing& sharing, int threads, Call f, const void* with)
      : units(all), smallest(sharing.smallest), multiple(sharing.multiple), call(f), context(with), count(static_cast<std::size_t>(threads)), shares(new Share[count]), references(threads) {
    for (std::size_t k = 0; k < count; ++k) shares[k].next = boundary(k), shares[k].end = boundary(k + 1);
  }

  Index units;
  Index smallest;
  Index multiple;  // of so many units are all slices but the last
  Call call;
  const void* context;
  std::size_t count;
  std::unique_ptr<Share[]> shares;
  std::atomic<Index> done{0};
  std::atomic<int> references;

  Index boundary(std::size_t k) const {
    const Index steps = (units + multiple - 1) / multiple, n = static_cast<Index>(count), i = static_cast<Index>(k);
    return std::min(units, (steps / n * i + steps % n * i / n) * multiple);
  }
  // Half of what is left: big slices while there is much to do, small ones to end together.
  bool claim(Share& share, Index& begin, Index& end) const {
    begin = share.next.load(std::memory_order_relaxed);
    do {
      const Index left = share.end - begin;
      if (left <= 0) return false;
      const Index slice = (std::max(smallest, left / 2) + multiple - 1) / multiple * multiple;
      end = left - slice < smallest ? share.end : begin + slice;
    } while (!share.next.compare_exchange_weak(begin, end, std::memory_order_relaxed));
    return true;
  }
  void work(std::size_t first) {
    Index finished = 0;
    for (std::size_t k = 0; k < count; ++k)
      for (Index begin = 0, end = 0; claim(shares[(first + k) % count], begin, end); finished += end - begin) call(context, begin, end);
    if (finished > 0 && done.fetch_add(finished, std::memory_order_acq_rel) + finished == units) done.notify_all();
  }
  // The caller's, for what others have begun.
  void wait(Clock::duration awake) {
    const auto start = Clock::now();
    for (Index seen = done.load(std::memory_order_acquire); seen != units; seen = done.load(std::memory_order_acquire)) {
      if (Clock::now() - start < awake) pause();
      else done.wait(seen, std::memory_order_acquire);
    }
  }
  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

// Which processor had each share when its last loop began. A system that moves threads to other processors does not move what the caches there
// hold: half of an array that lies in the third level of two processors is read from the other's by a thread that keeps its share.
class Homes {
 public:
  explicit Homes(std::size_t threads) : processors_(threads) {
    for (auto& each : processors_) each = -1;
  }
  // With which of `count` shares this thread begins: its processor's; if that has none, the one of its own number.
  std::size_t share(std::size_t thread, std::size_t count) {
    const int here = processor();
    for (std::size_t k = 0; k < count && here >= 0; ++k)
      if (processors_[k].load(std::memory_order_relaxed) == here) return k;
    const std::size_t own = thread % count;
    processors_[own].store(here, std::memory_order_relaxed);
    return own;
  }

 private:
  std::vector<std::atomic<int>> processors_;    // by share
};

// Where a lingering worker is handed its next job, on a cache line of its own.
struct alignas(64) Mailbox {
  std::atomic<Job*> job{nullptr};  // null: nobody lingers here
  bool serves = false;             // its worker has a job or lingers; for its own eyes
};
// In a mailbox: its worker lingers.
Job* lingers() { return reinterpret_cast<Job*>(std::uintptr_t{1}); }

}  // namespace

// Eigen's pool ends the program, or waits for ever, where the system refuses one of its threads (a limit of the user's or of a container): one that was
// refused is counted, and begins nothing.
struct CountingThreads : Eigen::StlThreadEnvironment {
  struct EnvThread {
    std::thread thread;
    ~EnvThread() {
      if (thread.joinable()) thread.join();
    }
    void OnCancel() {}
  };
  explicit CountingThreads(int* count = nullptr) : refused(count) {}
  EnvThread* CreateThread(std::function<void()> work) {
    auto made = std::make_unique<EnvThread>();
    try {
      made->thread = std::thread(std::move(work));
    } catch (const std::system_error&) {
      ++*refused;
    }
    return made.release();
  }
  int* refused;
};

// A loop goes to the workers that linger, by one compare-exchange each, and only beyond those to Eigen's queues, which wake up sleepers.
struct ThreadPool::Workers {
  // Threads that share a processor take from each other what they spend looking.
  explicit Workers(int count)
      : awake(hardware_threads() > count ? linger_time : Clock::duration::zero()), mailboxes(static_cast<std::size_t>(count)), homes(mailboxes.size() + 1), pool(count, false, CountingThreads(&refused)) {}
  ~Workers() {
    ending = true;
    if (refused > 0) pool.Cancel();             // it would wait until all its threads had nothing to do
  }

  void help(Job* job, int helpers) {
    for (Mailbox& box : mailboxes) {
      if (helpers == 0) return;
      Job* expected = lingers();
      if (box.job.load(std::memory_order_relaxed) == expected && box.job.compare_exchange_strong(expected, job, std::memory_order_acq_rel)) --helpers;
    }
    if (helpers == 0) return;
    queued.fetch_add(helpers, std::memory_order_relaxed);
    for (; helpers > 0; --helpers)
      pool.Schedule([this, job] {
        queued.fetch_sub(1, std::memory_order_relaxed);
        serve(job);
      });
  }
  // Whether workers would still be awake, had they been called for the loop before.
  bool were_called_lately() const { return Clock::now().time_since_epoch() - Clock::duration(last_call.load(std::memory_order_relaxed)) < awake; }
  void note_call() { last_call.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed); }
  void work(Job* job) { job->work(homes.share(thread(), job->count)); }

  int refused = 0;                              // threads that the system did not give
  const Clock::duration awake;                  // how long those who have nothing to do look for something

 private:
  // 0 for a thread from outside.
  std::size_t thread() const { return static_cast<std::size_t>(pool.CurrentThreadId() + 1); }
  void work_and_release(Job* job) {
    work(job);
    job->release();
  }
  // A task that Eigen's queues have no room for runs at once, on the thread that brings it: one from outside, or a worker amid another job.
  void serve(Job* job) {
    const std::size_t self = thread();
    if (self == 0 || mailboxes[self - 1].serves) return work_and_release(job);
    Mailbox& box = mailboxes[self - 1];
    box.serves = true;
    for (Job* next = job; next; next = linger(box)) work_and_release(next);
    box.serves = false;
  }
  bool wanted_elsewhere() const { return queued.load(std::memory_order_relaxed) > 0 || ending.load(std::memory_order_relaxed); }
  // The next job, or null after a while and where Eigen's queues have one.
  Job* linger(Mailbox& box) {
    box.job.store(lingers(), std::memory_order_relaxed);
    const auto start = Clock::now();
    while (box.job.load(std::memory_order_relaxed) == lingers() && !wanted_elsewhere() && Clock::now() - start < awake) pause();
    Job* next = box.job.exchange(nullptr, std::memory_order_acq_rel);
    return next == lingers() ? nullptr : next;
  }

  std::vector<Mailbox> mailboxes;
  Homes homes;
  std::atomic<int> queued{0};  // tasks in Eigen's queues that nobody has begun
  std::atomic<Clock::rep> last_call{(Clock::now() - 2 * linger_time).time_since_epoch().count()};   // when the last loop ended that could use workers
  std::atomic<bool> ending{false};
  Eigen::ThreadPoolTempl<CountingThreads> pool;      // the last: it ends before what its tasks use
};

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  WEFT_REQUIRE(threads >= 1, usage, "a thread pool needs at least 1 thread, got ", threads);
  while (threads_ > 1) {
    workers_ = std::make_unique<Workers>(threads_ - 1);
    if (workers_->refused == 0) return;
    threads_ -= workers_->refused;
    workers_.reset();
  }
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::run(Index units, Sharing sharing, Call call, const void* context) const {
  if (units <= 0) return;
  sharing.smallest = std::max({sharing.smallest, sharing.multiple, Index{1}});
  const Index slices = (units + sharing.smallest - 1) / sharing.smallest;
  const int helpers = static_cast<int>(std::min<Index>({threads_, slices, sharing.threads})) - 1;
  if (helpers <= 0) return call(context, 0, units);
  if (sharing.worth_waking || workers_->were_called_lately()) {
    Job* job = new Job(units, sharing, helpers + 1, call, context);
    workers_->help(job, helpers);
    workers_->work(job);
    job->wait(workers_->awake);
    job->release();
  } else {
    call(context, 0, units);
  }
  workers_->note_call();
}

std::shared_ptr<const ThreadPool> shared_pool(int threads) {
  struct Pools {
    std::mutex mutex;
    std::map<int, std::weak_ptr<const ThreadPool>> of;
  };
  static Pools& pools = *new Pools;  // never destroyed: functions that are static may ask for theirs at any time
  const std::scoped_lock lock(pools.mutex);
  std::weak_ptr<const ThreadPool>& known = pools.of[threads];
  std::shared_ptr<const ThreadPool> pool = known.lock();
  if (!pool) known = pool = std::make_shared<const ThreadPool>(threads);
  return pool;
}

int hardware_threads() {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace weft
