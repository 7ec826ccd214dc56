// Registers of any width give the same bits, which are those of the interpreter with the same functions.
#include <weft/compiled_math.h>

#include <error_text.h>

#include "bits.h"
#include "compiled.h"
#include "functions_text.h"
#include "layouts.h"

using namespace weft;

namespace {

Options with_lanes(int lanes) { return {.threads = 2, .lanes = lanes, .executor = nullptr, .verify = true, .trace = ""}; }

// One Function for all calls of a width: sizes are no part of the code (layout_test.cpp says so for each size of a first call).
void check_lanes(const std::string& text, const std::vector<std::vector<Array>>& calls) {
  const Function f = compile(parse(text), with_lanes(0));
  std::vector<std::vector<Array>> results;
  for (const std::vector<Array>& inputs : calls) {
    const Graph& graph = f.final_graph(inputs);
    const std::vector<Array> same = interpret(graph, graph.outputs, graph.inputs, inputs, {}, compiled_math);
    const std::vector<Array>& got = results.emplace_back(f(inputs));
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], same[k]) == "");
  }
  for (int lanes : {4, 8, 16}) {
    CAPTURE(lanes);
    const Function narrow = compile(parse(text), with_lanes(lanes));
    for (std::size_t call = 0; call < calls.size(); ++call) {
      CAPTURE(call);
      const std::vector<Array> got = narrow(calls[call]);
      for (std::size_t k = 0; k < got.size(); ++k) CHECK(difference(got[k], results[call][k]) == "");
    }
  }
}

std::string float_functions(DType dtype) {
  return functions_text(dtype, [](const OpInfo& row) { return row.rule == DTypeRule::floating; });
}

// Which whole vectors are loaded and stored, in the order of the code.
std::string loads_and_stores(const Function& f) {
  const std::string code = f.llvm();
  std::string order;
  for (std::size_t at = 0; (at = code.find(" <16 x float>", at)) != std::string::npos; ++at)
    for (const std::string op : {"load", "store"}) if (code.compare(at - op.size(), op.size(), op) == 0) order += op[0];
  return order;
}

}  // namespace

TEST_CASE("every float function has the same bits in registers of 4, 8 and 16 lanes, and in the interpreter") {
  for (DType dtype : {f32, f64, f16, bf16}) {
    CAPTURE(dtype);
    std::vector<std::vector<Array>> calls;
    for (Index n : {1, 67}) {
      calls.push_back({uniform(dtype, {n}, 1), uniform(dtype, {n}, 2)});
      calls.push_back({special(dtype, {n}, 3), special(dtype, {n}, 4)});
    }
    check_lanes(float_functions(dtype), calls);
  }
}

TEST_CASE("functions from tables have the same bits in one vector and in several side by side") {
  for (const std::string op : {"tanh", "erf", "erfc", "log", "log1p", "softplus"})
    for (const Index n : {Index{5}, Index{1 << 18}}) {
      CAPTURE(op);
      check_lanes("graph f(%x: f32[n]) -> (%1) {\n%0: f32[i:n] = multiply(%x[i], 9.0)\n%1: f32[i:n] = " + op + "(%0[i])\n}", {{uniform(f32, {n}, 5)}, {special(f32, {333}, 6)}});
    }
}

TEST_CASE("sums and products over rows, columns and everything, softmax and a gradient have the same bits in registers of any width") {
  const std::string sums = "graph sums(%x: f32[n,m]) -> (%0, %1, %2, %3) {\n%0: f32[i:n] = sum(j:m) copy(%x[i,j])\n%1: f32[i:m] = sum(j:n) exp(%x[j,i])\n"
                           "%2: f32[] = sum(i:n,j:m) copy(%x[i,j])\n%3: f32[i:n] = prod(j:m) copy(%x[i,j])\n}";
  const std::string softmax = "graph softmax(%x: f32[n,m]) -> (%4) {\n%0: f32[i:n] = max(j:m) copy(%x[i,j])\n%1: f32[i:n,j:m] = subtract(%x[i,j], %0[i])\n"
                              "%2: f32[i:n,j:m] = exp(%1[i,j])\n%3: f32[i:n] = sum(j:m) copy(%2[i,j])\n%4: f32[i:n,j:m] = divide(%2[i,j], %3[i])\n}";
  for (const Dims& shape : {Dims{3, 5}, Dims{70, 1100}, Dims{1100, 70}, Dims{2100, 3}}) {
    check_lanes(sums, {{uniform(f32, shape)}});
    check_lanes(softmax, {{uniform(f32, shape)}});
  }
  for (auto& [name, view] : layouts(f32, {1050, 37})) {
    CAPTURE(name);
    check_lanes(sums, {{filled_like(uniform(f32, {1050, 37}), view)}});
  }
}

TEST_CASE("Options::lanes takes 0, 4, 8 and 16") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"});
  CHECK(error_text([&] { compile({x + 1}, {x}, {.lanes = 5}); }) == "usage: Options::lanes: expected 4, 8, 16, or 0 for what the processor has, got 5");
}

TEST_CASE("a loop takes no more vectors side by side than the call that compiles it has") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"}), y = x * w;
  for (const auto& [columns, vectors] : {std::pair<Index, const char*>{20, "1 vector"}, {40, "2 vectors"}, {60, "3 vectors"}, {100, "4 vectors"}}) {
    const Function f = compile({y}, {x, w}, {.threads = 1, .verify = true});
    same_bits(f, {uneven(f32, {40, columns}), uneven(f32, {columns})});
    CHECK(f.report().find(vectors) != std::string::npos);
    for (const Index others : {17, 64, 130}) same_bits(f, {uneven(f32, {40, others}), uneven(f32, {others})});
  }
}

TEST_CASE("of a few simple ops each vector is stored before the next is loaded; of others the loads of several come first") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"});
  const auto order_of = [&](const Expr& result, Index n = 4099) {
    const std::vector<Array> inputs = {uniform(f32, {n}, 1), uniform(f32, {n}, 2)};
    const Function f = compile({result}, {x, y}, with_lanes(0));
    check_call(f, inputs, 4);
    return loads_and_stores(f);
  };
  CHECK(order_of(1.5 * x + y).find("llsllsllslls") == 0);
  CHECK(order_of(1.5 * x + y, 256).find("llllllllssss") == 0);
  CHECK(order_of(x / y).find("llllllll") == 0);
  CHECK(order_of(sqrt(x) + y).find("llllllll") == 0);
}
