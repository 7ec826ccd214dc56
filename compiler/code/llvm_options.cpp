#include "llvm_options.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <llvm/Support/CommandLine.h>

namespace weft {
namespace {

void set_option(llvm::StringRef name, bool value) {
  auto& options = llvm::cl::getRegisteredOptions();
  if (auto found = options.find(name); found != options.end()) static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(value);
}

struct Turns {
  std::mutex mutex;
  std::condition_variable idle;
  int running = 0, waiting[2] = {0, 0};
  bool spread = false;                   // of those that run
};
Turns& turns() {
  static auto* shared = new Turns;       // never destroyed: threads may end after static objects
  return *shared;
}

}  // namespace

void leave_out_passes() {
  set_option("disable-lsr", true);
  set_option("disable-machine-licm", true);
  set_option("combiner-store-merging", false);
}

bool wants_spread_schedule(const llvm::Module& module) {
  return std::any_of(module.begin(), module.end(), [](const llvm::Function& function) { return function.hasFnAttribute(spread_schedule); });
}

SchedulingTurn::SchedulingTurn(bool spread) {
  Turns& t = turns();
  std::unique_lock lock(t.mutex);
  ++t.waiting[spread];
  t.idle.wait(lock, [&] { return t.running == 0 || (t.spread == spread && t.waiting[!spread] == 0); });
  --t.waiting[spread];
  if (t.running++ > 0) return;
  t.spread = spread;
  if (spread) set_option("misched-regpressure", false);
}

SchedulingTurn::~SchedulingTurn() {
  Turns& t = turns();
  const std::lock_guard lock(t.mutex);
  if (--t.running > 0) return;
  if (t.spread) set_option("misched-regpressure", true);
  t.idle.notify_all();
}

}  // namespace weft
