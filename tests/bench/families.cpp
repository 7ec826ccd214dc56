// What has neighbours: the computations of the table, each once, for any extents, dtype and axis.
#include <cmath>

#include "neighbours.h"
#include "tools.h"

namespace bench {
namespace {

// 3 MiB of f32: more than the second level of cache; and no neighbour of nearly this size has huge pages where its sibling has none
// (weft/memory.h: from 4 MiB on).
const Extents matrix_extents{{'n', 768}, {'d', 1024}};

Expr along(const Expr& vector, int axis) { return axis == 0 ? expand_dims(vector, 1) : vector; }  // of a matrix

Exprs polynomial(const Exprs& in, int) {
  Expr p = 0.9 * in[0] + 0.8;
  for (double c : {0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1}) p = p * in[0] + c;
  return {p};
}

Exprs black_scholes(const Exprs& in, int) {
  constexpr double rate = 0.03125;
  const Expr deviation = in[3] * sqrt(in[2]), d1 = (log(in[0] / in[1]) + (rate + 0.5 * in[3] * in[3]) * in[2]) / deviation, d2 = d1 - deviation;
  const auto normal = [](const Expr& d) { return 0.5 * (1 + erf(d * std::sqrt(0.5))); };
  return {in[0] * normal(d1) - in[1] * exp(-rate * in[2]) * normal(d2)};
}

Exprs logistic(const Exprs& in, int axis) {
  const Expr z = sum(in[0] * along(in[2], axis), axis) + in[3], loss = mean(softplus(z) - in[1] * z);
  const Exprs slopes = grad(loss, {in[2], in[3]});
  return {loss, slopes[0], slopes[1]};
}

Exprs tone_map(const Exprs& in, int axis) {
  const auto channel = [&](const Expr& vector) { return axis == 0 ? expand_dims(expand_dims(vector, 1), 2) : vector; };
  const Expr toned = pow(cast(in[0], in[1].dtype()) / 255.0, 2.2) * channel(in[1]) + channel(in[2]);
  return {cast(minimum(floor(toned + 0.5), 255.0), DType::u8)};
}

Exprs gelu_gradient(const Exprs& in, int) {
  const double k = std::sqrt(2 / 3.14159265358979), cubic = 0.044715;
  const Expr y = 0.5 * in[0] * (1 + tanh(k * (in[0] + cubic * in[0] * in[0] * in[0])));
  return {y, grad(sum(y * in[1]), {in[0]})[0]};
}

Exprs product_gradient(const Exprs& in, int axis) {
  const Expr products = prod(in[0], axis);
  return {products, grad(sum(products), {in[0]})[0]};
}

std::vector<Family> elementwise_families() {
  const Source x{"nd"};
  return {{"axpy", matrix_extents, {x, x}, [](const Exprs& in, int) { return Exprs{1.5 * in[0] + in[1]}; }},
          {"polynomial", matrix_extents, {{"nd", -1, 1}}, polynomial},
          {"sigmoid(x)*tanh(y)", matrix_extents, {{"nd", -6, 6}, x}, [](const Exprs& in, int) { return Exprs{sigmoid(in[0]) * tanh(in[1])}; }},
          {"Black-Scholes", matrix_extents, {{"nd", 50, 150}, {"nd", 50, 150}, {"nd", 0.25, 2}, {"nd", 0.1, 0.6}}, black_scholes},
          {"x[n,d]*w[d]+b[d]", matrix_extents, {x, {"d"}, {"d"}}, [](const Exprs& in, int axis) { return Exprs{in[0] * along(in[1], axis) + along(in[2], axis)}; }, 1,
           {x, {"n"}, {"n"}}},
          {"x[n,d]*w[n]+b[n]", matrix_extents, {x, {"n"}, {"n"}}, [](const Exprs& in, int axis) { return Exprs{in[0] * along(in[1], axis) + along(in[2], axis)}; }, 0},
          {"outer sqrt((a-b)^2+1)", matrix_extents, {{"n", -3, 3}, {"d", -3, 3}}, [](const Exprs& in, int) { return Exprs{sqrt(square(expand_dims(in[0], 1) - in[1]) + 1)}; }},
          {"x^T + y", matrix_extents, {{"dn"}, x}, [](const Exprs& in, int) { return Exprs{transpose(in[0]) + in[1]}; }},
          {"2 x^T", matrix_extents, {{"dn"}}, [](const Exprs& in, int) { return Exprs{2 * transpose(in[0])}; }},
          {"u8 image tone map", {{'h', 720}, {'w', 1280}, {'c', 3}}, {{"hwc", 0, 255, DType::u8}, {"c", 230, 250}, {"c", 2, 4}}, tone_map, 2,
           {{"chw", 0, 255, DType::u8}, {"c", 230, 250}, {"c", 2, 4}}, 0, "c"}};
}

std::vector<Family> folding_families() {
  const Source x{"nd"}, positive{"nd", 0, 1};
  const auto sums = [](const Exprs& in, int axis) { return Exprs{sum(in[0], axis)}; };
  return {{"row sums", matrix_extents, {positive}, sums, 1, {positive}, 0},
          {"column sums", matrix_extents, {positive}, sums, 0, {positive}, 1},
          {"sum of (x-y)^2", matrix_extents, {positive, {"nd", 1, 3}}, [](const Exprs& in, int) { return Exprs{sum(square(in[0] - in[1]))}; }},
          {"softmax rows", matrix_extents, {{"nd", -5, 5}}, [](const Exprs& in, int axis) { return Exprs{softmax(in[0], axis)}; }, 1, {{"nd", -5, 5}}},
          {"layer norm rows", matrix_extents, {x, {"d"}, {"d"}}, [](const Exprs& in, int axis) { return Exprs{layer_norm(in[0], in[1], in[2], axis)}; }, 1,
           {x, {"n"}, {"n"}}},
          {"variance of columns", matrix_extents, {x}, [](const Exprs& in, int axis) { return Exprs{var(in[0], axis)}; }, 0, {x}, 1}};
}

std::vector<Family> gradient_families() {
  const Source weight{"d", -0.2, 0.2}, wide{"nd", -4, 4};
  return {{"logistic loss, gradient", {{'n', 12288}, {'d', 64}}, {{"nd"}, {"n", 0, 1}, weight, {""}}, logistic, 1, {{"nd"}, {"d", 0, 1}, {"n", -0.2, 0.2}, {""}}},
          {"gelu and gradient", matrix_extents, {wide, {"nd", -1, 1}}, gelu_gradient},
          {"gradient of sum log(1+exp(ax+by+c))", matrix_extents, {wide, wide, {"", 0.7, 0.8}, {"", -1.3, -1.2}, {"", 0.4, 0.6}},
           [](const Exprs& in, int) { return grad(sum(log(1 + exp(in[2] * in[0] + in[3] * in[1] + in[4]))), in); }},
          {"row products and gradient", {{'n', 24576}, {'d', 32}}, {{"nd", 0.8, 1.25}}, product_gradient, 1, {{"dn", 0.8, 1.25}}, 0, "d"}};
}

}  // namespace

std::vector<Family> families() {
  std::vector<Family> all = elementwise_families();
  for (const auto& more : {folding_families(), gradient_families()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace bench
