// Nests that differ by their arrays alone share their machine code (emit_programs.cpp).
#include <weft/linear_algebra.h>

#include "bits.h"
#include "occurrences.h"

using namespace weft;

namespace {

int functions_of(const Function& f) { return static_cast<int>(occurrences(f.llvm(), "define void @")); }
int nests_of(const Function& f) { return static_cast<int>(occurrences(f.program(), "program ")); }

// h = tanh(x[t] w + h u), step after step, of 48 values.
struct Network {
  Graph g{"network"};
  std::vector<Expr> inputs;
  Expr last;

  explicit Network(const Shape& sequence, int steps = 12) {
    inputs = {g.input("x", f32, sequence), g.input("w", f32, {sequence.back(), 48}), g.input("u", f32, {48, 48}), g.input("h", f32, {sequence[1], 48})};
    last = inputs[3];
    for (int t = 0; t < steps; ++t) last = tanh(matmul(inputs[0].slice({t}), inputs[1]) + matmul(last, inputs[2]));
  }
};

std::vector<Array> arguments(Index steps, Index batch, Index values) {
  return {uneven(f32, {steps, batch, values}), uneven(f32, {values, 48}), uneven(f32, {48, 48}), uneven(f32, {batch, 48})};
}

}  // namespace

TEST_CASE("steps of an unrolled network are one function") {
  const Network network({12, 40, 20});
  const Function f = check_bits({sum(square(network.last))}, network.inputs, arguments(12, 40, 20));
  CHECK(functions_of(f) <= 7);
  CHECK(nests_of(f) >= 15);
}

TEST_CASE("so are those of its gradient, and of symbolic sizes") {
  const Network network({12, "b", "d"});
  const Expr loss = sum(square(network.last));
  const Function f = check_bits({loss, grad(loss, {network.inputs[1]})[0]}, network.inputs, arguments(12, 40, 20));
  CHECK(functions_of(f) < 15);
  CHECK(nests_of(f) > 25);
}

TEST_CASE("strides are of each nest's own arrays") {
  Graph g("rows");
  std::vector<Expr> inputs, outputs;
  std::vector<Array> arrays;
  for (int k = 0; k < 5; ++k) {
    inputs.push_back(g.input("x" + std::to_string(k), f32, {32, 32}));
    outputs.push_back(k == 0 ? sin(inputs[0]) : sin(matmul(outputs.back(), inputs.back())));
    arrays.push_back(uneven(f32, {32, 40 + 8 * k}).slice(1, k, 32));
  }
  const Function f = check_bits(outputs, inputs, arrays);
  CHECK(functions_of(f) < nests_of(f));
}

TEST_CASE("a zero of the other sign is another constant") {
  Graph g("zeros");
  std::vector<Expr> inputs, outputs;
  std::vector<Array> arrays;
  for (const double zero : {0.0, -0.0, 0.0}) {
    inputs.push_back(g.input("x" + std::to_string(inputs.size()), f32, {24, 24}));
    outputs.push_back(matmul(maximum(inputs.back(), zero), inputs.back()));
    arrays.push_back(uneven(f32, {24, 24}));
  }
  check_bits(outputs, inputs, arrays);
}

TEST_CASE("merges of partial results are of each nest's own") {
  Graph g("sums");
  std::vector<Expr> inputs, outputs;
  std::vector<Array> arrays;
  for (int k = 0; k < 3; ++k) {
    const Expr x = g.input("x" + std::to_string(k), f64, {"n" + std::to_string(k)});
    inputs.push_back(x);
    outputs.push_back(sum(square(x)));
    arrays.push_back(uneven(f64, {5000 + 1000 * k}));
  }
  check_bits(outputs, inputs, arrays);
}
