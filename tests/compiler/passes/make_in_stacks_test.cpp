// Stacks along the last axis: what they put side by side is made where they store it, and no bit changes.
#include <weft/passes.h>

#include "pass_bits.h"
#include "passes/pipeline.h"

using namespace weft;

namespace {

bool has_rows(const Function& f) { return f.program().find("store row") != std::string::npos; }

}  // namespace

TEST_CASE("pairs that rotate, products of complex numbers, three and four values") {
  for (const DType dtype : {f32, f64, f16, i32, u8}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n", "m", 2}), c = g.input("c", dtype, {"m"}), s = g.input("s", dtype, {"m"});
    const auto part = [&](Index k) { return x.slice({Slice::all, Slice::all, Slice(k)}); };
    const Expr a = part(0), b = part(1), turned = stack({a * c - b * s, a * s + b * c}, -1);
    const Expr three = stack({a + c, a - b, b * s}, -1), four = stack({a, b, minimum(a, b), maximum(a, b)}, -1);
    const Function f = compile({turned}, {x, c, s}, checked(2)), both = compile({three, four}, {x, c, s}, checked());
    for (const auto& [n, m] : {std::pair<Index, Index>{30, 50}, {1, 1}, {3, 7}, {5, 16}, {2, 33}, {100, 3}, {1, 1000}}) {
      const std::vector<Array> arrays{uneven(dtype, {n, m, 2}), near_one(dtype, {m}), uneven(dtype, {m})};
      same_bits(f, arrays);
      same_bits(both, arrays);
    }
    f({uneven(dtype, {30, 50, 2}), near_one(dtype, {50}), uneven(dtype, {50})});
    if (dtype == f32) CHECK_FALSE(has_rows(f));
  }
}

TEST_CASE("past the caches, beside folds of the stack and of its parts, and with special values") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"}), sums = x + y, pairs = stack({sums * x, sums / y}, -1);
  for (const Index cache_bytes : {Index{1} << 30, Index{1}})
    for (const Function& f : {compile({pairs}, {x, y}, {.threads = 2, .cache_bytes = cache_bytes, .verify = true}),
                              compile({pairs, sum(sums), sum(pairs, 1)}, {x, y}, {.threads = 1, .cache_bytes = cache_bytes, .verify = true})})
      for (const Dims& shape : {Dims{7, 70}, Dims{40, 5}, Dims{1, 333}}) {
        same_bits(f, {uneven(f32, shape), near_one(f32, shape)});
        same_bits(f, {special(f32, shape, 1), special(f32, shape, 2)});
      }
}

TEST_CASE("what is dear, read by others too, a result or over more than four elements is made once") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const auto changes = [&](const std::vector<Expr>& results) {
    const Graph before = absorb_copies(drop_dead(extract(g, {x, y}, results)));
    const Graph after = make_in_stacks(before);
    const std::vector<Array> arrays{uneven(f32, {5, 20}), near_one(f32, {5, 20})};
    const std::vector<Array> expected = interpret(before, before.outputs, before.inputs, arrays), got = interpret(after, after.outputs, after.inputs, arrays);
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], expected[k]) == "");
    return to_text(after) != to_text(before);
  };
  CHECK(changes({stack({x + y, x - y}, -1)}));
  CHECK(changes({stack({x + y, x - y, x * y, y}, -1)}));
  CHECK_FALSE(changes({stack({exp(x), exp(y)}, -1)}));
  CHECK_FALSE(changes({stack({x, y}, -1)}));
  CHECK_FALSE(changes({stack({x + y, x - y}, 0)}));
  CHECK_FALSE(changes({stack({x + y, x - y, x * y, y * 2, x * 2}, -1)}));
  const Expr sums = x + y;
  CHECK_FALSE(changes({stack({sums, y}, -1), sums}));
  CHECK_FALSE(changes({stack({sums, y}, -1), sum(sums)}));
  Expr doubled = x;
  for (int k = 0; k < 30; ++k) doubled = doubled + doubled;
  CHECK_FALSE(changes({stack({doubled, y}, -1)}));
}
