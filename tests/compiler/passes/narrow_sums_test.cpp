#include <limits>

#include <pass_text.h>

#include "compiled.h"
#include "passes/pipeline.h"

using namespace weft;

TEST_CASE("a sum that is cast to fewer bytes is made of fewer bytes") {
  CHECK(text_after(narrow_sums, "graph g(%x: i32[n,m]) -> (%1) {\n  %0: i64[i:n] = sum(j:m) cast(%x[i,j])\n  %1: i32[i:n] = cast(%0[i])\n}") ==
        "graph g(%x: i32[n,m]) -> (%0) {\n  %0: i32[i:n] = sum(j:m) copy(%x[i,j])\n}\n");
  CHECK(text_after(narrow_sums, "graph g(%x: u8[n,m]) -> (%1) {\n  %0: u64[i:n] = prod(j:m) cast(%x[i,j])\n  %1: i16[i:n] = cast(%0[i])\n}") ==
        "graph g(%x: u8[n,m]) -> (%0) {\n  %0: i16[i:n] = prod(j:m) cast(%x[i,j])\n}\n");
  CHECK(text_after(narrow_sums, "graph g(%x: bool[n]) -> (%1) {\n  %0: i64[] = sum(j:n) cast(%x[j])\n  %1: u32[] = cast(%0[])\n}") ==
        "graph g(%x: bool[n]) -> (%0) {\n  %0: u32[] = sum(i:n) cast(%x[i])\n}\n");
}

TEST_CASE("what is not low bytes of a sum, or is read by others, stays") {
  const std::vector<std::string> texts{
      "graph g(%x: i32[n,m]) -> (%1) {\n  %0: i64[i:n] = max(j:m) cast(%x[i,j])\n  %1: i32[i:n] = cast(%0[i])\n}\n",
      "graph g(%x: i32[n,m]) -> (%1) {\n  %0: i64[i:n] = sum(j:m) cast(%x[i,j])\n  %1: f32[i:n] = cast(%0[i])\n}\n",
      "graph g(%x: f32[n,m]) -> (%1) {\n  %0: i64[i:n] = sum(j:m) cast(%x[i,j])\n  %1: i32[i:n] = cast(%0[i])\n}\n",
      "graph g(%x: f64[n,m]) -> (%1) {\n  %0: f64[i:n] = sum(j:m) copy(%x[i,j])\n  %1: i32[i:n] = cast(%0[i])\n}\n",
      "graph g(%x: i32[n,m]) -> (%1) {\n  %0: i64[i:n] = sum(j:m) cast(%x[i,j])\n  %1: bool[i:n] = cast(%0[i])\n}\n",
      "graph g(%x: i32[n,m]) -> (%0, %1) {\n  %0: i64[i:n] = sum(j:m) cast(%x[i,j])\n  %1: i32[i:n] = cast(%0[i])\n}\n",
      "graph g(%x: i32[n,m]) -> (%1, %2) {\n  %0: i64[i:n] = sum(j:m) cast(%x[i,j])\n  %1: i32[i:n] = cast(%0[i])\n  %2: i64[i:n] = add(%0[i], 1)\n}\n",
      "graph g(%x: i64[n,m]) -> (%1) {\n  %0: i64[i:n] = sum(j:m) negative(%x[i,j])\n  %1: i32[i:n] = cast(%0[i])\n}\n",
  };
  CHECK(changed_by(narrow_sums, texts).empty());
}

TEST_CASE("sums that overflow have the low bytes of those that do not") {
  Graph g;
  const Expr x = g.input("x", i32, {"n", "m"}), y = g.input("y", i64, {"n", "m"});
  const Function f = compile({cast(sum(x, 1), i32), cast(prod(x, 1), i16), cast(sum(y, 0), u32), cast(sum(x * 3, 1), u8)}, {x, y}, checked());
  Array a(i32, {7, 100}), b(i64, {7, 100});
  for (Index k = 0; k < a.size(); ++k) a.data<std::int32_t>()[k] = std::numeric_limits<std::int32_t>::max() - static_cast<std::int32_t>(k * k % 91), b.data<std::int64_t>()[k] = (std::int64_t{1} << 62) - k * 1234567;
  check_call(f, {a, b});
}
