#include "code/llvm_options.h"

#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <llvm/Support/CommandLine.h>

using namespace weft;

namespace {

bool saves_registers() { return static_cast<llvm::cl::opt<bool>*>(llvm::cl::getRegisteredOptions().lookup("misched-regpressure"))->getValue(); }

}  // namespace

TEST_CASE("modules that want the one and the other schedule take turns, and leave LLVM as it was") {
  REQUIRE(saves_registers());
  std::atomic<int> running[2] = {0, 0}, wrong = 0, turns[2] = {0, 0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 6; ++k)
    threads.emplace_back([&, spread = k % 2 == 1] {
      for (int turn = 0; turn < 300; ++turn) {
        const SchedulingTurn mine(spread);
        ++running[spread];
        wrong += running[!spread] != 0 || saves_registers() == spread;
        std::this_thread::yield();
        --running[spread];
        ++turns[spread];
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(turns[0] == 900);
  CHECK(turns[1] == 900);
  CHECK(saves_registers());
}
