// Rows on their way to an array by way of a stage: all of them arrive, nothing around them is written, whatever follows what.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <weft/memory.h>

#include "code/line_stage.h"

using namespace weft;

TEST_CASE("rows of any length, one after another and apart, arrive where they belong") {
  constexpr Index room = 40000;
  std::minstd_rand random(5);
  const auto below = [&](Index count) { return static_cast<Index>(random() % static_cast<unsigned>(count)); };
  for (int round = 0; round < 40; ++round) {
    std::vector<char> array(room, 'x'), expected = array;
    const auto owner = allocate(8192);
    auto* memory = static_cast<char*>(owner.get());
    LineStage stage;
    const Index row = 1 + below(round % 2 ? 150 : 2500);
    Index at = below(200);
    for (int k = 0; at + row < room; ++k) {
      if (below(9) == 0) at += below(100);
      if (at + row >= room) break;
      char* to = array.data() + at;
      if (to != stage.line + stage.end) move_stage(&stage, memory, to);
      for (Index byte = 0; byte < row; ++byte) memory[stage.end + byte] = expected[static_cast<std::size_t>(at + byte)] = static_cast<char>('a' + (k + byte) % 23);
      stage.end += row;
      if (stage.end >= staged_bytes) {
        store_lines(&stage, memory);
        CHECK(stage.end < 64);
        CHECK(std::equal(array.data(), stage.line, expected.data()));
      }
      at += row;
    }
    move_stage(&stage, memory, nullptr);
    CHECK(array == expected);
    CHECK(stage.line == nullptr);
    CHECK(stage.end == 0);
  }
}

TEST_CASE("lines that are not whole do not leave the stage") {
  std::vector<char> array(256, 'x');
  char* line = array.data() + (64 - reinterpret_cast<std::uintptr_t>(array.data()) % 64) % 64;
  const auto owner = allocate(1024);
  auto* memory = static_cast<char*>(owner.get());
  std::memset(memory, 'y', 1024);
  LineStage stage;
  move_stage(&stage, memory, line + 10);
  CHECK(stage.line == line);
  CHECK(stage.begin == 10);
  stage.end = 40;
  store_lines(&stage, memory);
  CHECK(array == std::vector<char>(256, 'x'));
  stage.end = 100;
  store_lines(&stage, memory);
  CHECK(stage.line == line + 64);
  CHECK(stage.begin == 0);
  CHECK(stage.end == 36);
  CHECK(std::count(array.begin(), array.end(), 'y') == 54);
  move_stage(&stage, memory, nullptr);
  CHECK(std::count(array.begin(), array.end(), 'y') == 90);
}
