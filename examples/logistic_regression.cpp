// Logistic regression on 569 samples by gradient descent with momentum. One call of one compiled function is one step:
// loss, gradient and update are one graph, and the new parameters are written over the old ones.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "wdbc.h"

namespace {

constexpr int steps = 500;
constexpr double step_size = 1 / 3.3304;  // the inverse of the largest curvature of this loss
constexpr double momentum = 0.9, penalty = 0.005;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run() {
  const Samples samples = read_wdbc();
  const weft::Index rows = samples.features.shape()[0], columns = samples.features.shape()[1];

  weft::Graph g("logistic_regression");
  auto x = g.input("x", weft::f64, {"n", "d"});
  auto y = g.input("y", weft::f64, {"n"});
  auto w = g.input("w", weft::f64, {"d"}), w_velocity = g.input("w_velocity", weft::f64, {"d"});
  auto b = g.input("b", weft::f64, {}), b_velocity = g.input("b_velocity", weft::f64, {});

  auto z = sum(x * w, 1) + b;
  auto loss = mean(softplus(z) - y * z) + penalty * sum(w * w);  // no penalty on the bias
  auto gradient = grad(loss, {w, b});
  auto w_velocity_next = momentum * w_velocity - step_size * gradient[0];
  auto b_velocity_next = momentum * b_velocity - step_size * gradient[1];
  auto step = weft::compile({w + w_velocity_next, w_velocity_next, b + b_velocity_next, b_velocity_next, loss},
                            {x, y, w, w_velocity, b, b_velocity});
  auto evaluate = weft::compile({loss, count_nonzero((z > 0) == (y > 0.5))}, {x, y, w, b});

  weft::Array wa(weft::f64, {columns}), wv(weft::f64, {columns}), ba(weft::f64, {}), bv(weft::f64, {}), loss_before(weft::f64, {});
  auto call = step.bind({samples.features, samples.labels, wa, wv, ba, bv}, {wa, wv, ba, bv, loss_before});

  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < steps; ++k) {
    call();
    if (k % 50 == 0) std::printf("step %3d  loss %.10f\n", k, loss_before.at<double>({}));
  }
  const double seconds = seconds_since(start);

  const auto out = evaluate({samples.features, samples.labels, wa, ba});
  const double final_loss = out[0].at<double>({});
  const auto right = out[1].at<std::int64_t>({});
  std::printf("\nThe loops of one step:\n%s\n", step.program().c_str());
  std::printf("loss        %.10f after %d steps\n", final_loss, steps);
  std::printf("accuracy    %lld of %lld right (%.2f %%)\n", static_cast<long long>(right), static_cast<long long>(rows),
              100.0 * static_cast<double>(right) / static_cast<double>(rows));
  std::printf("compiled in %.1f ms\n", step.compile_seconds() * 1e3);
  std::printf("one step    %.1f us\n", seconds / steps * 1e6);
  if (std::abs(final_loss - 0.0995913755) <= 1e-9 && right == 561) return 0;
  std::fprintf(stderr, "expected loss 0.0995913755 and 561 right\n");
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
