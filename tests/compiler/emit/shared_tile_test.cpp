// Rows of a few elements: those that are less than a vector at the end run the same code by way of memory. Nothing beyond an array is touched, results in
// the memory of an operand are right, and every bit is the interpreter's.
#include "bits.h"
#include "guarded.h"
#include "occurrences.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / (1 + k % 3) - 40; });
}

// Of rows of few elements x and numbers y for each of them.
std::vector<Expr> body(int which, const Expr& x, const Expr& y) {
  const Expr most = max(x, 1, true);
  switch (which) {
    case 0: return {sum(x, 1)};
    case 1: return {x - most, most};
    case 2: return {cumulative_sum(x, 1)};
    case 3: return {sum(x * expand_dims(y, 1), 1) + y, min(x, 1)};
    default: return {x * expand_dims(y, 1), flip(x, {1}), cumulative_sum(flip(x, {1}), 1)};
  }
}

// check(few, dtype, outputs, inputs)
template <class Check> void each_body(std::initializer_list<DType> dtypes, std::initializer_list<Index> elements, int bodies, const Check& check) {
  for (const DType dtype : dtypes)
    for (const Index few : elements)
      for (int which = 0; which < bodies; ++which) {
        CAPTURE(dtype);
        CAPTURE(few);
        CAPTURE(which);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", few}), y = g.input("y", dtype, {"n"});
        check(few, dtype, body(which, x, y), std::vector<Expr>{x, y});
      }
}

}  // namespace

TEST_CASE("rows of few elements, any number of them, next to pages without access") {
  each_body({f32, f64, f16, DType::i16, DType::u8}, {2, 3, 5, 7, 8, 12, 15}, 5, [](Index few, DType dtype, const std::vector<Expr>& outputs, const std::vector<Expr>& inputs) {
    const Function f = compile(outputs, inputs, {.threads = 2, .verify = true});
    for (const Index n : {1, 15, 16, 17, 31, 100, 1030}) {
      CAPTURE(n);
      const std::vector<Array> arrays{counted(dtype, {n, few}), counted(dtype, {n})};
      const Graph& graph = f.final_graph(arrays);
      const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, arrays, {}, compiled_math);
#if defined(__linux__)
      for (const bool at_end : {false, true}) {
        std::vector<Array> given, taken;
        for (const Array& array : arrays) given.push_back(guarded(array, at_end));
        for (const Array& result : expected) taken.push_back(guarded(Array(result.dtype(), result.shape()), at_end));
        f.run(given, taken);
        for (std::size_t k = 0; k < taken.size(); ++k) CHECK(difference(taken[k], expected[k]) == "");
      }
#endif
      if (expected[0].dtype() != dtype || expected[0].shape() != arrays[0].shape()) continue;
      std::vector<Array> given{arrays[0].copy(), arrays[1].copy()}, taken = f(arrays);
      taken[0] = given[0];
      f.run(given, taken);
      for (std::size_t k = 0; k < taken.size(); ++k) CHECK(difference(taken[k], expected[k]) == "");
    }
  });
}

TEST_CASE("rows of few elements in arrays of longer rows, backwards, by steps") {
  each_body({f32, f64}, {3, 7, 12}, 5, [](Index few, DType dtype, const std::vector<Expr>& outputs, const std::vector<Expr>& inputs) {
    const Function f = compile(outputs, inputs, {.threads = 1, .verify = true});
    for (const Index n : {1, 17, 47, 300}) {
      CAPTURE(n);
      const Array wide = counted(dtype, {2 * n, 2 * few + 1});
      const View rows = wide.slice(0, 0, n);
      for (const View& view : std::vector<View>{rows.slice(1, 1, few), rows.slice(1, 0, few, 2), rows.slice(1, 1, few).flip(1), wide.slice(0, 1, n, 2).slice(1, 2, few), rows.slice(1, 2, few).flip(0)})
        same_bits(f, {Array::borrow(view, std::make_shared<Array>(wide)), counted(dtype, {n})});
    }
  });
}

TEST_CASE("rows of few elements are transposed by the same code, a vector of them or less") {
  each_body({f32}, {3, 7, 12}, 3, [](Index few, DType dtype, const std::vector<Expr>& outputs, const std::vector<Expr>& inputs) {
    const auto shuffles = [&](Index n) {
      const Function f = compile(outputs, inputs, {.threads = 1});
      f({counted(dtype, {n, few}), counted(dtype, {n})});
      return occurrences(f.llvm(), "shufflevector");
    };
    const int whole = shuffles(4096);
    CHECK(whole > 0);
    CHECK(shuffles(4097) <= whole + whole / 4);
  });
}
