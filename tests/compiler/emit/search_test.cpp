// Folds of the smallest index at which something holds end where they find it.
#include <limits>

#include <weft/rearrange.h>

#include "bits.h"
#include "guarded.h"

using namespace weft;

namespace {

bool searches(const Function& f) { return f.report().find("up to the first index") != std::string::npos; }

// The smallest index along the last axis at which a condition holds; the largest i64 if there is none.
Expr first_where(const Expr& condition) {
  const Expr index = iota(condition.graph(), condition.shape().back());
  return min(where(condition, index, std::numeric_limits<std::int64_t>::max()), -1);
}

// Zeros, and one element that is something else.
Array with_one(DType dtype, Index length, Index at, double value) {
  return counted_by(dtype, {2, length}, [&](Index k) { return k == at || k == length ? value : 0.0; });
}

}  // namespace

TEST_CASE("argmax and argmin of rows, with ties, for all lengths around whole vectors") {
  for (const DType dtype : {f32, f64, f16, bf16, u8, i16, i32, u64, bool_})
    for (const int lanes : {0, 4, 8})
      for (const Index length : {1, 15, 16, 17, 31, 33, 48, 63, 64, 65, 100, 130, 1000, 1031}) {
        CAPTURE(dtype);
        CAPTURE(lanes);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", "m"});
        for (const Expr& result : {argmax(x, {1}), argmin(x, {1})}) {
          const Function f = check_bits({result}, {x}, {uneven(dtype, {5, length})}, 1, lanes);
          if (length > 64) CHECK(searches(f));
        }
      }
}

TEST_CASE("the index is that of the extreme, wherever it stands") {
  for (const DType dtype : {f32, f64, u8}) {
    Graph g;
    const Expr x = g.input("x", dtype, {2, 130});
    const Function f = compile({argmax(x, {1})}, {x}, checked());
    for (Index at = 0; at < 130; ++at) {
      const std::vector<Array> results = f({with_one(dtype, 130, at, 3)});
      CHECK(results[0].data<std::int64_t>()[0] == at);
      CHECK(results[0].data<std::int64_t>()[1] == 0);
    }
    CHECK(searches(f));
  }
}

TEST_CASE("a NaN is the extreme, and the first of several") {
  for (const DType dtype : {f32, f64, f16}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"});
    const Function f = compile({argmax(x, {1}), argmin(x, {1})}, {x}, checked());
    for (const Index at : {0, 7, 31, 32, 99, 128}) same_bits(f, {with_one(dtype, 129, at, std::numeric_limits<double>::quiet_NaN())});
    same_bits(f, {special(dtype, {40, 129})});
  }
}

TEST_CASE("nothing is found") {
  for (const DType dtype : {f32, f64, i16}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m"});
    const Function f = compile({first_where(x > 1000), first_where(x < 0) + 1}, {x}, checked());
    for (const Index length : {1, 16, 100, 2000}) same_bits(f, {uneven(dtype, {3, length})});
    CHECK(f({uneven(dtype, {1, 100})})[0].data<std::int64_t>()[0] == std::numeric_limits<std::int64_t>::max());
  }
}

TEST_CASE("whole arrays are searched in slices, by several threads too") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  for (const Index n : {5, 1024, 100000, 300001}) {
    CHECK(searches(check_bits({argmax(x)}, {x}, {uneven(f32, {n})}, 2)));
    check_bits({first_where(x > 499)}, {x}, {uneven(f32, {n})}, 2);
  }
}

TEST_CASE("conditions with functions, of several operands, of the index itself, and of one value for each row") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f64, {"n", "m"}), c = g.input("c", bool_, {"n"});
  const Expr index = iota(g, Extent("m"), i64);
  const std::vector<Expr> outputs{first_where(exp(x) > 2), first_where((x > 1) & (y < 0)), first_where((cast(index, f32) > x) & (x > 3)), first_where(broadcast_to(expand_dims(c, 1), {"n", "m"}))};
  for (const Index length : {1, 40, 333})
    check_bits(outputs, {x, y, c}, {uneven(f32, {6, length}), uneven(f64, {6, length}), counted_by(bool_, {6}, [](Index k) { return k % 2; })}, 1);
}

TEST_CASE("rows by steps, from the end, down columns and through windows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const std::vector<Expr> outputs{argmax(x.slice({Slice(), Slice({}, {}, 2)}), {1}), argmax(flip(x, {1}), {1}), argmin(x, {0}), argmax(concat({x, x * 2}, 1), {1}), argmax(reshape(x, {Extent("n") * "m"}), {0})};
  for (const auto& [rows, length] : {std::pair<Index, Index>{3, 7}, {40, 129}, {300, 64}, {1000, 10}}) {
    const Array array = uneven(f32, {rows, length});
    check_bits(outputs, {x}, {array}, 2);
    check_bits(outputs, {x}, {array.copy(Order::f)}, 1);
  }
}

#if defined(__linux__)
TEST_CASE("a search reads nothing beside its rows") {
  for (const DType dtype : {f32, u8, f64}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"m"});
    const Function f = compile({argmax(x), first_where(x > 200)}, {x}, checked());
    for (const Index length : {1, 15, 17, 50, 100, 131})
      for (const bool at_end : {false, true}) same_bits(f, {guarded(uneven(dtype, {length}), at_end)});
  }
}
#endif
