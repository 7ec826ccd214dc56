// Long functions along many rows of sixteen to 64 elements that are folded: with registers of masks the other axis runs as vectors then, where the rows
// are no whole vectors. All against the interpreter, bit for bit.
#include "bits.h"
#include "code/features.h"
#include "guarded.h"
#include "layouts.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / 8 - 13; });
}

// The loops of the last variant: along the axis of the rows' elements or across.
bool runs_along_rows(const Function& f) { return f.program().find("lanes j in ") != std::string::npos; }
bool runs_across_rows(const Function& f) { return f.program().find("lanes i in n") != std::string::npos; }

}  // namespace

TEST_CASE("softmax over short rows runs across them, over long ones along them, whichever came first") {
  for (const bool short_first : {true, false}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "d"});
    const Function f = compile({softmax(x, 1)}, {x}, {.threads = 1, .verify = true});
    const Array few = counted(f32, {4000, 20}), many = counted(f32, {70, 1000}), small = counted(f32, {3000, 20});
    const Graph& graph = f.final_graph();
    const auto check = [&](const Array& given) { CHECK(difference(f({given})[0], interpret(graph, graph.outputs, graph.inputs, {given}, {}, compiled_math)[0]) == ""); };
    for (const bool is_short : {short_first, !short_first}) {
      check(is_short ? few : many);
      const bool is_across = is_short && has_feature(host_features(0), "+avx512f");          // without, the end of a row is code of its own
      CHECK(runs_across_rows(f) == is_across);
      CHECK(runs_along_rows(f) != is_across);
    }
    const double seconds = f.compile_seconds();
    for (const Array& again : {few, many, few}) check(again);
    CHECK(f.compile_seconds() == seconds);
    check(small);
  }
}

TEST_CASE("rows that are whole vectors, and short functions, run along the rows") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "d"});
  const Function exact = compile({softmax(x, 1)}, {x}), centred = compile({x - mean(x, 1, true)}, {x});
  exact({counted(f32, {2000, 64})});
  CHECK(runs_along_rows(exact));
  centred({counted(f32, {3000, 20})});
  CHECK(runs_along_rows(centred));
}

TEST_CASE("functions and folds of short rows have the bits of the interpreter") {
  for (const DType dtype : {f32, f64, f16})
    for (const Index d : dtype == f32 ? std::vector<Index>{16, 17, 20, 31, 33, 56, 64, 65} : std::vector<Index>{24, 33})
      for (const Index n : {Index{15}, (1 << 16) / d + 1, (1 << 16) / d + 20}) {
        CAPTURE(d);
        CAPTURE(n);
        CAPTURE(dtype);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", "d"}), w = g.input("w", dtype, {"d"});
        const Expr e = exp(x - max(x, 1, true));
        check_bits({e / sum(e, 1, true), sum(tanh(x) * w, 1), max(sigmoid(x), 0)}, {x, w}, {counted(dtype, {n, d}), counted(dtype, {d})});
      }
}

TEST_CASE("rows of all lengths around vectors, known and not, with an end that is known, one that is whole vectors and one that is neither") {
  for (const Index d : {17, 31, 32, 47, 48, 49, 80, 100, 112, 129, 256, 257})
    for (const bool known : {false, true}) {
      CAPTURE(d);
      CAPTURE(known);
      Graph g;
      const Expr x = g.input("x", f32, {"n", known ? Extent(d) : Extent("d")}), y = g.input("y", f64, {"n", known ? Extent(d) : Extent("d")});
      check_bits({softmax(x, 1), exp(x) + 1, sum(exp(y), 1), max(sigmoid(x), 1)}, {x, y}, {counted(f32, {37, d}), counted(f64, {37, d})});
    }
}

#if defined(__linux__)
TEST_CASE("the end of a short row reads and writes nothing beside it") {
  for (const Index d : {16, 19, 40, 100, 250})
    for (const bool at_end : {false, true}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", Extent(d)});
      const Function f = compile({exp(x) * 2}, {x}, {.threads = 1, .verify = true});
      const Array from = guarded(counted(f32, {3, d}), at_end), to = guarded(Array(f32, {3, d}), at_end);
      f.run({from}, {to});
      CHECK(difference(to, interpret(f.final_graph(), f.final_graph().outputs, f.final_graph().inputs, {from}, {}, compiled_math)[0]) == "");
    }
}
#endif

TEST_CASE("gradients, scans and several results over short rows") {
  for (const Index d : {17, 24, 40}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "d"}), w = g.input("w", f32, {"d"}), v = g.input("v", f32, {"n"});
    const std::vector<Array> arrays{counted(f32, {4000, d}), counted(f32, {d}), counted(f32, {4000})};
    const Expr loss = sum((logsumexp(x * w, 1) - sum(x * w, 1)) * v);
    const std::vector<Expr> slopes = grad(loss, {x, w, v});
    check_bits({loss, slopes[0], slopes[1], slopes[2]}, {x, w, v}, arrays);
    check_bits({cumulative_sum(softmax(x, 1), 1), flip(softmax(x, 1), 1), sum(softmax(x, 1), 0)}, {x}, {arrays[0]});
  }
}

TEST_CASE("short rows laid out in any way, on two threads") {
  for (const Index d : {20}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "d"});
    const Function f = compile({softmax(x, 1), logsumexp(x, 1)}, {x}, {.threads = 2, .verify = true});
    const Graph& graph = f.final_graph();
    const Array values = counted(f32, {3300, d});
    const std::vector<Array> expected = interpret(graph, graph.outputs, graph.inputs, {values}, {}, compiled_math);
    for (const auto& [name, view] : layouts(f32, {3300, d}))
      for (const auto& [result_name, result] : layouts(f32, {3300, d})) {
        CAPTURE(name);
        CAPTURE(result_name);
        const std::vector<Array> results{result, Array(f32, {3300})};
        f.run({filled_like(values, view)}, results);
        for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
      }
  }
}

TEST_CASE("rows of one or two vectors that are not whole are one step with masks; as many lanes as a register has are loaded without") {
  for (const DType dtype : {f32, f64, f16, i32, u8})
    for (const Index d : {17, 18, 20, 23, 24, 31, 34, 36, 40, 50, 63}) {
      CAPTURE(dtype);
      CAPTURE(d);
      Graph g;
      const Expr x = g.input("x", dtype, {"n", d}), w = g.input("w", dtype, {d});
      const std::vector<Array> arrays{counted(dtype, {37, d}), counted(dtype, {d})};
      check_bits({x * w, flip(x, 1) + w, x - expand_dims(max(x, 1), 1)}, {x, w}, arrays);
      if (is_floating(dtype)) check_bits({x / expand_dims(sum(x * x, 1), 1), softmax(x, 1), flip(exp(x), 1)}, {x}, {arrays[0]}, 2);
    }
  if (!has_feature(host_features(0), "+avx512f")) return;
  const auto code_of = [](Index d) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", d}), v = g.input("v", f32, {"n"});
    const Function f = compile({x / expand_dims(v, 1)}, {x, v}, {.threads = 1, .verify = true});
    f({counted(f32, {640, d}), counted(f32, {640})});
    return f.llvm();
  };
  CHECK(code_of(24).find("load <8 x float>") != std::string::npos);
  CHECK(code_of(24).find("masked.load") == std::string::npos);
  CHECK(code_of(20).find("load <4 x float>") != std::string::npos);
  CHECK(code_of(23).find("masked.load") != std::string::npos);
}

TEST_CASE("a long function along fewer elements than a vector has is worked out once a row, not for vectors that are not there") {
  if (!has_feature(host_features(0), "+avx512f")) return;
  for (const Index few : {8, 12}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "m", "c"}), y = log(abs(x) + 1.0f) * x;
    const Function f = compile({y, sum(y, 1)}, {x}, {.threads = 1, .verify = true});
    same_bits(f, {uniform(f32, {900, 40, few})});
    CHECK(f.report().find("body k   24 vector instructions, 1 vector") != std::string::npos);
  }
}
