// Rows go in blocks if values of whole rows cost a good part of a row; long rows that come from memory do not, and fetch rows ahead of the next.
#include "schedule/blocks.h"

#include <doctest/doctest.h>

#include "bits.h"
#include "function/compile_for.h"

using namespace weft;

namespace {

// Called on so many rows of so many floats, with the bits of the interpreter; arrays of more bytes are in memory.
Function on_rows(const Expr& result, const Expr& x, Index rows, Index length, double cache_bytes) {
  Machine machine;
  machine.third_level_bytes = cache_bytes;
  const Function f = compile_for(machine, {result}, {x}, checked());
  same_bits(f, {uneven(f32, {rows, length})});
  return f;
}

bool goes_in_blocks(const Expr& result, const Expr& x, Index length, double cache_bytes = 1 << 24) {
  const std::string report = on_rows(result, x, 130, length, cache_bytes).report();
  return report.find(": as vectors over ") != std::string::npos;
}

Expr of_row(const Expr& value) { return expand_dims(value, {1}); }

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

TEST_CASE("loops over rows fetch the next row; in memory so many ahead that these are 8192 bytes or more") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), shares = softmax(x, 1);
  // What is fetched lies as many rows ahead as the stride of a row is multiplied by.
  const auto fetches = [&](Index rows_ahead, Index length, double cache_bytes) {
    const std::string code = on_rows(shares, x, 70, length, cache_bytes).llvm();
    CHECK(code.find("llvm.prefetch") != std::string::npos);
    return code.find(concat("mul i64 ", rows_ahead, ", %")) != std::string::npos;
  };
  for (const Index length : {100, 1000, 1024, 5000}) CHECK(fetches(1, length, 1 << 24));
  CHECK(fetches(21, 100, 1000));
  CHECK(fetches(3, 1000, 1000));
  CHECK(fetches(2, 1024, 1000));
  CHECK(fetches(1, 5000, 1000));
  CHECK_FALSE(fetches(2, 5000, 1000));
}
