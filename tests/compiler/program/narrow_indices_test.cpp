// Smallest indices are folded in 32 bits where they fit.
#include "program/narrow_indices.h"

#include <limits>

#include <weft/rearrange.h>

#include "bits.h"

using namespace weft;

namespace {

bool says(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("indices of elements of up to 32 bits have 32, beside those of 64 they have 64") {
  for (const DType dtype : {u8, f16, i32, f32, f64, i64}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"});
    const Function f = compile({argmax(x, {0})}, {x}, checked());
    same_bits(f, {uneven(dtype, {50, 40})});
    const bool fits = size_of(dtype) <= 4;
    CHECK(says(f.program(), fits ? "by min i32" : "by min i64"));
    CHECK_FALSE(says(f.program(), fits ? "by min i64" : "by min i32"));
    CHECK(says(f.report(), "n at most") == fits);
  }
}

TEST_CASE("a later call of other sizes has narrow indices too") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Function f = compile({argmax(x, {0})}, {x}, checked());
  for (const auto& [n, m] : {std::pair<Index, Index>{64, 64}, {63, 33}, {5000, 700}, {3, 100000}, {1, 1}}) {
    same_bits(f, {uneven(f32, {n, m})});
    CHECK(says(f.program(), "by min i32"));
  }
}

TEST_CASE("columns, thin rows, merged parts and rows in registers, with columns that have no index") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Expr index = expand_dims(iota(g, Extent("n")), 1), along = iota(g, Extent("m"));
  const Expr none = g.constant(std::numeric_limits<std::int64_t>::max());
  const std::vector<Expr> outputs{min(where(x > 400, index, none), 0), min(where(x > 400, along, none), 1), argmax(x, {0}) * 2, x + cast(argmin(x, {1}, true), f32)};
  for (const auto& [n, m] : {std::pair<Index, Index>{3, 5}, {17, 64}, {2000, 3}, {3, 2000}, {500, 300}, {40000, 10}, {20000, 2}, {1, 7}})
    for (const int threads : {1, 2}) check_bits(outputs, {x}, {uneven(f32, {n, m})}, threads);
}

TEST_CASE("an index that others read too stays what it is") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Expr index = iota(g, Extent("n")), none = g.constant(std::numeric_limits<std::int64_t>::max());
  const Function f = check_bits({min(where(x > 3, index, none), 0), index * 3 + 1, sum(where(x > 3, index, std::int64_t{0}))}, {x}, {uneven(f32, {3000})});
  CHECK(says(f.program(), "by min i32"));
}

TEST_CASE("what is no index, or starts or steps elsewhere, or has another number for none, is not narrowed") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), k = g.input("k", i64, {"n"});
  const Expr index = iota(g, Extent("n")), none = g.constant(std::numeric_limits<std::int64_t>::max());
  for (const Expr& result : {min(where(x > 3, k, none), 0), min(where(x > 3, index * 3, none), 0), min(where(x > 3, index, std::int64_t{5000000000}), 0), max(where(x > 3, index, std::int64_t{-1}), 0)}) {
    const Function f = check_bits({result}, {x, k}, {uneven(f32, {3000}), uneven(i64, {3000})});
    CHECK_FALSE(says(f.program(), "by min i32"));
  }
}

TEST_CASE("sizes that do not fit 32 bits keep 64") {
  CHECK(facts_of_all_but_huge({{"n", Index{1} << 31}, {"m", (Index{1} << 31) - 1}, {"z", 0}}) == Facts{{"m", {1, 0, most_in_32_bits}}});
  CHECK(facts_of_call({{"n", Index{1} << 31}}).at("n").most == std::numeric_limits<Index>::max());
  CHECK(hold_for(facts_of_all_but_huge({{"n", 5}}), {{"n", most_in_32_bits}}));
  CHECK_FALSE(hold_for(facts_of_all_but_huge({{"n", 5}}), {{"n", most_in_32_bits + 1}}));
}
