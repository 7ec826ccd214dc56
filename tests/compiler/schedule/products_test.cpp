// Sums that add products unrounded: in every kind of loop that folds, the interpreter's bits, which differ from those of products that are
// rounded first.
#include <weft/rearrange.h>

#include "bits.h"

using namespace weft;

namespace {

// Full sums, along rows, down columns, over a middle axis, of values with a row's own and beside other folds.
std::vector<Expr> sums_of(const Expr& x, const Expr& y) {
  return {sum(x * y), sum(x * y, 2), sum(x * y, 1), sum(x * y, 0), sum(square(x), 2), sum(x * 3, 1), sum(exp(x) * y, 2), sum(square(x - mean(x, 2, {.keepdims = true})), 2)};
}

}  // namespace

TEST_CASE("sums of products have the bits of the interpreter, whatever their extents") {
  for (const DType dtype : {f32, f64})
    for (const int lanes : {0, 8}) {
      CAPTURE(dtype);
      CAPTURE(lanes);
      Graph g;
      const Expr x = g.input("x", dtype, {"a", "b", "c"}), y = g.input("y", dtype, {"a", "b", "c"});
      for (const Expr& each : sums_of(x, y)) {
        const Function f = compile({each}, {x, y}, {.threads = 2, .lanes = lanes, .verify = true});
        for (const Dims& shape : {Dims{3, 40, 100}, Dims{1, 1, 1}, Dims{2, 1100, 33}, Dims{70, 3, 17}, Dims{2, 2, 2100}, Dims{0, 3, 4}, Dims{3, 4, 0}})
          same_bits(f, {uneven(dtype, shape), near_one(dtype, shape)});
      }
      const Function all = compile(sums_of(x, y), {x, y}, {.threads = 1, .lanes = lanes, .verify = true});
      for (const Dims& shape : {Dims{3, 40, 100}, Dims{9, 17, 1030}}) same_bits(all, {uneven(dtype, shape), near_one(dtype, shape)});
    }
}

TEST_CASE("sums of products of few elements, of known extents, in blocks and of columns that lie across") {
  Graph g;
  const Expr thin = g.input("thin", f32, {"n", 5}), w = g.input("w", f32, {5}), rows = g.input("rows", f32, {"n", 64}), v = g.input("v", f32, {64}), r = g.input("r", f32, {"n"});
  const Array many = uneven(f32, {2077, 5}), wide = uneven(f32, {2077, 64});
  check_bits({sum(thin * w, 1), exp(sum(square(thin), 1))}, {thin, w}, {many, near_one(f32, {5})});
  check_bits({sum(thin * w, 1)}, {thin, w}, {many.copy(Order::f), near_one(f32, {5})});
  const Expr logit = sum(rows * v, 1), residual = sigmoid(logit) - r;
  check_bits({sum(softplus(logit)), sum(rows * expand_dims(residual, 1), 0), sum(residual)}, {rows, v, r}, {wide, near_one(f32, {64}), uneven(f32, {2077})});
  check_bits({sum(rows * v, 1), sum(square(rows), 0)}, {rows, v}, {wide.copy(Order::f), near_one(f32, {64})});
}

TEST_CASE("a sum of products rounds once where its terms cancel") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), y = g.input("y", f64, {"n"});
  const Function f = compile({sum(x * y)}, {x, y}, {.threads = 1});
  const double a = 1 + 0x1p-30, b = 1 - 0x1p-30;                // a b = 1 - 2^-60, which rounds to 1
  Array left(f64, {17}), right(f64, {17});
  left.data<double>()[0] = -1, right.data<double>()[0] = 1;
  left.data<double>()[16] = a, right.data<double>()[16] = b;     // the same slot
  CHECK(f({left, right})[0].at<double>({}) == -0x1p-60);
  CHECK(f.program().find(" += t0 * t1") != std::string::npos);
}

TEST_CASE("a product with another reader is rounded for both") {
  Graph g;
  const Expr x = g.input("x", f32, {"n"}), y = g.input("y", f32, {"n"}), product = x * y;
  const Function f = compile({product, sum(product)}, {x, y}, {.threads = 1});
  const std::vector<Array> arrays{uneven(f32, {3000}), near_one(f32, {3000})}, results = f(arrays);
  float expected = 0;
  fold_values(AccumulatorId::sum, f32, results[0].data<float>(), 3000, 4, &expected);
  CHECK(results[1].at<float>({}) == expected);
}

// Scores of queries against keys, for each head; what is added to them, or masks them, is the same for all heads.
TEST_CASE("what the batches of a product share takes no batch from it as its root") {
  constexpr Index heads = 6, length = 40, depth = 32;
  Graph g;
  const Expr q = g.input("q", f32, {heads, length, depth}), k = g.input("k", f32, {heads, length, depth}), bias = g.input("bias", f32, {length, length});
  const Expr scores = sum(expand_dims(q, 2) * expand_dims(k, 1), 3), row = expand_dims(iota(g, length), 1), column = iota(g, length);
  const auto check = [&](const Expr& changed, int nests) {
    const std::vector<Expr> inputs{q, k, bias}, outputs{softmax(changed, 2), sum(softmax(changed, 2) * scores, 2)};
    const std::vector<Array> arrays{uneven(f32, {heads, length, depth}), near_one(f32, {heads, length, depth}), uneven(f32, {length, length})};
    const Function f = compile(outputs, inputs, {.threads = 1, .verify = true});
    CHECK(f.bind(arrays, f(arrays)).loop_nests() == nests);
    CHECK(f.schedule().find("parallel i:6 {") != std::string::npos);
    check_bits(outputs, inputs, arrays);
  };
  check(where(row < column, -1e9f, scores), 1);
  check(where((row < column) | (column + 8 < row), -1e9f, scores), 1);
  check(scores + exp(bias), 2);
  check(scores - abs(cast(row - column, f32)) * 0.1f, 2);
}

TEST_CASE("what many rows of a product read is made once, in an array before it") {
  Graph g;
  const Expr x = g.input("x", f32, {"i", "k"}), y = g.input("y", f32, {"k", "j"}), h = g.input("h", f16, {"i", "k"}), b = g.input("b", bf16, {"k", "j"});
  const auto product = [](const Expr& left, const Expr& right) { return sum(expand_dims(left, 2) * right, 1); };
  const auto nests = [&](const Expr& result, const std::vector<Expr>& inputs, const Dims& sizes) {
    std::vector<Array> arrays;
    for (const Expr& input : inputs) arrays.push_back(uneven(input.dtype(), input.shape()[0].is_symbol("i") ? Dims{sizes[0], sizes[1]} : Dims{sizes[1], sizes[2]}));
    const Function f = check_bits({result}, inputs, arrays, 1);
    return f.bind(arrays, f(arrays)).loop_nests();
  };
  CHECK(nests(product(x, y), {x, y}, {100, 64, 100}) == 1);
  CHECK(nests(product(exp(x), y), {x, y}, {100, 64, 100}) == 2);
  CHECK(nests(product(x, exp(y)), {x, y}, {100, 64, 100}) == 2);
  CHECK(nests(product(h, b), {h, b}, {100, 64, 100}) == 3);
  CHECK(nests(product(exp(x), y), {x, y}, {100, 64, 20}) == 2);                      // few columns read it, but it is dear
  CHECK(nests(product(relu(x), y), {x, y}, {100, 64, 20}) == 1);
  const Expr transposed = sum(expand_dims(relu(x), 1) * expand_dims(transpose(y), 0), 2);
  CHECK(nests(transposed, {x, y}, {100, 64, 100}) == 2);
}
