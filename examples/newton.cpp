// Newton's method with the exact Hessian: a gradient of a gradient. The model of logistic_regression.cpp, its bias as the
// weight of a column of ones. Row k of the Hessian is the Hessian times the k-th unit vector, and one compiled function
// computes such products. Eigen solves the 31 equations, in place on the same memory.
#include <cmath>
#include <cstdio>

#include <Eigen/Cholesky>
#include <weft/eigen.h>

#include "wdbc.h"

namespace {

constexpr int most_steps = 12;
constexpr double optimum = 0.099591375484705;

int run() {
  const Samples samples = read_wdbc();
  const weft::Index rows = samples.features.shape()[0], columns = samples.features.shape()[1], size = columns + 1;
  weft::Array xa(weft::f64, {rows, size});
  copy_elements(samples.features, xa.slice(1, 0, columns));
  xa.slice(1, columns, 1).fill(weft::Scalar(1.0));
  weft::Array penalties(weft::f64, {size});  // none on the bias
  penalties.slice(0, 0, columns).fill(weft::Scalar(0.005));

  weft::Graph g("newton");
  auto x = g.input("x", weft::f64, {"n", "d"});
  auto y = g.input("y", weft::f64, {"n"});
  auto c = g.input("c", weft::f64, {"d"});
  auto p = g.input("p", weft::f64, {"d"});
  auto v = g.input("v", weft::f64, {"d"});
  auto z = sum(x * p, 1);
  auto loss = mean(softplus(z) - y * z) + sum(c * p * p);
  auto gradient = grad(loss, {p})[0];
  auto product = grad(sum(gradient * v), {p})[0];  // the Hessian times v
  auto value_and_gradient = weft::compile({loss, gradient}, {x, y, c, p});
  auto hessian_product = weft::compile({product}, {x, y, c, p, v});

  weft::Array pa(weft::f64, {size}), loss_now(weft::f64, {}), slope(weft::f64, {size});
  weft::Array hessian(weft::f64, {size, size}), identity(weft::f64, {size, size});
  as_eigen<double>(identity).setIdentity();
  auto first_order = value_and_gradient.bind({xa, samples.labels, penalties, pa}, {loss_now, slope});
  std::vector<weft::Call> hessian_rows;
  for (weft::Index k = 0; k < size; ++k)
    hessian_rows.push_back(hessian_product.bind({xa, samples.labels, penalties, pa, identity.slice(0, k, 1).squeeze(0)},
                                                {hessian.slice(0, k, 1).squeeze(0)}));

  for (int step = 0; step <= most_steps; ++step) {
    first_order();
    const double error = loss_now.at<double>({}) - optimum, steepest = as_eigen_vector<double>(slope).cwiseAbs().maxCoeff();
    std::printf("step %2d  loss %.15f  largest gradient %.1e\n", step, loss_now.at<double>({}), steepest);
    if (std::abs(error) <= 1e-12 && steepest <= 1e-12) {
      std::printf("optimum reached; Hessian products compiled in %.1f ms\n", hessian_product.compile_seconds() * 1e3);
      return 0;
    }
    for (const auto& row : hessian_rows) row();
    as_eigen_vector<double>(pa) -= as_eigen<double>(hessian).llt().solve(as_eigen_vector<double>(slope));
  }
  std::fprintf(stderr, "expected loss %.13f within %d steps\n", optimum, most_steps);
  return 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const weft::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
