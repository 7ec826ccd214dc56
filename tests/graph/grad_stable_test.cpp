// What is a stable function in other words has that function's derivative, also where exp overflows.
#include <functional>

#include <doctest/doctest.h>

#include "problem.h"

using namespace weft;

namespace {

using Make = std::function<Expr(const Expr&)>;

const std::vector<std::pair<const char*, Make>>& forms() {
  static const std::vector<std::pair<const char*, Make>> all{
      {"log(1 + exp(x))", [](const Expr& x) { return log(1 + exp(x)); }},
      {"log(exp(x) + 1)", [](const Expr& x) { return log(exp(x) + 1); }},
      {"log1p(exp(x))", [](const Expr& x) { return log1p(exp(x)); }},
      {"1 / (1 + exp(-x))", [](const Expr& x) { return 1 / (1 + exp(-x)); }},
      {"1 / (exp(x) + 1)", [](const Expr& x) { return 1 / (exp(x) + 1); }},
      {"reciprocal(1 + exp(x))", [](const Expr& x) { return reciprocal(1 + exp(x)); }},
      {"exp(x) / (1 + exp(x))", [](const Expr& x) { const Expr e = exp(x); return e / (1 + e); }},
      {"of a flipped x", [](const Expr& x) { return log(1 + flip(exp(x))); }},
      {"of a slice", [](const Expr& x) { return log(1 + exp(x.slice({{1, 4}}))); }},
      {"of a broadcast x", [](const Expr& x) { return log(1 + broadcast_to(expand_dims(exp(x), 0), {3, 5})); }},
      {"the exponential read elsewhere", [](const Expr& x) { const Expr e = exp(x * 0.5); return log(1 + e) * e; }},
      {"2 + exp(x), which is none", [](const Expr& x) { return log(2 + exp(x)); }},
      {"two exponentials, which are none", [](const Expr& x) { return exp(x) / (1 + exp(0.5 * x)); }},
  };
  return all;
}

}  // namespace

TEST_CASE("stable forms agree with differences, twice, and forward mode with reverse mode") {
  for (const auto& [name, make] : forms()) {
    CAPTURE(std::string(name));
    Problem p({vec({0.7, -0.9, 1.4, 0.2, -2.5})});
    const Expr y = sum(make(p.x[0]));
    p.check_twice(y);
    const Expr t = p.g.constant(vec({1.0, 0.0, 0.0, 0.0, 0.0})), forward = jvp({y}, {p.x[0]}, {t})[0];
    CHECK(p(forward)[0] == doctest::Approx(p.gradients(y)[0][0]).epsilon(1e-12));
  }
}

TEST_CASE("their derivatives are numbers where exp overflows") {
  Problem p({vec({1000, -1000, 800, 0})});
  const Expr x = p.x[0];
  const Values rising{1, 0, 1, 0.5};
  for (const Expr& y : {log(1 + exp(x)), log(exp(x) + 1), log1p(exp(x))}) {
    check_close(p.gradients(sum(y))[0], rising, 1e-15);
    check_close(p(jvp({y}, {x}, {p.g.constant(vec({1.0, 1.0, 1.0, 1.0}))})[0]), rising, 1e-15);
  }
  for (const Expr& y : {1 / (1 + exp(-x)), reciprocal(1 + exp(x)), exp(x) / (1 + exp(x))}) {
    const Expr slope = grad(sum(y), {x}, Disconnected::zero)[0];
    for (double each : p(slope)) CHECK(std::abs(each) <= 0.25);
  }
}

TEST_CASE("a step in between that is an x itself, or has its author's gradient, keeps its own") {
  Problem p({vec({0.7, -0.9})});
  const Expr x = p.x[0], e = exp(x), y = log(1 + e);
  const std::vector<Expr> gradients = grad(sum(y), {x, e});
  const Values values = p(e);
  check_close(p(gradients[0]), {values[0] / (1 + values[0]), values[1] / (1 + values[1])});
  check_close(p(gradients[1]), {1 / (1 + values[0]), 1 / (1 + values[1])});

  const auto doubled = custom_gradient([](const std::vector<Expr>& xs) { return exp(xs[0]); },
                                       [](const std::vector<Expr>&, const Expr& y, const Expr& g) { return std::vector<Expr>{2 * g * y}; });
  check_close(p(grad(sum(log(1 + doubled({x}) )), {x})[0]), {2 * values[0] / (1 + values[0]), 2 * values[1] / (1 + values[1])});
}
