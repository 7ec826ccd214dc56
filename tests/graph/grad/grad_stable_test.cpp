// What is a stable function in other words has that function's derivative, also where exp overflows.
#include <cmath>
#include <functional>
#include <limits>

#include <doctest/doctest.h>

#include <weft/interpret.h>

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
      {"log(sigmoid(x))", [](const Expr& x) { return log(sigmoid(x)); }},
      {"log(1 - sigmoid(x))", [](const Expr& x) { return log(1 - sigmoid(x)); }},
      {"log1p(-sigmoid(x))", [](const Expr& x) { return log1p(-sigmoid(x)); }},
      {"log(1 / (1 + exp(-x)))", [](const Expr& x) { return log(1 / (1 + exp(-x))); }},
      {"log(1 - exp(x) / (1 + exp(x)))", [](const Expr& x) { const Expr e = exp(x); return log(1 - e / (1 + e)); }},
      {"log(sigmoid) of a flipped x", [](const Expr& x) { return log(flip(sigmoid(x.slice({{1, 4}})))); }},
      {"a sigmoid read elsewhere", [](const Expr& x) { const Expr s = sigmoid(x); return s * log(s) + (1 - s) * log(1 - s); }},
      {"log(2 - sigmoid(x)), which is none", [](const Expr& x) { return log(2 - sigmoid(x)); }},
      {"of a flipped x", [](const Expr& x) { return log(1 + flip(exp(x))); }},
      {"of a slice", [](const Expr& x) { return log(1 + exp(x.slice({{1, 4}}))); }},
      {"of a broadcast x", [](const Expr& x) { return log(1 + broadcast_to(expand_dims(exp(x), 0), {3, 5})); }},
      {"the exponential read elsewhere", [](const Expr& x) { const Expr e = exp(x * 0.5); return log(1 + e) * e; }},
      {"log of a sum of exponentials", [](const Expr& x) { return log(sum(exp(x))); }},
      {"of sums over one of two axes", [](const Expr& x) { return log(sum(exp(expand_dims(x, 1) * expand_dims(x, 0)), 0)); }},
      {"of sums whose axis stays", [](const Expr& x) { return x - log(sum(exp(x), 0, true)); }},
      {"of a sum whose exponents are shifted", [](const Expr& x) { return log(sum(exp(x - max(x)))) + max(x); }},
      {"of a sum that is read elsewhere", [](const Expr& x) { const Expr s = sum(exp(x)); return log(s) * s; }},
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
  for (const Expr& y : {log(sigmoid(x)), log(1 / (1 + exp(-x)))}) check_close(p.gradients(sum(y))[0], {0, 1, 0, 0.5}, 1e-15);
  for (const Expr& y : {log(1 - sigmoid(x)), log1p(-sigmoid(x)), log(1 - 1 / (1 + exp(-x)))}) check_close(p.gradients(sum(-y))[0], rising, 1e-15);
  for (const Expr& y : {1 / (1 + exp(-x)), reciprocal(1 + exp(x)), exp(x) / (1 + exp(x))}) {
    const Expr slope = grad(sum(y), {x}, Disconnected::zero)[0];
    for (double each : p(slope)) CHECK(std::abs(each) <= 0.25);
  }
}

TEST_CASE("the logarithm of a sum of exponentials is logsumexp: values, and derivatives that are numbers") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", "m"}), y = log(sum(exp(x), 1));
  const double inf = std::numeric_limits<double>::infinity();
  const Array rows = doubles({1000, 999, -1000, -1001, -inf, -inf, 3, inf, 0.5, -0.25}, {5, 2});
  const std::vector<Expr> outputs{y, logsumexp(x, 1)};
  g.outputs = {outputs[0].id(), outputs[1].id()};
  const Graph shifted = shift_log_sums(simplify(g, RuleClass::real));
  const std::vector<Array> results = interpret(shifted, shifted.outputs, shifted.inputs, {rows});
  const auto got = results[0].to_vector<double>(), expected = results[1].to_vector<double>();
  for (std::size_t k = 0; k < got.size(); ++k) CHECK(got[k] == expected[k]);
  CHECK(got[0] == doctest::Approx(1000 + std::log1p(std::exp(-1.0))));

  const Expr slope = grad(sum(y), {x})[0], along = jvp({y}, {x}, {x * 0 + 1})[0];
  g.outputs = {slope.id(), along.id()};
  const Graph slopes = shift_log_sums(simplify(g, RuleClass::real));
  const Array finite = doubles({1000, 999, -1000, -1001, 0.5, -0.25}, {3, 2});
  const std::vector<Array> found = interpret(slopes, slopes.outputs, slopes.inputs, {finite});
  const double first = 1 / (1 + std::exp(-1.0)), last = 1 / (1 + std::exp(-0.75));
  check_close(found[0].to_vector<double>(), {first, 1 - first, first, 1 - first, last, 1 - last}, 1e-15);
  check_close(found[1].to_vector<double>(), {1, 1, 1}, 1e-15);
}

TEST_CASE("exponents that their author has shifted by a value for all of them stay") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), b = g.input("b", f32, {"n", 1}), c = g.input("c", f32, {"m"});
  g.outputs = {log(sum(exp(x - b), 1)).id(), log(sum(exp(x - c), 1)).id(), logsumexp(x, 1).id(), log(2 * sum(exp(x), 1)).id()};
  const auto count = [](const Graph& graph) {
    int found = 0;
    for (std::size_t k = 0; k < graph.size(); ++k) found += graph.node(NodeId{static_cast<std::uint32_t>(k)}).accumulator == AccumulatorId::supremum;
    return found;
  };
  const int before = count(g);
  CHECK(count(shift_log_sums(g)) == before + 1);             // that of c alone, which is another for each element
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
