// Values that are read at another index than they are made at, along an axis that is not the root: kept in rows of one nest, whole or in
// part, forwards and backwards, whatever makes and reads them; against the interpreter, to the bit.
#include <weft/recurrence.h>

#include "bits.h"

using namespace weft;

namespace {

Array counted(const Dims& shape, DType dtype = f32) {
  return counted_by(dtype, shape, [](Index k) { return 0.8 + static_cast<double>(k * 7919 % 101) / 250; });
}

int nests(const Function& f, const std::vector<Array>& inputs) {
  std::vector<Array> outputs;
  for (const Array& result : f(inputs)) outputs.push_back(result);
  return f.bind(inputs, outputs).loop_nests();
}

// Compiles, compares, and counts the nests.
int nests_of(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const std::vector<Array>& arrays, int threads = 2) {
  return nests(check_bits(outputs, inputs, arrays, threads), arrays);
}

const std::vector<Dims> shapes{{5, 3}, {70, 16}, {129, 33}, {1000, 100}, {3, 1}};

}  // namespace

TEST_CASE("neighbours, reversed rows and single elements of a computed row need no array between nests") {
  for (const Dims& shape : shapes) {
    Graph g;
    const Expr x = g.input("x", f32, {"n", "m"}), y = exp(x);
    const std::vector<Array> arrays{counted(shape)};
    CHECK(nests_of({y * flip(y, 1)}, {x}, arrays) == 1);
    CHECK(nests_of({y / expand_dims(y.slice({Slice::all, 0}), 1)}, {x}, arrays) == 1);
    check_bits({y + roll(y, 1, 1), y}, {x}, arrays);
    if (shape[1] == 1) continue;
    CHECK(nests_of({y.slice({Slice::all, {1, {}}}) - y.slice({Slice::all, {{}, -1}})}, {x}, arrays) == 1);
    CHECK(nests_of({sum(square(y.slice({Slice::all, {1, {}}}) - y.slice({Slice::all, {{}, -1}})), 1)}, {x}, arrays) == 1);
  }
}

TEST_CASE("the gradient of a product of rows reads its two scans from rows") {
  for (const Dims& shape : shapes)
    for (int threads : {1, 2}) {
      Graph g;
      const Expr x = g.input("x", f32, {"n", "m"}), products = prod(x, 1);
      CHECK(nests_of({products, grad(sum(products), {x})[0]}, {x}, {counted(shape)}, threads) == 1);
    }
  Graph g;
  const Expr x = g.input("x", f64, {"m", "n"}), products = prod(x, 0);
  CHECK(nests_of({products, grad(sum(products), {x})[0]}, {x}, {counted({40, 70}, f64)}) == 1);
}

TEST_CASE("folds and scans of a row are read at other indices") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m", "k"}), sums = sum(x, 2), running = cumulative_sum(sums, 1);
  for (const Dims& shape : {Dims{70, 9, 20}, Dims{3, 17, 2}, Dims{65, 40, 1}}) {
    const std::vector<Array> arrays{counted(shape)};
    CHECK(nests_of({sums - flip(sums, 1)}, {x}, arrays) == 1);
    CHECK(nests_of({running / expand_dims(running.slice({Slice::all, -1}), 1)}, {x}, arrays) == 1);
    CHECK(nests_of({cumulative_sum(flip(running, 1), 1), running}, {x}, arrays) == (shape[0] >= 16 ? 2 : 1));      // each scan in tiles
    CHECK(nests_of({x * expand_dims(flip(sums, 1), 2)}, {x}, arrays) == 1);
  }
}

TEST_CASE("what is read at other indices along every axis, or in rows that are too long, has an array") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = exp(x);
  CHECK(nests_of({y * flip(flip(y, 0), 1)}, {x}, {counted({70, 33})}) == 2);
  CHECK(nests_of({y * flip(y, 0)}, {x}, {counted({70, 33})}) == 1);
  CHECK(nests_of({y * flip(y, 1)}, {x}, {counted({2, 100000})}) == 2);
  const Expr v = g.input("v", f32, {"m"}), e = exp(v);
  CHECK(nests_of({e * flip(e)}, {v}, {counted({1000})}) == 2);
}

TEST_CASE("rows of values of every dtype, of strided and transposed operands, in registers of every width") {
  for (DType dtype : {DType::u8, DType::i32, DType::f16, DType::bf16, f32, f64})
    for (int lanes : {4, 8, 16}) {
      Graph g;
      const Expr x = g.input("x", dtype, {"n", "m"}), y = x * x;
      const Array data = counted({70, 40}, dtype), other = counted({40, 70}, dtype);
      for (const Array& array : {data, Array(data.slice(1, 0, 20, 2)), Array(data.flip(1)), Array(other.transpose())}) check_bits({y + flip(y, 1), y * expand_dims(y.slice({Slice::all, 0}), 1)}, {x}, {array}, 2, lanes);
    }
}
