// Loop bodies with so many inner loops that they are cut into functions of their own, and such functions that are cut again.
#include <sstream>

#include <weft/function.h>
#include <weft/thread_pool.h>

#include "bits.h"

using namespace weft;

namespace {

// The sum of the last axis, then others that each read the one before: `loops` loops, one after the other.
Expr chain(const Expr& x, int loops) {
  Expr last = sum(x, -1);
  for (int k = 1; k < loops; ++k) last = sum(x * expand_dims(last, -1), -1) * 0.1;
  return last;
}

struct Pieces {
  int functions = 0;
  int calls = 0;                        // by other pieces
};
Pieces pieces_of(const Function& f) {
  Pieces pieces;
  bool inside = false;                  // a piece
  std::istringstream text(f.llvm());
  for (std::string line; std::getline(text, line);) {
    const bool names = line.find("_piece") != std::string::npos;
    if (line.starts_with("define")) inside = names, pieces.functions += names;
    else if (inside && names && line.find("call void") != std::string::npos) ++pieces.calls;
  }
  return pieces;
}

// The same bits as the interpreter has for the function's own graph, with the functions of compiled code.
void check_compiled(const Function& f, const std::vector<Array>& arguments) {
  const Graph& graph = f.final_graph();
  const std::vector<Array> results = f(arguments), expected = interpret(graph, graph.outputs, graph.inputs, arguments, {}, compiled_math);
  for (std::size_t k = 0; k < results.size(); ++k) CHECK(difference(results[k], expected[k]) == "");
}

}  // namespace

TEST_CASE("fourteen inner loops are one function, more are cut into pieces") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", "m"});
  const Function whole = compile({chain(x, 14)}, {x}, checked()), cut = compile({chain(x, 16)}, {x}, checked());
  const std::vector<Array> arguments{uniform(f64, {7, 40})};
  check_call(whole, arguments);
  check_call(cut, arguments);
  CHECK(pieces_of(whole).functions == 0);
  CHECK(pieces_of(cut).functions == 1);          // and what is left
  CHECK(pieces_of(cut).calls == 0);
}

TEST_CASE("a few large inner loops are cut into pieces too, and several threads' parts of a module are one program") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n", "m"});
  const auto long_chain = [&](Expr value, int ops) {
    for (int k = 0; k < ops; ++k) value = tanh(value * y + 0.25f * static_cast<float>(k % 3)) - x;
    return value;
  };
  // Each sum is the start of the next loop: three loops of some three hundred instructions.
  Expr last = x;
  for (int k = 0; k < 3; ++k) last = x + expand_dims(sum(long_chain(last, 9), 1), 1) * 0.01f;
  const Function large = compile({last, sum(last, 0)}, {x, y}, {.threads = 2, .verify = true}), small = compile({x + expand_dims(sum(long_chain(x, 1), 1), 1)}, {x, y});
  for (const Dims& shape : {Dims{5, 70}, Dims{1, 3}, Dims{33, 16}}) {
    check_compiled(large, {uniform(f32, shape), uniform(f32, shape, 2)});
  }
  CHECK(pieces_of(large).functions >= 2);
  CHECK(pieces_of(small).functions == 0);
}

// The rows of a unit are walked by several loops, which are worth a thread each where there are two.
TEST_CASE("units of rows are cut for several threads to generate their code") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), w = g.input("w", f32, {"m"}), b = g.input("b", f32, {"m"}), y = g.input("y", f32, {"n"});
  const Expr z = sum(x * w, 1), loss = mean(softplus(z) - y * z);
  const Function normed = compile({layer_norm(x, w, b)}, {x, w, b}, checked()), logistic = compile({loss, grad(loss, {w})[0]}, {x, w, y}, checked());
  for (const Dims& shape : {Dims{200, 64}, Dims{33, 16}, Dims{7, 1000}, Dims{1, 3}}) {
    const Array rows = uniform(f32, shape), along = uniform(f32, {shape[1]}, 2), down = uniform(f32, {shape[0]}, 3);
    check_compiled(normed, {rows, along, along});
    check_compiled(logistic, {rows, along, down});
    if (shape[0] < 200) continue;
    for (const Function* f : {&normed, &logistic}) CHECK(pieces_of(*f).functions == (hardware_threads() > 1 ? 1 : 0));
  }
}

// Prices of options: two loops over the same elements. Where registers hold half a vector, or less, that is twice the instructions.
TEST_CASE("the loops of a long body are cut for several threads where vectors take several registers") {
  Graph g;
  const Expr s = g.input("s", f32, {"n"}), k = g.input("k", f32, {"n"}), t = g.input("t", f32, {"n"}), v = g.input("v", f32, {"n"});
  const Expr root = v * sqrt(t), d = (log(s / k) + (0.02f + 0.5f * v * v) * t) / root;
  const auto below = [](const Expr& x) { return 0.5f * (1.0f + erf(x * 0.70710678f)); };
  const Function f = compile({s * below(d) - k * exp(-0.02f * t) * below(d - root)}, {s, k, t, v}, {.threads = 1, .lanes = 8, .verify = true});
  for (const Index length : {2048, 2051, 7}) {
    std::vector<Array> arguments;
    for (int seed = 1; seed <= 4; ++seed) arguments.push_back(uniform(f32, {length}, seed));
    check_compiled(f, arguments);
    if (length == 2048) CHECK(pieces_of(f).functions == (hardware_threads() > 1 ? 1 : 0));
  }
}

// In a loop over j: a loop over k of fourteen loops and a chain of as many beside it. The inner pieces add to sums over j and k,
// whose rows they get from the outer ones, and scalars of one piece are read in the next.
TEST_CASE("pieces within pieces share folds with rows in scratch and hand on scalars") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 4, 5, 6}), y = g.input("y", f64, {"n", 4, 6});
  const Expr inner = chain(x, 14);                                   // [i, j, k]
  const Expr product = x * expand_dims(inner, -1), over_k = sum(product, 2);
  const Expr outer = chain(over_k + y, 14);                           // [i, j]
  const Expr of_outer = x * expand_dims(expand_dims(outer, -1), -1);
  std::vector<Expr> outputs{inner, over_k, outer};
  for (const Expr& e : {product, of_outer})
    for (Reduction over : {Reduction(sum), Reduction(prod), Reduction(max), Reduction(min)}) outputs.push_back(reduce(e, over, 1));
  const Function f = compile(outputs, {x, y}, checked());
  check_call(f, {uniform(f64, {3, 4, 5, 6}), uniform(f64, {3, 4, 6}, 2)});
  CHECK(pieces_of(f).functions == 3);
  CHECK(pieces_of(f).calls == 2);
}

TEST_CASE("long functions of large graphs are compiled once and called: the same bits, scalars and vectors, in registers of every width") {
  for (DType dtype : {f32, f64})
    for (int lanes : {4, 8, 16}) {
      Graph g("calls");
      const Expr x = g.input("x", dtype, {"n", "m"}), s = g.input("s", dtype, {});
      Expr y = x, t = s;
      for (int k = 0; k < 24; ++k) {
        y = tanh(y + t) + exp(y * y * -0.5) * pow(abs(x) + 0.5, 0.25);
        t = sin(t) + 0.125;
      }
      const Array data = counted_by(dtype, {9, 37}, [](Index k) { return static_cast<double>(k * 7919 % 101) / 40 - 1; });
      const Function f = check_bits({y, sum(y, 1), t}, {x, s}, {data, counted_by(dtype, {}, [](Index) { return 0.3; })}, 2, lanes);
      const std::string code = f.llvm();
      for (const char* function : {"tanh_16", "exp_16", "power_16", "sin_1"}) {
        CAPTURE(function);
        const std::string definition = std::string("define internal ") + (std::string(function) == "sin_1" ? (dtype == f32 ? "float" : "double") : dtype == f32 ? "<16 x float>" : "<16 x double>") +
                                       " @weft_" + function;
        const std::size_t first = code.find(definition);
        CHECK(first != std::string::npos);
        CHECK(code.find(definition, first + 1) == std::string::npos);
      }
    }
}
