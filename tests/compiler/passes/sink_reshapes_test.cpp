// What is done to values after a reshape is done where they are made: a loop less.
#include <weft/function.h>
#include <weft/rearrange.h>

#include "nests.h"

using namespace weft;

TEST_CASE("ops after the reshape of a fold, a scan, or of what is read backwards") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 12, 5}), b = g.input("b", f32, {12}), c = g.input("c", f32, {4}), s = g.input("s", f32, {}), z = g.input("z", f32, {"n", 3, 4});
  const std::vector<Expr> inputs{x, b, c, s, z};
  const std::vector<Array> arrays{near_one(f32, {6, 12, 5}), near_one(f32, {12}), near_one(f32, {4}), near_one(f32, {}), near_one(f32, {6, 3, 4})};
  const Shape split{"n", 3, 4};
  const Expr folded = reshape(sum(x, 2), split);
  check_nests(maximum(folded * 2 + s, 0), inputs, arrays);
  check_nests(folded + reshape(b, {3, 4}), inputs, arrays);
  check_nests(square(folded + z), inputs, arrays);
  check_nests(folded * reshape(max(x, 2), split) - 1, inputs, arrays);
  check_nests(permute_dims(folded * 2, {1, 0, 2}), inputs, arrays, 2);
  check_nests(reshape(cumulative_sum(x, 1), {"n", -1}) * 3, inputs, arrays);
  check_nests(cast(reshape(flip(x, 1), {-1, 5}) > 1, f32), inputs, arrays);
  check_nests(reshape(reshape(flip(x, 1), {-1}) * 2, {-1, 10}) + 1, inputs, arrays);
  check_nests(repeat(repeat(x, 2, 1), 3, 2), inputs, arrays);
  check_nests(tile(repeat(flip(x, 2), 2, 1) + 1, {1, 2, 1}), inputs, arrays);
  check_nests(folded * c, inputs, arrays, 2);                      // follows part of what was reshaped
}

TEST_CASE("arrays that are read elsewhere too, or by what would be larger, stay") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 12}), w = g.input("w", f32, {3});
  const std::vector<Array> arrays{near_one(f32, {10, 12}), near_one(f32, {3})};
  const Expr turned = flip(x, 1), pairs = reshape(turned * 2, {-1, 4});
  check_nests(sum(pairs) + sum(pairs * 3), {x, w}, arrays, 2);
  check_nests(sum(expand_dims(pairs, 2) * w, 1), {x, w}, arrays, 2);
  check_bits({pairs, pairs + 1, turned}, {x, w}, arrays);
  check_bits({exp(pairs), sum(exp(pairs), 0)}, {x, w}, arrays);
}

TEST_CASE("counts that only a call knows, and extents of zero and one") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 6}), z = g.input("z", f32, {"k"});
  const Function f = compile({reshape(cumulative_sum(x, 1), {"k", 3}) * 2 + expand_dims(z, 1)}, {x, z}, {.threads = 1, .verify = true});
  same_bits(f, {near_one(f32, {4, 6}), near_one(f32, {8})});
  CHECK_THROWS_AS(f({near_one(f32, {4, 6}), near_one(f32, {7})}), Error);
  const Expr y = g.input("y", f32, {"n", "m", 1});
  for (const auto& [n, m] : {std::pair<Index, Index>{1, 1}, {5, 3}, {0, 4}, {4, 0}, {1, 20}})
    for (const Expr& e : {reshape(cumulative_sum(y, 0), {-1}) + 1, reshape(flip(y, 1), {1, "m", "n"}) * 2, square(reshape(sum(y, 0), {"m", 1, 1}))}) check_nests(e, {y}, {near_one(f32, {n, m, 1})});
}
