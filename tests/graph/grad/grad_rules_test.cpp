// Gradients: the Theano cases and every row of ops.def against central differences.
#include <weft/grad.h>

#include <cmath>

#include <doctest/doctest.h>
#include <error_text.h>

#include <weft/elemwise.h>
#include <weft/expr.h>
#include <weft/passes.h>

#include "problem.h"

using namespace weft;

// ---- the two traps of "swap the modes"

TEST_CASE("the gradient of a broadcast is formed first and then summed: [3, 7], not [6, 14]") {
  Problem p({doubles({1, 2, 3, 4}, {2, 2}), vec({10, 20})});
  const Expr z = elemwise(p.x[0], p.x[1], Order::c, {Mode::broadcast}, [](const Expr& a, const Expr& b) { return a * b; });
  CHECK(p(grad(sum(z), {p.x[1]})[0]) == Values{3, 7});
  Problem q({affine({2, 3}, 1, 0, 100, 1, 1), vec({10, 20})});   // th.grad.bcast_mul_c_accumulate_after_f
  const Expr y = elemwise(q.x[0], q.x[1], Order::c, {Mode::broadcast}, [](const Expr& a, const Expr& b) { return a * b; });
  CHECK(q.gradients(sum(y)) == std::vector<Values>{{10, 10, 10, 20, 20, 20}, {6, 15}});
}

TEST_CASE("the gradient of an accumulate is taken at the accumulated operand: [[6,6],[14,14]], not [[2,4],[6,8]]") {
  Problem p({doubles({1, 2, 3, 4}, {2, 2}), vec({1, 1})});
  const Expr z = elemwise(p.x[0], p.x[1], Order::c, {accumulate(sum)}, [](const Expr& s, const Expr& y) { return square(s) * y; });
  CHECK(p(grad(sum(z), {p.x[0]})[0]) == Values{6, 6, 14, 14});
  Problem q({doubles({0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, {2, 3}), vec({1, 2})});   // th.grad.accsum_nonlinear
  const Expr t = elemwise(q.x[0], q.x[1], Order::c, {accumulate(sum)}, [](const Expr& s, const Expr& y) { return tanh(s * y); });
  const auto gradients = q.gradients(sum(t));
  check_close(gradients[0], {0.7115777625872226, 0.7115777625872226, 0.7115777625872226, 0.019732074330880423, 0.019732074330880423, 0.019732074330880423});
  check_close(gradients[1], {0.42694665755233363, 0.014799055748160317});
}

// ---- th.grad.*: an elemwise, the gradients of its output, the gradients of its inputs

namespace {

struct Case {
  const char* id;
  Order order;
  ModeSpec mode;
  std::vector<Array> inputs;
  Array out_grad;
  ElemwiseFunction function;
  std::vector<Values> expected;
};

ElemwiseFunction times() {
  return [](const std::vector<Expr>& in) { return std::vector<Expr>{in[0] * in[1]}; };
}
ElemwiseFunction plus() {
  return [](const std::vector<Expr>& in) { return std::vector<Expr>{in[0] + in[1]}; };
}
Array one_to_six() { return affine({2, 3}, 1, 0, 100, 1, 1); }

std::vector<Case> theano_cases() {
  const Array seeds = doubles({-1, -0.25, 0.5, 1.25, -0.75, 0, 0.75, -1.25, -0.5, 0.25, 1, -1, -0.25, 0.5, 1.25, -0.75, 0, 0.75, -1.25, -0.5, 0.25, 1, -1, -0.25}, {2, 3, 4});
  const Array square3 = affine({3, 3}, 1, 0, 100, 1, 1), row3 = vec({0.1, 0.2, 0.3});
  const ElemwiseFunction twice = [](const std::vector<Expr>& in) { return std::vector<Expr>{in[0] * in[1] * in[1]}; };
  return {
      {"bcast_add_c", Order::c, Mode::broadcast, {one_to_six(), vec({10, 20})}, one_to_six(), plus(), {{1, 2, 3, 4, 5, 6}, {6, 15}}},
      {"bcast_mul_f", Order::f, Mode::broadcast, {one_to_six(), vec({10, 20, 30})}, doubles({1, -1, 2, -2, 3, -3}, {2, 3}), times(),
       {{10, -20, 60, -20, 60, -90}, {-7, 13, -12}}},
      {"accsum_mul_c_becomes_broadcast", Order::c, accumulate(sum), {one_to_six(), vec({10, 20})}, vec({1, 2}), times(),
       {{10, 10, 10, 40, 40, 40}, {6, 30}}},
      {"accsum_mul_f", Order::f, accumulate(sum), {one_to_six(), vec({10, 20, 30})}, vec({1, 2, 3}), times(), {{10, 40, 90, 10, 40, 90}, {5, 14, 27}}},
      {"accprod_one_zero", Order::c, accumulate(prod), {doubles({0, 2, 3, 4, 5, 6}, {2, 3}), vec({1, 1})}, vec({1, 1}), times(),
       {{6, 0, 0, 30, 24, 20}, {0, 120}}},
      {"accmax_unique", Order::c, accumulate(weft::max), {doubles({1, 9, 3, 4, -5, 6}, {2, 3}), vec({1, 2})}, vec({1, 1}), times(),
       {{0, 1, 0, 0, 0, 2}, {9, 6}}},
      {"three_rank_bcast_f", Order::f, Mode::broadcast, {case_x({2, 3, 4}), case_y({3, 4}, 0.25), vec({1, 2, 3, 4})}, seeds,
       [](const std::vector<Expr>& in) { return std::vector<Expr>{(in[0] + in[1]) * tanh(in[2])}; },
       {{-0.7615941559557649, -0.24100689501895423, 0.49752737684336523, 1.2491616246738337, -0.5711956169668236, 0.0, 0.7462910652650478, -1.2491616246738337,
         -0.3807970779778824, 0.24100689501895423, 0.9950547536867305, -0.999329299739067, -0.1903985389889412, 0.48201379003790845, 1.243818442108413,
         -0.7494969748043003, 0.0, 0.7230206850568627, -1.243818442108413, -0.4996646498695335, 0.1903985389889412, 0.9640275800758169, -0.9950547536867305,
         -0.24983232493476676},
        {-0.9519926949447061, 0.24100689501895423, 1.7413458189517783, 0.4996646498695334, -0.5711956169668236, 0.7230206850568627, -0.49752737684336523,
         -1.7488262745433674, -0.1903985389889412, 1.205034475094771, 0.0, -1.2491616246738337},
        {3.018565580350813, -0.20312112145284772, -0.04439716724448095, -0.01600759877862127}}},
      {"nonlinear_bcast_f", Order::f, Mode::broadcast, {affine({2, 3, 4}, 7, 3, 23, -11, 0.05), affine({3, 4}, 5, 1, 19, -9, 0.05)}, seeds,
       [](const std::vector<Expr>& in) { return std::vector<Expr>{exp(in[0]) / (2 + square(in[1]))}; },
       {{-0.3103333546461293, -0.11758089301615748, 0.33578577302885654, 0.3572029798072046, -0.30413709414312995, 0.0, 0.6427390671943369,
         -0.4506948976107667, -0.2643949564774277, 0.1957942803358513, 0.34543533809740856, -0.4540295119182747, -0.1642439292353307, 0.15763365923900455,
         0.5627098370870396, -0.45371922851156943, 0.0, 0.3054965496559634, -0.718068135184353, -0.3816484422916963, 0.08861461969877009, 0.5249793240329709,
         -0.7312866164908188, -0.07608627083264918},
        {-0.17576936440054075, 0.005941077808086094, -0.08940254827023844, 0.03183103608624516, -0.1003043420024457, 0.030397666632434178,
         0.011173656562177892, 0.3082753110749863, -0.050463254577605074, 0.03599368810830572, 0.07565711341047263, 0.21661938909231848}}},
      {"shared_input_f", Order::f, Mode::broadcast, {square3, row3}, square3, twice,
       {{0.01, 0.08, 0.27, 0.04, 0.2, 0.54, 0.07, 0.32, 0.81}, {13.2, 37.2, 75.6}}},
      {"shared_input_c", Order::c, Mode::broadcast, {square3, row3}, square3, twice,
       {{0.01, 0.02, 0.03, 0.16, 0.2, 0.24, 0.63, 0.72, 0.81}, {2.8, 30.8, 116.4}}},
      {"bcast_scalar", Order::c, Mode::broadcast, {one_to_six(), doubles({2}, {})}, doubles({1, 1, 1, 1, 1, 1}, {2, 3}), times(), {{2, 2, 2, 2, 2, 2}, {21}}},
  };
}

}  // namespace

TEST_CASE("the gradients of the Theano cases") {
  for (const Case& each : theano_cases()) {
    CAPTURE(std::string(each.id));
    Problem p(each.inputs);
    const Expr y = elemwise(p.x, each.order, {each.mode}, each.function)[0];
    const auto gradients = vjp({y}, p.x, {p.g.constant(each.out_grad)});
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      CHECK(gradients[k].shape() == p.x[k].shape());
      check_close(p(gradients[k]), each.expected[k]);
    }
  }
}

TEST_CASE("gradients take the output's gradient as an input, have the shapes of the inputs, and sum only over axes an input lacks") {
  for (const Order order : {Order::c, Order::f}) {
    Graph g;
    const Expr x = g.input("x", f64, {2, 2}), y = g.input("y", f64, {2, 2}), w = g.input("w", f64, {2}), seed = g.input("seed", f64, {2, 2});
    const Expr equal = elemwise(x, y, order, {Mode::broadcast}, [](Expr a, Expr b) { return a * exp(b); });
    const Expr mixed = elemwise(x, w, order, {Mode::broadcast}, [](Expr a, Expr b) { return a * exp(b); });
    const auto sums_in = [&](const Expr& output, const Expr& input) {
      const Expr gradient = vjp({output}, {input}, {seed})[0];
      CHECK(gradient.shape() == input.shape());
      const Graph graph = extract(g, {x, y, w, seed}, {gradient});
      int count = 0;
      for (std::size_t k = 0; k < graph.size(); ++k) count += graph.node(id_of(k)).mode == Mode::accumulate;
      return count;
    };
    CHECK(sums_in(equal, x) == 0);
    CHECK(sums_in(equal, y) == 0);
    CHECK(sums_in(mixed, x) == 0);
    CHECK(sums_in(mixed, w) == 1);
  }
}

TEST_CASE("prod and clip of the Theano tests, and log(1 - sigmoid(x)) in its stable form") {
  Problem p({doubles({1, 2, 0, 0, 5, 6, 7, 8, 9, 9, 10, 0}, {4, 3})});
  CHECK(p.gradients(sum(prod(p.x[0], {1})))[0] == Values{0, 0, 2, 30, 0, 0, 72, 63, 56, 0, 0, 90});
  Problem c({vec({-1, 0.5, 2})});
  CHECK(c.gradients(sum(clip(c.x[0], 0, 1)))[0] == Values{0, 1, 0});
  Problem s({vec({-100, -1, 0, 1, 100})});
  Graph stable = simplify(extract(s.g, s.x, {log(1 - sigmoid(s.x[0]))}), RuleClass::real);
  const Expr y(stable, stable.outputs[0]), x(stable, stable.inputs[0]);
  const Expr gradient = vjp({y}, {x}, {stable.constant(vec({1, 1, 1, 1, 1}))})[0];
  check_close(values_of(gradient, {x}, s.arrays), {-3.72007598e-44, -0.26894142, -0.5, -0.73105858, -1.0}, 1e-6);
  CHECK(std::abs(values_of(gradient, {x}, s.arrays)[0] / -3.72007598e-44 - 1) < 1e-6);
}

// ---- every row of ops.def

TEST_CASE("every op row agrees with central differences, and so does its second derivative") {
  const Values samples{-2.3, -0.7, -0.31, 0.23, 0.6, 1.3, 1.9}, others{0.4, -1.6, 0.9, 1.1, -0.8, 2.7, -0.45}, thirds{1.7, -0.3, 0.2, 1.25, 0.5, 3.1, 0.1};
  for (const OpInfo& row : op_table()) {
    CAPTURE(std::string(row.name));
    if (row.rule == DTypeRule::logical || row.rule == DTypeRule::bitwise) continue;
    for (std::size_t e = 0; e < samples.size(); ++e) {         // one at a time: some lie outside a function's domain
      CAPTURE(e);
      Problem p({vec({samples[e]}), vec({others[e]}), vec({thirds[e]})});
      std::vector<Value> operands;
      for (int k = 0; k < row.arity; ++k) operands.push_back(p.x[static_cast<std::size_t>(k)]);
      if (row.op == Op::where) operands[0] = p.x[0] > 0;
      const Expr y = row.op == Op::cast ? cast(cast(p.x[0], f32), f64) : elementwise(row.op, operands);
      if (!is_floating(y.dtype())) CHECK(p.gradients(sum(cast(y, f64)))[0] == Values{0});
      else if (row.op == Op::stop_gradient) CHECK(p.gradients(sum(y))[0] == Values{0});
      else if (row.op == Op::cast) CHECK(p.gradients(sum(y))[0] == Values{1});
      else p.check_twice(sum(y * 1.75));
    }
  }
}

TEST_CASE("lgamma has every derivative: beyond trigamma they are made of other ops") {
  const double zeta3 = 1.2020569031595942, zeta5 = 1.0369277551433699, pi = std::acos(-1.0);
  Problem p({vec({1, 0.5, -0.5, 40})});
  const Expr second = grad(sum(trigamma(p.x[0])), p.x)[0];     // psi''
  check_close(p(second), {-2 * zeta3, -14 * zeta3, -14 * zeta3 + 16, -0.00064082027183529859}, 1e-13);
  check_close(p(grad(sum(grad(sum(digamma(p.x[0])), p.x)[0]), p.x)[0]), p(second), 1e-15);
  const Expr third = grad(sum(second), p.x)[0], fourth = grad(sum(third), p.x)[0];
  Problem one({vec({1})});
  Expr psi = digamma(one.x[0]);
  for (double expected : {pi * pi / 6, -2 * zeta3, std::pow(pi, 4) / 15, -24 * zeta5}) {
    psi = grad(sum(psi), one.x)[0];
    check_close(one(psi), {expected}, 1e-13);
  }
  for (const Expr& each : {third, fourth}) CHECK(std::isfinite(p(each)[2]));
  Problem edges({vec({0, HUGE_VAL, 1e300, -2.75, 1e-110, -0.25})});
  const Values at = edges(grad(sum(trigamma(edges.x[0])), edges.x)[0]);
  CHECK(at[0] == -HUGE_VAL);
  CHECK(at[1] == 0);
  CHECK(at[2] == 0);
  CHECK(at[3] == doctest::Approx(-124.11765305971518).epsilon(1e-13));
  CHECK(at[4] == -HUGE_VAL);
  p.check_twice(sum(trigamma(p.x[0]) * 0.5));
}

TEST_CASE("gradients at the edges of domains, at ties and at zeros") {
  const double inf = HUGE_VAL, nan_value = std::nan("");
  const auto both = [](double a, double b, const auto& f) {
    Problem p({vec({a}), vec({b})});
    const auto g = p.gradients(sum(f(p.x[0], p.x[1])));
    return Values{g[0][0], g[1][0]};
  };
  const auto hypotenuse = [](const Expr& a, const Expr& b) { return hypot(a, b); };
  CHECK(both(0, 0, hypotenuse) == Values{0, 0});
  check_close(both(3e200, 4e200, hypotenuse), {0.6, 0.8});
  check_close(both(3e-200, 4e-200, hypotenuse), {0.6, 0.8});
  const auto angle = [](const Expr& a, const Expr& b) { return atan2(a, b); };
  const Values far = both(3e200, 4e200, angle), near = both(3e-200, 4e-200, angle);   // 4e200 / 25e400
  CHECK(far[0] == doctest::Approx(1.6e-201).epsilon(1e-14));
  CHECK(far[1] == doctest::Approx(-1.2e-201).epsilon(1e-14));
  CHECK(near[0] == doctest::Approx(1.6e199).epsilon(1e-14));
  const auto xlog = [](const Expr& a, const Expr& b) { return xlogy(a, b); };
  check_close(both(0, 2, xlog), {std::log(2.0), 0});
  CHECK(both(0, 0, xlog) == Values{0, 0});
  check_close(both(3, 2, xlog), {std::log(2.0), 1.5});
  const auto logadd = [](const Expr& a, const Expr& b) { return logaddexp(a, b); };
  CHECK(both(inf, inf, logadd) == Values{0.5, 0.5});
  CHECK(both(-inf, -inf, logadd) == Values{0.5, 0.5});
  CHECK(both(-inf, 1, logadd) == Values{0, 1});
  CHECK(both(700, -700, logadd)[0] == 1);
  for (double a : {-1.0, 1.0}) CHECK(both(a, nan_value, [](const Expr& x, const Expr& y) { return fmax(x, y); }) == Values{1, 0});
  CHECK(both(nan_value, 2, [](const Expr& x, const Expr& y) { return fmin(x, y); }) == Values{0, 1});
  CHECK(both(2, 2, [](const Expr& x, const Expr& y) { return fmax(x, y); }) == Values{0.5, 0.5});
  CHECK(both(2, 2, [](const Expr& x, const Expr& y) { return clip(x, y, std::nullopt); }) == Values{1, 0});
  CHECK(both(3, 2, [](const Expr& x, const Expr& y) { return clip(x, std::nullopt, y); }) == Values{0, 1});
  CHECK(both(7.5, 2, [](const Expr& x, const Expr& y) { return fmod(x, y); }) == Values{1, -3});
  CHECK(both(-7.5, 2, [](const Expr& x, const Expr& y) { return fmod(x, y); }) == Values{1, 3});
  CHECK(both(-3, -2, [](const Expr& x, const Expr& y) { return copysign(x, y); }) == Values{1, 0});
  CHECK(both(0, -2, [](const Expr& x, const Expr& y) { return copysign(x, y); }) == Values{0, 0});

  // A gradient of 0 stays 0 where the derivative is infinite; a gradient that is not 0 shows the infinity.
  const auto at = [](double value, double weight, Expr (*f)(const Expr&)) {
    Problem p({vec({value}), vec({weight})});
    return p.gradients(sum(f(p.x[0]) * p.x[1]))[0][0];
  };
  for (auto* f : {&weft::cbrt, &weft::log2, &weft::log10}) {
    CHECK(at(0, 0, f) == 0);
    CHECK(at(0, 1, f) == inf);
  }
  for (auto* f : {&weft::asin, &weft::acos, &weft::acosh, &weft::atanh}) {
    CHECK(at(1, 0, f) == 0);
    CHECK(std::isinf(at(1, 1, f)));
  }
  CHECK(at(1e200, 1, &weft::asinh) == doctest::Approx(1e-200));
  CHECK(at(1e200, 1, &weft::acosh) == doctest::Approx(1e-200));
}

TEST_CASE("powers with constant exponents, and powers at zero") {
  Problem p({vec({-1.5, -0.2, 0.7, 2.1})});
  for (double n : {-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0}) {
    CAPTURE(n);
    p.check_twice(sum(power(p.x[0], n)));
  }
  Problem zero({vec({0, 0, 0}), vec({1, 2, 3})});
  const auto gradients = zero.gradients(sum(power(zero.x[0], zero.x[1])));
  CHECK(gradients[0] == Values{1, 0, 0});
  CHECK(gradients[1] == Values{0, 0, 0});
  CHECK(zero.gradients(sum(power(zero.x[0], 1)))[0] == Values{1, 1, 1});
  CHECK(zero.gradients(sum(power(zero.x[0], 2)))[0] == Values{0, 0, 0});
  Problem tiny({vec({1e-300, -1e-300, 1e-300}), vec({0, 0, 1})});          // x^-2 is infinite
  const Expr slope = grad(sum(power(tiny.x[0], tiny.x[1])), {tiny.x[0]})[0], second = grad(sum(slope), {tiny.x[0]})[0];
  CHECK(tiny.gradients(sum(slope))[0] == Values{0, 0, 0});
  CHECK(tiny.gradients(sum(second))[0] == Values{0, 0, 0});
  CHECK(text_of(p.g, p.x, grad(sum(power(p.x[0], 3)), p.x)) == R"(graph graph(%x0: f64[4]) -> (%1) {
  %0: f64[i:4] = square(%x0[i])
  %1: f64[i:4] = multiply(3, %0[i])
}
)");
}
