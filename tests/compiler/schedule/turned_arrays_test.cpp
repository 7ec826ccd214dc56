// Arrays between nests lie as most bytes of the call's arrays do, whatever the graph says, and nothing but speed depends on it.
#include "bits.h"

using namespace weft;

namespace {

Expr softmax_of(const Expr& x) { return softmax(x, 1); }

// The results for arrays in C, and for arrays in F with results in F.
void same_either_way(const Function& f, const std::vector<Array>& arrays) {
  const std::vector<Array> expected = f(arrays);
  std::vector<Array> turned, results;
  for (const Array& array : arrays) turned.push_back(array.copy(Order::f));
  for (const Array& result : expected) results.emplace_back(result.dtype(), result.shape(), Order::f);
  f.run(turned, results);
  for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
}

}  // namespace

TEST_CASE("softmax and layer norm of column-major arrays keep what lies between their nests column-major") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"}), scale = g.input("scale", f32, {"d"}), shift = g.input("shift", f32, {"d"});
  const Function soft = compile({softmax_of(x)}, {x}, {.verify = true}), norm = compile({layer_norm(x, scale, shift, 1)}, {x, scale, shift}, {.verify = true});
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{96, 80}, {33, 17}, {1, 40}, {40, 1}, {200, 1030}}) {
    const Array a = near_one(f32, {n, d});
    same_either_way(soft, {a});
    same_either_way(norm, {a, near_one(f32, {d}), uneven(f32, {d})});
  }
}

TEST_CASE("the report says how they lie") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const Function soft = compile({softmax_of(x)}, {x}, {.verify = true});
  const Array a = near_one(f32, {768, 5000});   // more than rows of a unit can hold
  Array result(f32, {768, 5000}, Order::f);
  soft.run({a.copy(Order::f)}, {result});
  CHECK(difference(result, soft({a})[0]) == "");
  soft.run({a.copy(Order::f)}, {result});
  CHECK(soft.report().find("arrays between nests %2 f\n") != std::string::npos);
  soft.run({a}, {result});                      // as many bytes either way: as the graph says
  CHECK(soft.report().find(" f\n") == std::string::npos);
}

TEST_CASE("reshaped arrays stay row-major, windows and scans between nests may turn") {
  Graph g;
  const Expr x = g.input("x", f32, {6, "d"}), y = g.input("y", f32, {"n", "d"});
  const Expr rows = reshape(exp(x), {2, 3, "d"});
  const Function reshaped = compile({rows * 2, sum(rows, 2)}, {x}, {.verify = true});
  const Expr all = softmax_of(y), run = cumulative_sum(all, 1);
  const Function scanned = compile({run / expand_dims(max(run, 1), 1), flip(all, 0)}, {y}, {.verify = true});
  const Expr weighed = softmax_of(y) * y;
  const Function slope = compile(grad(sum(weighed * weighed), {y}), {y}, {.threads = 2, .verify = true});
  for (const Index d : {1, 16, 37, 100}) {
    same_either_way(reshaped, {near_one(f32, {6, d})});
    for (const Index n : {1, 20, 67}) {
      same_either_way(scanned, {near_one(f32, {n, d})});
      same_either_way(slope, {near_one(f32, {n, d})});
    }
  }
}

TEST_CASE("arrays of three axes") {
  Graph g;
  const Expr x = g.input("x", f64, {"a", "b", "c"});
  const Function f = compile({x / sum(exp(x), {1, 2}, true) + max(x * x, 0)}, {x}, {.verify = true});
  const Array a = near_one(f64, {7, 20, 33});
  same_either_way(f, {a});
}
