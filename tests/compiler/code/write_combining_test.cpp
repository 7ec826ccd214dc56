// Rows put together into lines on their way to an array: all of them arrive, nothing around them is written, whatever follows what.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <weft/memory.h>

#include "code/write_combining.h"

using namespace weft;

TEST_CASE("rows of any length, one after another and apart, arrive where they belong") {
  constexpr Index room = 40000;
  std::minstd_rand random(5);
  const auto below = [&](Index count) { return static_cast<Index>(random() % static_cast<unsigned>(count)); };
  for (int round = 0; round < 40; ++round) {
    std::vector<char> array(room, 'x'), expected = array;
    const auto owner = allocate(8192);
    auto* memory = static_cast<char*>(owner.get());
    WriteCombiner combiner;
    const Index row = 1 + below(round % 2 ? 150 : 2500);
    Index at = below(200);
    for (int k = 0; at + row < room; ++k) {
      if (below(9) == 0) at += below(100);
      if (at + row >= room) break;
      char* to = array.data() + at;
      if (to != combiner.line + combiner.end) combine_at(&combiner, memory, to);
      for (Index byte = 0; byte < row; ++byte) memory[combiner.end + byte] = expected[static_cast<std::size_t>(at + byte)] = static_cast<char>('a' + (k + byte) % 23);
      combiner.end += row;
      if (combiner.end >= combined_bytes) {
        flush_lines(&combiner, memory);
        CHECK(combiner.end < 64);
        CHECK(std::equal(array.data(), combiner.line, expected.data()));
      }
      at += row;
    }
    combine_at(&combiner, memory, nullptr);
    CHECK(array == expected);
    CHECK(combiner.line == nullptr);
    CHECK(combiner.end == 0);
  }
}

TEST_CASE("lines that are not whole stay") {
  std::vector<char> array(256, 'x');
  char* line = array.data() + (64 - reinterpret_cast<std::uintptr_t>(array.data()) % 64) % 64;
  const auto owner = allocate(1024);
  auto* memory = static_cast<char*>(owner.get());
  std::memset(memory, 'y', 1024);
  WriteCombiner combiner;
  combine_at(&combiner, memory, line + 10);
  CHECK(combiner.line == line);
  CHECK(combiner.begin == 10);
  combiner.end = 40;
  flush_lines(&combiner, memory);
  CHECK(array == std::vector<char>(256, 'x'));
  combiner.end = 100;
  flush_lines(&combiner, memory);
  CHECK(combiner.line == line + 64);
  CHECK(combiner.begin == 0);
  CHECK(combiner.end == 36);
  CHECK(std::count(array.begin(), array.end(), 'y') == 54);
  combine_at(&combiner, memory, nullptr);
  CHECK(std::count(array.begin(), array.end(), 'y') == 90);
}
