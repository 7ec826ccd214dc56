#include "large_stacks.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <exception>
#include <mutex>

namespace weft {
namespace {

constexpr std::size_t stack_bytes = std::size_t{512} << 20;
constexpr std::size_t kept_bytes = std::size_t{256} << 10;       // of an idle stack: what ordinary graphs touch

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_switch = false;       // sanitizers know of threads only
#elif defined(__has_feature)
constexpr bool can_switch = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) && !__has_feature(memory_sanitizer);
#else
constexpr bool can_switch = true;
#endif

struct Task {
  const std::function<void()>* work;
  std::exception_ptr failed = nullptr;
  pthread_t thread = {};
  bool started = false;
  void run() noexcept {
    try { (*work)(); } catch (...) { failed = std::current_exception(); }
  }
};

// Stacks that are not in use, one for each thread that ran at the same time as others; never unmapped.
struct Idle {
  std::mutex mutex;
  std::vector<void*> stacks;
};
Idle& idle() {
  static auto* shared = new Idle;
  return *shared;
}

// Its lowest page is no memory: what grows beyond ends there. Null: no room.
void* take_stack() {
  {
    const std::scoped_lock lock(idle().mutex);
    if (!idle().stacks.empty()) {
      void* last = idle().stacks.back();
      idle().stacks.pop_back();
      return last;
    }
  }
  void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return nullptr;
  mprotect(stack, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_NONE);
  return stack;
}

void give_back(void* stack) {
  madvise(stack, stack_bytes - kept_bytes, MADV_DONTNEED);
  const std::scoped_lock lock(idle().mutex);
  idle().stacks.push_back(stack);
}

thread_local Task* entering = nullptr;
void enter() { entering->run(); }

// False: nothing ran. Not inline: getcontext is known to return twice, which it does not here.
[[gnu::noinline]] bool enter_on(void* stack) {
  ucontext_t caller, callee;
  if (getcontext(&callee) != 0) return false;
  callee.uc_stack.ss_sp = stack;
  callee.uc_stack.ss_size = stack_bytes;
  callee.uc_link = &caller;
  makecontext(&callee, enter, 0);
  return swapcontext(&caller, &callee) == 0;
}

// On the calling thread: a thread of its own would take .3 ms, a fifth of the first call of a small graph.
bool run_here(Task& task) {
  void* stack = can_switch ? take_stack() : nullptr;
  if (!stack) return false;
  entering = &task;
  const bool ran = enter_on(stack);
  give_back(stack);
  return ran;
}

void start_thread(Task& task) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  const auto run = [](void* argument) -> void* {
    static_cast<Task*>(argument)->run();
    return nullptr;
  };
  task.started = pthread_create(&task.thread, &attributes, run, &task) == 0;
  pthread_attr_destroy(&attributes);
}

void end(Task& task) {
  if (task.started) pthread_join(task.thread, nullptr);
  else task.run();                     // no room for a stack: on this one
}

}  // namespace

void on_large_stacks(const std::vector<std::function<void()>>& works) {
  std::vector<Task> tasks;
  for (const auto& work : works) tasks.push_back({&work});
  for (std::size_t k = 1; k < tasks.size(); ++k) start_thread(tasks[k]);
  if (!tasks.empty() && !run_here(tasks[0])) {
    start_thread(tasks[0]);
    end(tasks[0]);
  }
  for (std::size_t k = 1; k < tasks.size(); ++k) end(tasks[k]);
  for (const Task& task : tasks)
    if (task.failed) std::rethrow_exception(task.failed);
}

}  // namespace weft
