// Vectors that do not fit in registers are kept where lines of the cache begin, wherever the caller's stack lies.
#include <sstream>

#include <weft/function.h>

#include "bits.h"

using namespace weft;

namespace {

// Whole vectors that are moved to the stack or from it as if they might lie anywhere.
int unaligned_spills(const Function& f) {
  int count = 0;
  std::istringstream text(f.assembly());
  for (std::string line; std::getline(text, line);)
    count += line.find("vmovup") != std::string::npos && line.find("(%rsp)") != std::string::npos && line.find("%xmm") == std::string::npos;
  return count;
}

}  // namespace

TEST_CASE("long loops keep vectors aligned, short ones do not care for the stack") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 5}), y = g.input("y", f32, {"n"});
  for (const int lanes : {0, 8}) {
    const Function rows = compile({softmax(x, 1)}, {x}, {.threads = 1, .lanes = lanes, .verify = true}), small = compile({y * 2 + 1}, {y}, {.threads = 1, .lanes = lanes});
    same_bits(rows, {uneven(f32, {1024, 5})});
    same_bits(small, {uneven(f32, {1024})});
    CHECK(rows.llvm().find("stackrealign") != std::string::npos);
    CHECK(unaligned_spills(rows) == 0);
    CHECK(small.llvm().find("stackrealign") == std::string::npos);
  }
}
