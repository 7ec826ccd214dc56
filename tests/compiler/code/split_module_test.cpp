#include "code/split_module.h"

#include <set>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include <llvm/IR/Verifier.h>

#include "module_text.h"

using namespace weft;

namespace {

// Functions f0, f1 .. that add so many times and then call the next one, if there is one; all but the first are internal.
OwnedModule chain(const std::vector<int>& sizes) {
  std::string text = "@table = private constant [2 x double] [double 1.0, double 2.0]\n";
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    text += std::string("define ") + (k > 0 ? "internal " : "") + "double @f" + std::to_string(k) + "(double %v0) {\n";
    for (int step = 0; step < sizes[k]; ++step) text += "  %v" + std::to_string(step + 1) + " = fadd double %v" + std::to_string(step) + ", 1.0\n";
    text += "  %t = load double, ptr @table\n  %s = fadd double %v" + std::to_string(sizes[k]) + ", %t\n";
    if (k + 1 < sizes.size()) text += "  %r = call double @f" + std::to_string(k + 1) + "(double %s)\n  ret double %r\n}\n";
    else text += "  ret double %s\n}\n";
  }
  return module_of(text);
}

// By part: the functions that it has bodies of. The parts are made at the same time.
std::vector<std::set<std::string>> bodies_of(const std::vector<std::function<OwnedModule()>>& parts) {
  std::vector<OwnedModule> made(parts.size());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < parts.size(); ++k) threads.emplace_back([&, k] { made[k] = parts[k](); });
  for (std::thread& thread : threads) thread.join();
  std::vector<std::set<std::string>> bodies;
  for (const OwnedModule& part : made) {
    CHECK_FALSE(llvm::verifyModule(*part.module));
    bodies.emplace_back();
    for (const llvm::Function& function : *part.module) {
      CHECK(function.hasExternalLinkage());
      if (!function.isDeclaration()) bodies.back().insert(function.getName().str());
    }
  }
  return bodies;
}

using Bodies = std::vector<std::set<std::string>>;

}  // namespace

TEST_CASE("each function is in one part: the largest first, each where there is least") {
  CHECK(bodies_of(split_module(chain({200, 500, 400, 250}), 2)) == Bodies{{"f1", "f0"}, {"f2", "f3"}});
  CHECK(bodies_of(split_module(chain({200, 500, 400, 250}), 3)) == Bodies{{"f1"}, {"f2"}, {"f0", "f3"}});
}

TEST_CASE("there are no more parts than threads, functions, or than are worth it; one part is the module as it was") {
  CHECK(bodies_of(split_module(chain({400, 400}), 8)).size() == 2);
  CHECK(bodies_of(split_module(chain({100, 100, 100, 100}), 8)).size() == 2);
  for (auto& [sizes, most] : {std::pair(std::vector{20, 20}, 8), std::pair(std::vector{900, 900}, 1), std::pair(std::vector{900, 900}, 0)}) {
    const auto parts = split_module(chain(sizes), most);
    REQUIRE(parts.size() == 1);
    const OwnedModule whole = parts[0]();
    CHECK(whole.module->getFunction("f1")->hasInternalLinkage());
    CHECK(whole.module->getFunction("f1")->getInstructionCount() == static_cast<unsigned>(sizes[1]) + 3);
  }
}
