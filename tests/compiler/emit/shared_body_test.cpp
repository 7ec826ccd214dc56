// Long bodies are emitted once, for whole vectors and for the last part: nothing beyond an array is touched, results in the memory of an
// operand are right, folds count the elements that are there.
#include "bits.h"
#include "code/features.h"
#include "guarded.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / 64 - 1.5; });
}

Expr long_body(const Expr& x, const Expr& y) { return exp(tanh(x * y) - 0.5) * sigmoid(y) + x; }

}  // namespace

TEST_CASE("long bodies of every number of elements, in registers of every width") {
  for (DType dtype : {f32, f64, f16})
    for (int lanes : {4, 8, 16}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n"}), y = g.input("y", dtype, {"n"});
      const Function f = compile({long_body(x, y), sum(long_body(x, y))}, {x, y}, {.threads = 1, .lanes = lanes, .verify = true});
      const Graph& graph = f.final_graph();
      for (Index n = 0; n <= 70; n += n < 36 ? 1 : 5) {
        const std::vector<Array> arrays{counted(dtype, {n}), counted(dtype, {n})};
        const std::vector<Array> results = f(arrays), expected = interpret(graph, graph.outputs, graph.inputs, arrays, {}, compiled_math);
        CAPTURE(n);
        for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
      }
    }
}

// Those of so many elements in two halves that overlap (overlap_turns.h), and the last part by itself.
TEST_CASE("long bodies of many elements, whole vectors of them and not: alone, with sums, in the memory of an operand") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  const Expr gelu = 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
  const std::vector<Expr> alone{gelu, grad(sum(gelu * y), {x})[0]}, with_sums{alone[1], sum(alone[1]), cbrt(x) + y}, with_maximum{alone[1], sum(alone[1]), max(alone[1]), cbrt(x) + y};
  for (const auto& outputs : {alone, with_sums, with_maximum, {cbrt(x) + y}})
    for (Index n : {8192, 8193, 8223, 20479}) {
      CAPTURE(n);
      const Function f = compile(outputs, {x, y}, {.threads = 2, .verify = true});
      const Graph& graph = f.final_graph();
      const std::vector<Array> arrays{counted(f32, {n}), counted(f32, {n})};
      const std::vector<Array> results = f(arrays), expected = interpret(graph, graph.outputs, graph.inputs, arrays, {}, compiled_math);
      for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
      const bool marked = f.llvm().find("weft.many-turns") != std::string::npos;
      const bool has_maximum = outputs.size() == with_maximum.size();     // whose last part is a branch of the body
      CHECK(marked == (n == 8192 || !has_maximum));
      std::vector<Array> given{arrays[0].copy(), arrays[1].copy()}, taken = results;
      taken[0] = given[1];
      f.run(given, taken);
      for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(taken[k], expected[k]) == "");
    }
  CHECK(compile({alone}, {x, y}).llvm().find("weft.many-turns") == std::string::npos);       // of as few elements as are supposed
}

// Loads with masks that are known need no memory of their own, through which rows in memory wait for each other.
TEST_CASE("long bodies of short rows whose length is a number are one step with masks") {
  for (const Index m : {17, 31, 33, 50})
    for (const int lanes : {8, 16}) {
      CAPTURE(m);
      CAPTURE(lanes);
      Graph g;
      const Expr x = g.input("x", f32, {"n", 2 * m}), left = x.slice({Slice::all, {0, m}}), right = x.slice({Slice::all, {m, 2 * m}});
      const Function f = compile({left * sigmoid(right)}, {x}, {.threads = 1, .lanes = lanes, .verify = true});
      for (const Index n : {1, 40}) {
        const Array values = counted(f32, {n, 2 * m}), result = Array::empty(f32, {n, m});
        f.run({values}, {result});
        CHECK(difference(result, interpret(f.final_graph(), f.final_graph().outputs, f.final_graph().inputs, {values}, {}, compiled_math)[0]) == "");
      }
      if (has_feature(host_features(lanes), "+avx512f")) CHECK(f.llvm().find("%part = alloca") == std::string::npos);
    }
}

TEST_CASE("rows that end anywhere: several folds, results in the memory of an operand, operands that repeat or stand still") {
  for (Index m : {1, 15, 17, 33, 50, 1040}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"}), w = g.input("w", f32, {"n"}), b = g.input("b", u8, {"n", "m"});
    const Expr z = long_body(x, y) * expand_dims(exp(w), 1) + cast(b, f32);
    const std::vector<Array> arrays{counted(f32, {5, m}), counted(f32, {5, m}), counted(f32, {5}), counted(u8, {5, m})};
    check_bits({z, sum(z, 1), max(z, 1), cast(greater(z, 0.5f), u8), softmax(z)}, {x, y, w, b}, arrays);
    const Function f = compile({long_body(x, y)}, {x, y}, {.threads = 2, .verify = true});
    const Array expected = f({arrays[0], arrays[1]})[0];
    Array shared = arrays[0].copy();
    f.run({shared, arrays[1]}, {shared});
    CHECK(difference(shared, expected) == "");
  }
}

// What lanes outside a row give is taken back: here NaN and infinities, of zeros.
TEST_CASE("folds of rows that end anywhere, of what zeros have no value of") {
  for (DType dtype : {f32, f64, f16})
    for (Index m : {1, 15, 16, 17, 31, 33, 50, 1040}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), y = g.input("y", dtype, {"n", "m"});
      const Expr z = log(x) / x + tanh(y / x) * sigmoid(y);
      const Array positive = counted_by(dtype, {3, m}, [](Index k) { return static_cast<double>(k * 7919 % 211 + 1) / 64; });
      CAPTURE(m);
      check_bits({z, sum(z, 1), prod(tanh(z), 1), sum(z * y, 1), sum(cast(less(z, y), DType::i32), 1), sum(z)}, {x, y}, {positive, counted(dtype, {3, m})});
      check_bits({sum(z, 1), max(z, 1)}, {x, y}, {positive, counted(dtype, {3, m})});
    }
}

#if defined(__linux__)
TEST_CASE("arrays that end where memory ends") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  const Function f = compile({long_body(x, y)}, {x, y}, {.threads = 1});
  const Graph& graph = f.final_graph();
  for (Index n : {1, 7, 16, 31, 40}) {
    const Array a = counted(f32, {n}), b = counted(f32, {n});
    const Array expected = interpret(graph, graph.outputs, graph.inputs, {a, b}, {}, compiled_math)[0];
    const Array result = guarded(a, true);
    f.run({guarded(a, true), guarded(b, true)}, {result});
    CHECK(difference(result, expected) == "");
  }
}
#endif

TEST_CASE("bodies that mostly move are emitted once for whole vectors and once with masks, for rows that end anywhere and of every dtype") {
  for (const DType dtype : {f32, f64, f16, i32, u8}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"h", "w"});
    Expr sum;
    for (Index k = 0; k < 9; ++k) {
      const auto part = [](Index from) { return Slice(from, from == 2 ? std::optional<Index>() : std::optional<Index>(from - 2)); };
      const Expr each = x.slice({part(k / 3), part(k % 3)});
      sum = k == 0 ? each : sum + each;
    }
    for (const Index width : {3, 10, 18, 35, 50, 77, 150}) {
      const Function f = check_bits({cast(sum, dtype)}, {x}, {counted(dtype, {6, width})}, 1, 16);
      if (has_feature(host_features(), "+avx512f") && dtype == f32) CHECK(f.llvm().find("before:") == std::string::npos);
    }
  }
}
