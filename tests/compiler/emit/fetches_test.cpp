// How far ahead the loops over rows fetch, in the caches and in memory.
#include "emit/fetches.h"

#include <doctest/doctest.h>

#include "rows.h"

using namespace weft;

namespace {

// What is fetched lies as many rows ahead as the stride of a row is multiplied by.
bool fetches(const Function& f, Index rows_ahead) {
  const std::string code = f.llvm();
  CHECK(code.find("llvm.prefetch") != std::string::npos);
  return code.find(concat("mul i64 ", rows_ahead, ", %")) != std::string::npos;
}

}  // namespace

TEST_CASE("loops over rows fetch the next row; in memory so many ahead that these are 8192 bytes or more") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), shares = softmax(x, 1);
  for (const Index length : {100, 1000, 1024, 5000}) CHECK(fetches(on_rows(shares, x, 70, length, 1 << 24), 1));
  CHECK(fetches(on_rows(shares, x, 70, 100, 1000), 21));
  CHECK(fetches(on_rows(shares, x, 70, 1000, 1000), 3));
  CHECK(fetches(on_rows(shares, x, 70, 1024, 1000), 2));
  CHECK(fetches(on_rows(shares, x, 70, 5000, 1000), 1));
  CHECK_FALSE(fetches(on_rows(shares, x, 70, 5000, 1000), 2));
}

TEST_CASE("loops over blocks of 64 rows fetch the next block; in memory, beside results that go there, the one after it too") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), norm = sqrt(sum(square(x), 1)), unit = x / of_row(norm);
  CHECK(fetches(on_rows(unit, x, 200, 64, 1 << 24), 64));
  CHECK_FALSE(fetches(on_rows(unit, x, 200, 64, 1 << 24), 128));
  CHECK(fetches(on_rows(unit, x, 200, 64, 1000), 64));
  CHECK(fetches(on_rows(unit, x, 200, 64, 1000), 128));
  const Expr weighted = sum(x * of_row(softplus(norm)), 0);       // small
  CHECK(fetches(on_rows(weighted, x, 200, 64, 1000), 64));
  CHECK_FALSE(fetches(on_rows(weighted, x, 200, 64, 1000), 128));
}

TEST_CASE("beside stores past the caches up to four arrays are fetched into the first level, more into the second") {
  Graph g;
  std::vector<Expr> inputs;
  std::vector<Array> arrays;
  for (int count = 1; count <= 6; ++count) {
    inputs.push_back(g.input(concat("x", count), f32, {"n"}));
    arrays.push_back(uneven(f32, {5000}));
    Expr total = inputs[0];
    for (const Expr& x : inputs) total = total * 0.5 + x;
    const Function f = compile({total}, inputs, {.threads = 1, .cache_bytes = 1, .verify = true});
    same_bits(f, arrays);
    const std::string code = f.llvm();
    CHECK((code.find("i32 0, i32 3, i32 1)") != std::string::npos) == (count <= 4));
    CHECK((code.find("i32 0, i32 2, i32 1)") != std::string::npos) == (count > 4));
  }
}
