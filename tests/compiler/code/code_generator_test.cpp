#include "code/code_generator.h"

#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "code/jit.h"
#include "code/features.h"
#include "code/target.h"
#include "module_text.h"

using namespace weft;

namespace {

// A loop that adds `count` times, for registers of so many f32 lanes.
OwnedModule loop_module(int count, int lanes) {
  std::string text = "define void @loop(ptr %p, i64 %n) #0 {\nentry:\n  br label %body\nbody:\n  %k = phi i64 [0, %entry], [%next, %body]\n"
                     "  %at = getelementptr <16 x float>, ptr %p, i64 %k\n  %v0 = load <16 x float>, ptr %at, align 4\n";
  for (int step = 0; step < count; ++step)
    text += "  %v" + std::to_string(step + 1) + " = fadd <16 x float> %v" + std::to_string(step) + ", splat (float " + std::to_string(step + 1) + ".0)\n";
  text += "  store <16 x float> %v" + std::to_string(count) + ", ptr %at, align 4\n  %next = add i64 %k, 1\n  %more = icmp slt i64 %next, %n\n"
          "  br i1 %more, label %body, label %end\nend:\n  ret void\n}\nattributes #0 = { \"target-features\"=\"" + host_features(lanes) + "\" }\n";
  return module_of(text);
}

std::string object_of(int count, int lanes) {
  const Bytes bytes = generate_code(loop_module(count, lanes), llvm::CodeGenFileType::ObjectFile);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

TEST_CASE("code does not depend on the modules before it") {
  assembly_of(loop_module(1, 4));       // LLVM is ready
  const std::string first = object_of(7, 16), narrow = object_of(7, 4), longer = object_of(40, 8);
  CHECK(first != narrow);
  CHECK(longer.size() > first.size());
  CHECK(object_of(7, 16) == first);
  CHECK(object_of(40, 8) == longer);
  CHECK(object_of(7, 4) == narrow);
}

TEST_CASE("threads generate code at the same time, each its own") {
  assembly_of(loop_module(1, 4));
  std::vector<std::string> expected;
  for (int k = 0; k < 4; ++k) expected.push_back(object_of(3 + k, 8));
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&, k] {
      for (int turn = 0; turn < 25; ++turn) wrong[static_cast<std::size_t>(k)] += object_of(3 + k, 8) != expected[static_cast<std::size_t>(k)];
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("assembly says what the loop does") {
  const std::string text = assembly_of(loop_module(1, 4));
  CHECK(text.find("loop:") != std::string::npos);
  CHECK(text.find("addps") != std::string::npos);
}
