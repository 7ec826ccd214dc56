// Arrays that all rows read across their vectors: transposed once for a unit. Bits of the interpreter.
#include <weft/linear_algebra.h>

#include "bits.h"
#include "layouts.h"
#include "occurrences.h"

using namespace weft;

namespace {

Array counted(DType dtype, const Dims& shape) {
  return counted_by(dtype, shape, [](Index k) { return static_cast<double>(k * 7919 % 211) / 100 - 1; });
}

}  // namespace

TEST_CASE("a layer of few outputs, its loss and gradient read transposed weights") {
  for (const DType dtype : {f32, f64})
    for (const Index n : {1, 7, 200, 3000})
      for (const Index k : {5, 16, 33, 64}) {
        CAPTURE(n);
        CAPTURE(k);
        Graph g;
        const Expr x = g.input("x", dtype, {"n", "k"}), w = g.input("w", dtype, {"k", 10}), y = g.input("y", dtype, {"n", 10});
        const Expr z = matmul(x, w), loss = mean(logsumexp(z, 1) - vecdot(z, y));
        const Function f = check_bits({loss, grad(loss, {w})[0]}, {x, w, y}, {counted(dtype, {n, k}), counted(dtype, {k, 10}), counted(dtype, {n, 10})});
        if (n < 3000 || k < 64) continue;                            // others go in blocks, and transpose in registers
        CHECK(occurrences(f.program(), "= load %w[") == 1);
        CHECK(occurrences(f.program(), "(%w)[") >= 2);                // written, and read
      }
}

TEST_CASE("rows that go one by one get units for it, if every thread has some of these") {
  for (const Index n : {5, 31, 32, 130, 600})
    for (const Index m : {3, 16, 100, 512})
      for (const int threads : {1, 2}) {
        CAPTURE(n);
        CAPTURE(m);
        Graph g;
        const Expr x = g.input("x", f32, {"n", 16}), y = g.input("y", f32, {"m", 16});
        const Expr distances = sum(square(expand_dims(x, 1) - y), 2);
        const Function f = check_bits({exp(-distances), min(distances, 1)}, {x, y}, {counted(f32, {n, 16}), counted(f32, {m, 16})}, threads);
        if (m == 512) CHECK((occurrences(f.program(), "store row") >= 1 && occurrences(f.program(), "(%y)[") >= 2) == (n >= 32 * (threads == 1 ? 1 : 8)));
      }
}

TEST_CASE("what lies along, or is picked from whole vectors, is read where it is") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", 64}), along = g.input("along", f32, {10, 64}), picked = g.input("picked", f32, {64, 3});
  const std::vector<Array> arrays{counted(f32, {500, 64}), counted(f32, {10, 64}), counted(f32, {64, 3})};
  const Function f = check_bits({sum(square(einsum("ij,kj->ik", {x, along})))}, {x, along}, {arrays[0], arrays[1]});
  CHECK(occurrences(f.program(), "(%along)") == 0);
  const Function h = check_bits({sum(square(matmul(x, picked)))}, {x, picked}, {arrays[0], arrays[2]});
  CHECK(occurrences(h.program(), "(%picked)") == 0);
}

TEST_CASE("weights by steps, turned and repeated") {
  const Array wide = counted(f32, {10, 130});
  for (const Array& w : {wide.slice(1, 0, 65, 2).transpose(), wide.slice(1, 129, 65, -2).transpose(), counted(f32, {65, 10}).flip(0), counted(f32, {1, 10}).broadcast_to({65, 10})}) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "k"}), weights = g.input("w", f32, {"k", 10}), y = g.input("y", f32, {"n", 10});
    const Expr loss = mean(square(matmul(tanh(x), weights) - y));
    check_bits({loss, grad(loss, {weights})[0]}, {x, weights, y}, {counted(f32, {300, 65}), w, counted(f32, {300, 10})});
  }
}
