// Values with their gradients; Eigen's are written by hand.
#include <cmath>

#include "tools.h"

namespace bench {
namespace {

Workload gelu_gradient() {
  const Index size = 1 << 20;
  const Array x = random({size}, -4, 4), slope = random({size}, -1, 1), value = buffer({size}), gradient = buffer({size});
  const double k = std::sqrt(2 / 3.14159265358979), cubic = 0.044715;
  auto graph = [=](const Exprs& in) {
    const Expr y = 0.5 * in[0] * (1 + tanh(k * (in[0] + cubic * in[0] * in[0] * in[0])));
    return Exprs{y, grad(sum(y * in[1]), {in[0]})[0]};
  };
  return {"gelu and gradient 1Mi", compiler({{"n"}, {"n"}}, graph), {x, slope}, {value, gradient}, nullptr,
          [=] {
            const auto v = line(x);
            const auto a = static_cast<float>(k), c = static_cast<float>(cubic);
            const Eigen::ArrayXf t = (a * (v + c * v.cube())).tanh();
            line(value) = 0.5f * v * (1.0f + t);
            line(gradient) = line(slope) * (0.5f * (1.0f + t) + 0.5f * v * (1.0f - t.square()) * a * (1.0f + 3 * c * v.square()));
          }};
}

Workload softplus_gradient() {
  const Index size = 1 << 20;
  const Array x = random({size}, -4, 4), y = random({size}, -4, 4), a = random({}, 0.7, 0.8), b = random({}, -1.3, -1.2), c = random({}, 0.4, 0.6);
  const Array to_x = buffer({size}), to_y = buffer({size}), to_a = buffer({}), to_b = buffer({}), to_c = buffer({});
  auto graph = [](const Exprs& in) { return grad(sum(log(1 + exp(in[2] * in[0] + in[3] * in[1] + in[4]))), in); };
  return {"gradient of sum log(1+exp(ax+by+c))", compiler({{"n"}, {"n"}, {}, {}, {}}, graph), {x, y, a, b, c}, {to_x, to_y, to_a, to_b, to_c}, nullptr,
          [=] {
            const Eigen::ArrayXf s = (*at(a) * line(x) + *at(b) * line(y) + *at(c)).logistic();
            line(to_x) = s * *at(a);
            line(to_y) = s * *at(b);
            *at(to_a) = (s * line(x)).sum();
            *at(to_b) = (s * line(y)).sum();
            *at(to_c) = s.sum();
          }, 2e-4};
}

Workload product_gradient() {
  const Index count = 65536, length = 32;
  const Array x = random({count, length}, 0.8, 1.25), product = buffer({count}), gradient = buffer({count, length});
  auto graph = [](const Exprs& in) {
    const Expr products = prod(in[0], 1);
    return Exprs{products, grad(sum(products), {in[0]})[0]};
  };
  return {"row products and gradient", compiler({{"n", length}}, graph), {x}, {product, gradient}, nullptr,
          [=] {
            line(product) = matrix(x).rowwise().prod();
            matrix(gradient) = matrix(x).inverse().colwise() * line(product);
          }};
}

}  // namespace

std::vector<Entry> gradient_workloads() {
  return {{"gelu and gradient 1Mi", gelu_gradient},
          {"gradient of sum log(1+exp(ax+by+c))", softplus_gradient},
          {"row products and gradient", product_gradient}};
}

}  // namespace bench
