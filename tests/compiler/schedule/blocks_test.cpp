// Rows go in blocks if values of whole rows cost a good part of a row; long rows that come from memory do not.
#include "schedule/blocks.h"

#include <doctest/doctest.h>

#include "rows.h"

using namespace weft;

namespace {

bool goes_in_blocks(const Expr& result, const Expr& x, Index length, double cache_bytes = 1 << 24) {
  const std::string report = on_rows(result, x, 130, length, cache_bytes).report();
  return report.find(": as vectors over ") != std::string::npos;
}

}  // namespace

TEST_CASE("blocks of long rows are for the caches, those of short ones for memory too") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), z = x - of_row(mean(x, 1)), normal = z * of_row(rsqrt(mean(square(z), 1) + 1e-5));
  for (const Index length : {64, 256, 1024}) CHECK(goes_in_blocks(normal, x, length));
  CHECK(goes_in_blocks(normal, x, 64, 1024));
  for (const Index length : {256, 1000, 1024}) CHECK_FALSE(goes_in_blocks(normal, x, length, 1024));
}

TEST_CASE("a quotient by a value of the row has a part that is found once for the row") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), norm = sqrt(sum(square(x), 1));
  CHECK(goes_in_blocks(x / of_row(norm), x, 64));
  CHECK_FALSE(goes_in_blocks(x - of_row(norm), x, 64));
  CHECK_FALSE(goes_in_blocks(x / of_row(sum(x, 1)), x, 64));
}
