// Rows go in blocks if values of whole rows cost a good part of a row; where the processor says so, long rows that come from memory do not.
#include "schedule/blocks.h"

#include <doctest/doctest.h>

#include "occurrences.h"
#include "rows.h"

using namespace weft;

namespace {

bool goes_in_blocks(const Expr& result, const Expr& x, Index length, const Machine& machine = with_caches(1 << 24)) {
  const std::string report = on_rows(result, x, 130, length, machine).report();
  return report.find(": as vectors over ") != std::string::npos;
}

}  // namespace

TEST_CASE("blocks of long rows are for the caches, those of short ones for memory too; on some processors all are") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), z = x - of_row(mean(x, 1)), normal = z * of_row(rsqrt(mean(square(z), 1) + 1e-5));
  for (const Index length : {64, 256, 1024}) CHECK(goes_in_blocks(normal, x, length));
  Machine machine = with_caches(1024);
  CHECK(goes_in_blocks(normal, x, 64, machine));
  for (const Index length : {256, 1000, 1024}) CHECK_FALSE(goes_in_blocks(normal, x, length, machine));
  machine.blocks_in_memory = least_along_root;
  for (const Index length : {64, 256, 1000, 1024}) CHECK(goes_in_blocks(normal, x, length, machine));
}

TEST_CASE("short rows with long functions that wait for what a row is folded to go in blocks, one loop after the other") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), largest = of_row(max(x, 1));
  for (const Index length : {64, 100, 256, 500}) CHECK(goes_in_blocks(softmax(x, 1), x, length));
  for (const Index length : {64, 256}) CHECK_FALSE(goes_in_blocks(x - largest, x, length));      // other rows run meanwhile anyway
  CHECK_FALSE(goes_in_blocks(softmax(x, 1), x, 1024));
  CHECK_FALSE(goes_in_blocks(exp(x * 0.5), x, 64));
  const std::string program = on_rows(softmax(x, 1), x, 130, 100, with_caches(1 << 24)).program();
  CHECK(occurrences(program, "serial i in n within block {") == 3);
  const Function both = on_rows(x - of_row(logsumexp(x, 1)) + largest, x, 131, 77, with_caches(1 << 24));
  CHECK(both.program().find("within block") != std::string::npos);
}

TEST_CASE("long rows beside sums of all rows, which keep as many, go one by one") {
  const Machine machine = with_caches(1 << 24);
  for (const double rows : {65.0, 200.0}) {
    CHECK(blocks_stay_near(machine, 2048, 2048, fold_slots, rows, true));
    CHECK(blocks_stay_near(machine, 4096, 4096, fold_slots, rows, false));
    CHECK_FALSE(blocks_stay_near(machine, 4096, 4096, fold_slots, rows, true));
  }
}

TEST_CASE("a quotient by a value of the row has a part that is found once for the row") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), norm = sqrt(sum(square(x), 1));
  CHECK(goes_in_blocks(x / of_row(norm), x, 64));
  CHECK_FALSE(goes_in_blocks(x - of_row(norm), x, 64));
  CHECK_FALSE(goes_in_blocks(x / of_row(sum(x, 1)), x, 64));
}
