// Which loops become two halves, and that they do what they did.
#include "code/overlap_turns.h"

#include <algorithm>
#include <string>
#include <vector>

#include <sys/mman.h>

#include <doctest/doctest.h>

#include <llvm/IR/Verifier.h>

#include "code/features.h"
#include "code/jit.h"
#include "module_text.h"

using namespace weft;

namespace {

// y[i] = x[i] + .. so many additions, one after the other; sums[0..16) += them.
struct Text {
  int additions = 60;
  bool many = true;                     // turns
  std::string from = "%x";
  bool moves = true;                    // what it loads from
  int lanes = 16;                       // of registers

  OwnedModule module() const {
    std::string text = "define void @loop(ptr %x, ptr %y, ptr %sums, i64 %n) #0 {\nentry:\n  %start = load <16 x float>, ptr %sums, align 4\n  br label %body\nbody:\n"
                       "  %i = phi i64 [0, %entry], [%next, %body]\n  %sum = phi <16 x float> [%start, %entry], [%sum.next, %body]\n"
                       "  %from = getelementptr float, ptr " + from + ", i64 %i\n  %v0 = load <16 x float>, ptr " + (moves ? "%from" : from) + ", align 4\n";
    for (int k = 0; k < additions; ++k)
      text += "  %v" + std::to_string(k + 1) + " = fadd <16 x float> %v" + std::to_string(k) + ", splat (float " + std::to_string(k + 1) + ".25)\n";
    text += "  %to = getelementptr float, ptr %y, i64 %i\n  store <16 x float> %v" + std::to_string(additions) + ", ptr %to, align 4\n"
            "  %sum.next = fadd <16 x float> %sum, %v" + std::to_string(additions) + "\n"
            "  %next = add i64 %i, 16\n  %more = icmp slt i64 %next, %n\n  br i1 %more, label %body, label %end" + (many ? ", !weft.many-turns !0" : "") +
            "\nend:\n  store <16 x float> %sum.next, ptr %sums, align 4\n  ret void\n}\nattributes #0 = { \"target-features\"=\"" + host_features(lanes) + "\" }\n!0 = !{}\n";
    return module_of(text);
  }
};

bool becomes_halves(const Text& text) {
  const OwnedModule owned = text.module();
  llvm::Function& function = *owned.module->getFunction("loop");
  llvm::FunctionAnalysisManager analyses;
  OverlapTurns().run(function, analyses);
  CHECK_FALSE(llvm::verifyFunction(function));
  return std::any_of(function.begin(), function.end(), [](const llvm::BasicBlock& block) { return block.getName() == "ahead"; });
}

bool has_registers() { return has_feature(host_features(16), "+avx512f"); }

// So many floats that end where nothing may be read.
class AtEnd {
 public:
  explicit AtEnd(std::size_t count) : count_(count) {
    pages_ = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages_ != MAP_FAILED);
    REQUIRE(mprotect(static_cast<char*>(pages_) + page, page, PROT_NONE) == 0);
  }
  ~AtEnd() { munmap(pages_, 2 * page); }
  AtEnd(const AtEnd&) = delete;
  float* data() const { return reinterpret_cast<float*>(static_cast<char*>(pages_) + page) - count_; }

 private:
  static constexpr std::size_t page = 1 << 16;
  std::size_t count_;
  void* pages_;
};

// y and then the sums.
std::vector<float> results_of(const Text& text, std::size_t count) {
  const auto code = compile_module(text.module());
  const auto run = reinterpret_cast<void (*)(const float*, float*, float*, std::int64_t)>(code->address("loop"));
  AtEnd x(count), y(count);
  for (std::size_t k = 0; k < count; ++k) x.data()[k] = 0.1f * static_cast<float>(k), y.data()[k] = -1;
  std::vector<float> sums(16, 0.5f);
  run(x.data(), y.data(), sums.data(), static_cast<std::int64_t>(count));
  std::vector<float> all(y.data(), y.data() + count);
  all.insert(all.end(), sums.begin(), sums.end());
  return all;
}

}  // namespace

TEST_CASE("a long chain of many turns becomes two halves where there are 32 registers") {
  CHECK(becomes_halves({}) == has_registers());
  CHECK_FALSE(becomes_halves({.lanes = 8}));
  CHECK_FALSE(becomes_halves({.many = false}));
  CHECK_FALSE(becomes_halves({.additions = 30}));
}

TEST_CASE("nothing is loaded early that a turn before may store, or that is the same in all turns") {
  CHECK_FALSE(becomes_halves({.from = "%y"}));
  CHECK_FALSE(becomes_halves({.moves = false}));
}

TEST_CASE("halves do what the whole did, for one turn and for many, and read nothing past the end") {
  for (const std::size_t count : {16, 32, 48, 1600})
    CHECK(results_of({}, count) == results_of({.many = false}, count));
}
