// Partial results of units become one without code of their own: of any number of units, none too, and to arrays of any layout.

#include "bits.h"

using namespace weft;

TEST_CASE("folds over any number of units by one function, none too, have the bits of the interpreter") {
  for (const DType dtype : {u8, i32, f32, f64}) {
    Graph g;
    const Expr x = g.input("x", dtype, {"n"}), y = g.input("y", dtype, {"n", "m"}), big = x > cast(g.constant(3), dtype);
    for (const int threads : {1, 2}) {
      const Function f = compile({sum(x), prod(x), any(big), all(big), sum(y, 0)}, {x, y}, {.threads = threads, .verify = true});
      for (const Index n : {1, 1025, 7000, 0, 300000, 16}) same_bits(f, {uneven(dtype, {n}), uneven(dtype, {n, 5})});
      const Function extremes = compile({max(x), min(x), max(y, 0)}, {x, y}, {.threads = threads, .verify = true});
      for (const Index n : {1, 1025, 7000}) same_bits(extremes, {uneven(dtype, {n}), uneven(dtype, {n, 5})});
    }
  }
}

TEST_CASE("a float sum over no units is +0, a product 1") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({sum(x), prod(x), sum(-x)}, {x}, {.verify = true});
  for (const Index n : {5, 0, 3}) {
    const std::vector<Array> results = f({Array(f32, {n})});
    if (n > 0) continue;
    CHECK(Scalar::load(f32, results[0].data()) == Scalar(0.0f));
    CHECK(Scalar::load(f32, results[1].data()) == Scalar(1.0f));
    CHECK(Scalar::load(f32, results[2].data()) == Scalar(0.0f));
  }
}

TEST_CASE("merged results go to arrays of any order and stride") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", "a", "b"});
  const Function f = compile({sum(x, 0)}, {x}, {.threads = 2, .verify = true});
  for (const Index n : {0, 3, 5000}) {
    const std::vector<Array> arrays{uneven(f64, {n, 3, 5})};
    const Array expected = expected_of(f, arrays)[0];
    const Array memory(f64, {20, 20});
    for (const Array& result : {Array(f64, {3, 5}), Array(f64, {3, 5}, Order::f), Array(memory.slice(0, 2, 3).slice(1, 1, 5, 2)), Array(memory.slice(0, 0, 3).slice(1, 0, 5).flip(1))}) {
      f.run(arrays, {result});
      CHECK(difference(result, expected) == "");
    }
  }
}

TEST_CASE("only nests have code") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  const Function f = compile({sum(x)}, {x}, {.verify = true});
  check_call(f, {uneven(f32, {3000})});
  const std::string code = f.llvm();
  CHECK(f.report().find(" 1 nests, 2 stages") != std::string::npos);
  CHECK(code.find("define void @weft_graph_0(") == code.find("define "));
  CHECK(code.rfind("define ") == code.find("define "));
}
