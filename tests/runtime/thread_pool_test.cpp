#include <weft/thread_pool.h>

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "error_text.h"

using namespace weft;

TEST_CASE("every unit runs exactly once for any number of threads") {
  for (int threads = 1; threads <= 8; ++threads) {
    const ThreadPool pool(threads);
    CHECK(pool.threads() == threads);
    for (const Index units : {0, 1, 2, 7, 100, 10007})
      for (const Index smallest : {0, 1, 3, 1000}) {
        const std::unique_ptr<std::atomic<int>[]> runs(new std::atomic<int>[units + 1]());
        pool.run(units, {.smallest = smallest}, [&](Index begin, Index end) {
          for (Index i = begin; i < end; ++i) ++runs[i];
        });
        Index once = 0;
        for (Index i = 0; i < units; ++i) once += runs[i] == 1;
        REQUIRE(once == units);
      }
  }
}

TEST_CASE("slices are not smaller than asked for, except the last") {
  const ThreadPool pool(3);
  std::atomic<int> small{0};
  pool.run(1000, {.smallest = 64}, [&](Index begin, Index end) { small += end - begin < 64; });
  CHECK(small <= 1);
}

TEST_CASE("slices begin at the multiples that are asked for") {
  const ThreadPool pool(2);
  for (const Index multiple : {1, 4, 16})
    for (const Index units : {3, 40, 4099}) {
      std::atomic<int> amid{0};
      std::atomic<Index> total{0};
      pool.run(units, {.smallest = 3, .multiple = multiple, .threads = 2}, [&](Index begin, Index end) { amid += begin % multiple != 0, total += end - begin; });
      CHECK(amid == 0);
      CHECK(total == units);
    }
}

TEST_CASE("slices but whole shares are not smaller than asked for where threads do not go into units") {
  const ThreadPool pool(4);
  for (const Index units : {65, 1000, 1023, 4097}) {
    std::atomic<int> small{0};
    std::atomic<Index> total{0};
    pool.run(units, {.smallest = 16, .multiple = 8, .threads = 4}, [&](Index begin, Index end) { small += end - begin < 16, total += end - begin; });
    CHECK(small == 0);
    CHECK(total == units);
  }
}

// Two units, each of a thread: neither ends before the other is begun, so that nobody can help. By unit: the processor that had it.
std::array<int, 2> processors_of_two_units(const ThreadPool& pool, const std::function<void()>& in_worker = [] {}) {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> begun{0};
  std::array<int, 2> had{};
  pool.run(2, {}, [&](Index begin, Index) {
    had[static_cast<std::size_t>(begin)] = sched_getcpu();
    ++begun;
    const auto start = std::chrono::steady_clock::now();
    while (begun < 2 && std::chrono::steady_clock::now() - start < std::chrono::seconds(5)) std::this_thread::yield();
    if (std::this_thread::get_id() != caller) in_worker();
  });
  CHECK(begun == 2);
  return had;
}
void move_to(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  CHECK(sched_setaffinity(0, sizeof only, &only) == 0);
}

// Those that this thread may run on; again after a test that moved it.
class Processors {
 public:
  Processors() {
    REQUIRE(sched_getaffinity(0, sizeof allowed_, &allowed_) == 0);
    for (int k = 0; k < CPU_SETSIZE; ++k)
      if (CPU_ISSET(k, &allowed_)) numbers.push_back(k);
  }
  ~Processors() { sched_setaffinity(0, sizeof allowed_, &allowed_); }
  std::vector<int> numbers;

 private:
  cpu_set_t allowed_;
};

TEST_CASE("units stay with their processor when threads are moved") {
  const Processors processors;
  if (processors.numbers.size() < 2) return;    // all units have the only one
  const int first = processors.numbers[0], second = processors.numbers[1];
  const ThreadPool pool(2);
  const auto caller_and_worker_on = [&](int callers, int workers) {
    processors_of_two_units(pool, [&] { move_to(workers); });
    move_to(callers);
  };
  caller_and_worker_on(first, second);
  for (int i = 0; i < 3; ++i) processors_of_two_units(pool);   // who is where is known from here on
  const auto before = processors_of_two_units(pool);
  CHECK(before[0] != before[1]);
  for (int i = 0; i < 20; ++i) {
    caller_and_worker_on(i % 2 == 0 ? second : first, i % 2 == 0 ? first : second);
    CHECK(processors_of_two_units(pool) == before);
  }
}

TEST_CASE("the processors that count are those the calling thread may run on; more threads than these share them") {
  const Processors processors;
  CHECK(hardware_threads() == static_cast<int>(processors.numbers.size()));
  move_to(processors.numbers[0]);
  CHECK(hardware_threads() == 1);
  const ThreadPool pool(3);
  std::atomic<Index> total{0};
  for (int i = 0; i < 200; ++i) pool.run(30, {}, [&](Index begin, Index end) { total += end - begin; });
  CHECK(total == 200 * 30);
}

TEST_CASE("no more threads take part than wanted") {
  const ThreadPool pool(4);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  pool.run(100, {.threads = 1}, [&](Index, Index) { elsewhere += std::this_thread::get_id() != caller; });
  CHECK(elsewhere == 0);
}

TEST_CASE("a parallel loop inside a parallel loop ends") {
  const ThreadPool pool(4);
  std::atomic<Index> total{0};
  pool.run(20, {}, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      pool.run(50, {}, [&](Index first, Index last) { total += last - first; });
  });
  CHECK(total == 1000);
}

TEST_CASE("several threads use one pool at once") {
  const ThreadPool pool(3);
  std::atomic<Index> total{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) pool.run(30, {}, [&](Index begin, Index end) { total += end - begin; });
    });
  for (auto& caller : callers) caller.join();
  CHECK(total == 4 * 200 * 30);
}

// Gaps about as long as a worker looks for the next loop: loops are handed over to it while it gives up.
TEST_CASE("loops that follow each other at any distance lose nothing") {
  const ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<Index> total{0};
  for (int t = 0; t < 2; ++t)
    callers.emplace_back([&, t] {
      for (int gap = 0; gap < 400; gap += 2) {
        pool.run(6, {}, [&](Index begin, Index end) { total += end - begin; });
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(t == 0 ? gap : 400 - gap)) std::this_thread::yield();
      }
    });
  for (auto& caller : callers) caller.join();
  CHECK(total == 2 * 200 * 6);
}

// While the only worker is busy, loops leave it more tasks than Eigen's queue has room for.
TEST_CASE("loops end while the queues are full") {
  const ThreadPool pool(2);
  std::atomic<bool> go_on{false}, busy{false};
  std::thread other([&] {
    const auto caller = std::this_thread::get_id();
    while (!busy)
      pool.run(2, {}, [&](Index, Index) {
        const auto start = std::chrono::steady_clock::now();
        if (std::this_thread::get_id() != caller) {
          busy = true;
          while (!go_on) std::this_thread::yield();
        }
        while (!busy && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1)) {}
      });
  });
  while (!busy) std::this_thread::yield();
  std::atomic<Index> total{0};
  for (int i = 0; i < 5000; ++i) pool.run(4, {}, [&](Index begin, Index end) { total += end - begin; });
  CHECK(total == 4 * 5000);
  go_on = true;
  other.join();
  for (int i = 0; i < 100; ++i) pool.run(4, {}, [&](Index begin, Index end) { total += end - begin; });
  CHECK(total == 4 * 5100);
}

// Loops inside a loop on a worker, more of them than its queue has room for while the others are busy.
TEST_CASE("loops inside a loop end while the queues are full") {
  const ThreadPool pool(2);
  std::atomic<Index> total{0};
  pool.run(2, {}, [&](Index, Index) {
    for (int i = 0; i < 3000; ++i) pool.run(2, {}, [&](Index begin, Index end) { total += end - begin; });
  });
  CHECK(total == 2 * 3000 * 2);
}

TEST_CASE("a pool ends while its workers look for the next loop") {
  for (int i = 0; i < 50; ++i) {
    std::atomic<Index> total{0};
    {
      const ThreadPool pool(4);
      pool.run(8, {}, [&](Index begin, Index end) { total += end - begin; });
    }
    CHECK(total == 8);
  }
}

// Loops of two units that wait for each other, a millisecond at most.
TEST_CASE("a loop not worth waking for stays with the caller, but where loops follow each other workers are woken") {
  const ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  const auto begin_both = [&] {
    std::atomic<int> begun{0}, elsewhere{0};
    pool.run(2, {.worth_waking = false}, [&](Index begin, Index end) {
      begun += static_cast<int>(end - begin), elsewhere += std::this_thread::get_id() != caller;
      const auto start = std::chrono::steady_clock::now();
      while (begun < 2 && std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1)) {}
    });
    CHECK(begun == 2);
    return elsewhere > 0;
  };
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CHECK_FALSE(begin_both());
  }
  if (hardware_threads() < 2) return;           // no worker stays awake
  bool helped = false;
  for (int i = 0; i < 5000 && !helped; ++i) helped = begin_both();
  CHECK(helped);
}

TEST_CASE("a process has one shared pool of so many threads while somebody holds it") {
  std::weak_ptr<const ThreadPool> seen;
  {
    const auto pool = shared_pool(3);
    seen = pool;
    CHECK(pool->threads() == 3);
    CHECK(shared_pool(3) == pool);
    CHECK(shared_pool(2) != pool);
    CHECK(shared_pool(2)->threads() == 2);
  }
  CHECK(seen.expired());
  CHECK(shared_pool(3)->threads() == 3);
  CHECK(error_text([] { shared_pool(0); }) == "usage: a thread pool needs at least 1 thread, got 0");
}

#ifndef __has_feature
#define __has_feature(name) 0
#endif
// Sanitizers take more memory than any limit. In a process of its own, which keeps the limit.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
TEST_CASE("where the system refuses threads a pool has fewer, and runs every unit") {
  for (const int given : {0, 3}) {
    const pid_t child = fork();
    if (child == 0) {
      std::ifstream size("/proc/self/statm");
      rlim_t pages = 0;
      size >> pages;
      const rlim_t stack = rlim_t{8} << 20, bytes = pages * 4096 + static_cast<rlim_t>(given) * stack + stack / 2;
      const rlimit all{bytes, bytes}, stacks{stack, stack};
      setrlimit(RLIMIT_STACK, &stacks);
      setrlimit(RLIMIT_AS, &all);
      const ThreadPool pool(64);
      std::atomic<Index> done{0};
      for (int loop = 0; loop < 100; ++loop) pool.run(1000, {}, [&](Index begin, Index end) { done += end - begin; });
      _exit(pool.threads() >= 1 && pool.threads() < 64 && done == 100000 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
}
#endif

TEST_CASE("a pool needs a thread") {
  CHECK(error_text([] { ThreadPool pool(0); }) == "usage: a thread pool needs at least 1 thread, got 0");
}
