// Smallest indices and counts are folded in 32 bits where they fit.
#include "program/narrow_folds.h"

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

TEST_CASE("a selected index that is a result itself keeps 64 bits, as does a count whose casts are results") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Expr index = iota(g, Extent("m")), none = g.constant(std::numeric_limits<std::int64_t>::max());
  const Expr selected = where(x > 3, index, none), is = cast(x > 3, i64);
  for (const auto& outputs : {std::vector<Expr>{selected, min(selected, 1)}, {min(selected, 0), selected}, {min(selected, 1), max(selected, 1)}, {is, sum(is, 1), sum(is, 0)}})
    for (const auto& [n, m] : {std::pair<Index, Index>{30, 200}, {500, 3}, {3, 500}}) check_bits(outputs, {x}, {uneven(f32, {n, m})});
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

TEST_CASE("sums of conditions are counts of 32 bits, beside elements of 64 and of numbers they are of 64") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f64, {"n", "m"}), b = g.input("b", u8, {"n", "m"}), k = g.input("k", i64, {"n", "m"});
  const auto narrow = [&](const Expr& result) {
    const Function f = compile({result}, {x, y, b, k}, checked(2));
    for (const auto& [n, m] : {std::pair<Index, Index>{300, 70}, {3, 2000}, {5000, 3}, {1, 1}, {0, 4}, {4, 0}})
      same_bits(f, {uneven(f32, {n, m}), uneven(f64, {n, m}), uneven(u8, {n, m}), uneven(i64, {n, m})});
    return says(f.program(), "by sum i32");
  };
  for (const int axis : {0, 1}) {
    CAPTURE(axis);
    for (const Expr& condition : {x > 2, b > std::uint8_t{2}, isnan(x) | (x < 0), cast(b, bool_)}) {
      CHECK(narrow(sum(condition, axis)));
      CHECK(narrow(sum(cast(condition, i32), axis)));
      CHECK(narrow(sum(cast(cast(condition, u8), u64), axis) * std::uint64_t{3}));
    }
    for (const Expr& other : {sum(y > 2, axis), sum(k, axis), sum(cast(b, i64), axis), sum(cast(x > 2, i64) * 2, axis)}) CHECK_FALSE(narrow(other));
  }
  CHECK(narrow(sum(x > 2)));
  CHECK(narrow(sum(cast(x > 2, i64), 0) + sum(cast(x > 2, i64), 0) * 2));
}

TEST_CASE("a condition that is read as a number too, and counts that go on in the same nest") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Expr is = cast(x > 2, i64), count = sum(is, 1, true);
  for (const auto& outputs : {std::vector<Expr>{count, is}, {x * cast(count, f32)}, {is * count, sum(count * count)}, {sum(is, 0), sum(is, 1), max(is, 1)}})
    for (const auto& [n, m] : {std::pair<Index, Index>{40, 300}, {2000, 5}, {17, 17}}) check_bits(outputs, {x}, {uneven(f32, {n, m})});
}

TEST_CASE("sizes that do not fit 32 bits keep 64") {
  CHECK(facts_of_all_but_huge({{"n", Index{1} << 31}, {"m", (Index{1} << 31) - 1}, {"z", 0}}) == Facts{{"m", {1, 0, most_in_32_bits}}});
  CHECK(facts_of_call({{"n", Index{1} << 31}}).at("n").most == std::numeric_limits<Index>::max());
  CHECK(hold_for(facts_of_all_but_huge({{"n", 5}}), {{"n", most_in_32_bits}}));
  CHECK_FALSE(hold_for(facts_of_all_but_huge({{"n", 5}}), {{"n", most_in_32_bits + 1}}));
}
