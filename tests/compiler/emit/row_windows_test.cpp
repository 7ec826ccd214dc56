// Windows of one row, picked from its vectors: every number of them, of any dtype, about the ends of rows and past the caches, against the interpreter.
#include <doctest/doctest.h>

#include "code/features.h"
#include "rows.h"

using namespace weft;

namespace {

Expr window(const Expr& x, Index from, Index size) { return x.slice({Slice::all, Slice(from, from == size - 1 ? std::optional<Index>() : std::optional<Index>(from - size + 1))}); }

Expr weighted(const Expr& x, Index size, Index step = 1) {
  Expr sum;
  for (Index k = 0; k < size; k += step) sum = k == 0 ? window(x, k, size) : sum + window(x, k, size) * static_cast<float>(k % 5 + 2);
  return sum;
}
Expr plain(const Expr& x, Index size) {
  Expr sum;
  for (Index k = 0; k < size; ++k) sum = k == 0 ? window(x, k, size) : sum + window(x, k, size);
  return sum;
}

bool picks(const Function& f) { return f.assembly().find("vperm") != std::string::npos; }
bool has_wide_registers() { return has_feature(host_features(), "+avx512f"); }

}  // namespace

TEST_CASE("weights and sums of windows, rows of every length, folds and stores") {
  for (const DType dtype : {f32, f64, i32, i64, f16, u8})
    for (const Index size : {2, 3, 5, 9, 17, 18, 35}) {
      CAPTURE(dtype);
      CAPTURE(size);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), sums = cast(plain(x, size), dtype), weights = cast(weighted(x, size, size > 9 ? 3 : 1), dtype);
      const Function stored = compile({sums, weights}, {x}, checked(2)), folded = compile({sum(sums, 1), max(weights, 0)}, {x}, checked());
      for (const Index columns : {0, 1, 3, 15, 16, 17, 31, 64, 65, 130}) {
        same_bits(stored, {uneven(dtype, {5, columns + size - 1})});
        if (columns > 0) same_bits(folded, {uneven(dtype, {20, columns + size - 1})});
      }
    }
}

// What stands behind the last vector of the first group is the beginning of the next one.
TEST_CASE("windows whole vectors apart, whose groups meet") {
  for (const DType dtype : {f32, f64, i32})
    for (const Index apart : {17, 32, 48, 64, 96, 128}) {
      CAPTURE(apart);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"});
      const Index size = apart + 3;
      const Expr near = window(x, 0, size) + window(x, 2, size), far = window(x, apart, size) - window(x, apart + 1, size) + window(x, apart + 2, size);
      const Expr all = maximum(near - far, minimum(abs(near), far + near)) - abs(far);
      const Function stored = compile({all}, {x}, checked()), folded = compile({sum(near - far, 1)}, {x}, checked());
      for (const Index columns : {300, 16, 32, 64, 65, 100})
        for (const Function* f : {&stored, &folded}) same_bits(*f, {uneven(dtype, {3, columns + size - 1})});
    }
}

TEST_CASE("past the caches, where arrays begin within lines, and along one long row") {
  for (const Index offset : {0, 1, 3})
    for (const Index size : {2, 5, 16}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m"});
      const Function f = compile({weighted(x, size)}, {x}, {.threads = 2, .cache_bytes = 1, .verify = true});
      for (const Dims& shape : {Dims{1, 5000}, Dims{7, 700}, Dims{40, 81}}) {
        const Array whole = uneven(f32, {shape[0], shape[1] + offset}), array(whole.slice(1, offset, shape[1]));
        same_bits(f, {array});
        Array results(f32, {shape[0], shape[1] - size + 1 + offset});
        const Array part(results.slice(1, offset, shape[1] - size + 1));
        f.run({array}, {part});
        CHECK(difference(part.copy(), f({array})[0]) == "");
      }
    }
}

TEST_CASE("picking pays in the caches where little is multiplied, and in memory") {
  if (!has_wide_registers()) return;
  const Machine caches = with_caches(1 << 24), memory = with_caches(1000);
  const auto picked = [](const Expr& result, const Expr& x, const Machine& machine) {
    const Function f = compile_for(machine, {result}, {x}, checked());
    same_bits(f, {uneven(f32, {3, 3000})});
    return picks(f);
  };
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  CHECK(picked(plain(x, 5) * 0.2f, x, caches));
  CHECK_FALSE(picked(weighted(x, 16), x, caches));
  CHECK(picked(weighted(x, 16), x, memory));
  CHECK_FALSE(picked(x * 2.0f + 1.0f, x, memory));
}
