// Loops that count from the other end: every subscript along the axis, in loops inside too, and no other.
#include "bits.h"

#include "program/program.h"

using namespace weft;

namespace {

Loop rows(const Subscript& first, const Subscript& second) {
  Loop lanes, loop;
  lanes.mark = Mark::lanes;
  lanes.var.axis = 1;
  lanes.body = {Load{0, 0, {first, {1}}}, Store{1, {{1}, second}, {0, {}}}};
  loop.var.axis = 0;
  loop.body = {lanes};
  return loop;
}
const std::vector<Subscript>& read_at(const Loop& loop) { return std::get<Load>(std::get<Loop>(loop.body[0]).body[0]).at; }
const std::vector<Subscript>& written_at(const Loop& loop) { return std::get<Store>(std::get<Loop>(loop.body[0]).body[1]).at; }

}  // namespace

TEST_CASE("the index becomes the last one less what the loop has counted") {
  const Extent n = "n";
  Loop loop = rows({0, 2, 3}, {0, n - 1, -1});
  CHECK(can_turn_round(loop, 0));
  CHECK_FALSE(reads_backwards(loop, 0));
  turn_round(loop, 0, n);
  CHECK(reads_backwards(loop, 0));
  CHECK_FALSE(reads_backwards(loop, 1));
  CHECK(read_at(loop) == std::vector<Subscript>{{0, 3 * n - 1, -3}, {1}});
  CHECK(written_at(loop) == std::vector<Subscript>{{1}, {0, 0, 1}});
  turn_round(loop, 0, n);
  CHECK(read_at(loop)[0] == Subscript{0, 2, 3});
}

TEST_CASE("what repeats along the axis, or is guarded there, runs forwards only") {
  CHECK_FALSE(can_turn_round(rows({0, 0, 1, -1, 3}, {0}), 0));
  CHECK_FALSE(can_turn_round(rows({0, 0, 1, 1}, {0}), 0));
  Loop repeats = rows({0, 0, 1, -1, 3}, {0});
  CHECK(can_turn_round(repeats, 1));
  CHECK_THROWS(turn_round(repeats, 0, 5));
}
