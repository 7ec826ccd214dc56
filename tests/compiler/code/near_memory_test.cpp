#include "code/near_memory.h"

#include <vector>

#include <doctest/doctest.h>

using namespace weft;

namespace {

std::uintptr_t distance(std::uintptr_t a, std::uintptr_t b) { return a > b ? a - b : b - a; }

}  // namespace

TEST_CASE("memory for code is near this program, again and again, and can be written") {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  static int here = 0;
  auto mapper = llvm::cantFail(NearMemory::Create());
  std::vector<llvm::orc::ExecutorAddrRange> ranges;
  for (int k = 0; k < 3; ++k)
    mapper->reserve(bytes, [&](llvm::Expected<llvm::orc::ExecutorAddrRange> range) { ranges.push_back(llvm::cantFail(std::move(range))); });
  REQUIRE(ranges.size() == 3);
  for (const auto& range : ranges) {
    CHECK(range.size() == bytes);
    CHECK(distance(range.Start.getValue(), reinterpret_cast<std::uintptr_t>(&here)) < std::uintptr_t{32} << 30);
    auto* memory = range.Start.toPtr<char*>();
    memory[0] = memory[bytes - 1] = 1;
  }
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < a; ++b) CHECK(distance(ranges[a].Start.getValue(), ranges[b].Start.getValue()) >= bytes);
}
