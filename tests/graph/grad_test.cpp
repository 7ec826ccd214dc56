// Gradients: the Theano cases, every op row against central differences, ties, zeros, masks, second derivatives, errors.
#include <weft/grad.h>

#include <cmath>
#include <functional>
#include <limits>

#include <doctest/doctest.h>

#include <weft/elemwise.h>
#include <weft/expr.h>
#include <weft/passes.h>
#include <weft/text.h>

#include "error_text.h"
#include "values.h"

using namespace weft;

namespace {

using Values = std::vector<double>;

void check_close(const Values& got, const Values& expected, double bound = 1e-9) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    CAPTURE(k);
    CAPTURE(got[k]);
    CAPTURE(expected[k]);
    CHECK(std::abs(got[k] - expected[k]) <= bound * std::max(1.0, std::abs(expected[k])));
  }
}

// A function of f64 inputs, evaluated and differentiated by the interpreter.
struct Problem {
  Graph g;
  std::vector<Expr> x;
  std::vector<Array> arrays;
  explicit Problem(const std::vector<Array>& values) {
    for (const Array& value : values) {
      x.push_back(g.input("x" + std::to_string(x.size()), f64, Shape(value.shape().begin(), value.shape().end())));
      arrays.push_back(value);
    }
  }
  Values operator()(const Expr& output) const { return values_of(output, x, arrays); }
  std::vector<Values> gradients(const Expr& loss) {
    std::vector<Values> results;
    for (const Expr& gradient : grad(loss, x, Disconnected::zero)) results.push_back((*this)(gradient));
    return results;
  }

  // d loss / d x[k][element] by central differences: error about 1e-10 of the values involved.
  double difference(const Expr& loss, std::size_t k, Index element) {
    auto* data = static_cast<double*>(arrays[k].data());
    const double at = data[element], h = 6e-6 * std::max(1.0, std::abs(at));
    data[element] = at + h;
    const double high = (*this)(loss)[0];
    data[element] = at - h;
    const double low = (*this)(loss)[0];
    data[element] = at;
    return (high - low) / (2 * h);
  }
  void check_against_differences(const Expr& loss) {
    const auto got = gradients(loss);
    for (std::size_t k = 0; k < x.size(); ++k)
      for (std::size_t e = 0; e < got[k].size(); ++e) {
        CAPTURE(k);
        CAPTURE(e);
        const double expected = difference(loss, k, static_cast<Index>(e));
        if (!std::isfinite(expected)) continue;   // outside the domain of the function
        CAPTURE(got[k][e]);
        CAPTURE(expected);
        CHECK(std::abs(got[k][e] - expected) <= 1e-6 * std::max(1.0, std::abs(expected)));
      }
  }
  // Also the gradient of a weighted sum of the gradients.
  void check_twice(const Expr& loss) {
    check_against_differences(loss);
    Expr total;
    double weight = 0.5;
    for (const Expr& gradient : grad(loss, x, Disconnected::zero)) {
      const Expr weights = g.constant(affine({element_count(dims(gradient))}, 5, 3, 11, -4, weight));
      const Expr part = sum(flat(gradient) * weights);
      total = total ? total + part : part;
      weight += 0.25;
    }
    check_against_differences(total);
  }

 private:
  static Dims dims(const Expr& e) {
    Dims result;
    for (const Extent& extent : e.shape()) result.push_back(extent.constant());
    return result;
  }
  // A rank-1 value of all elements: rows of the last axes one after the other, by sums with one-hot weights.
  Expr flat(const Expr& e) {
    const Dims shape = dims(e);
    const Index count = element_count(shape);
    if (e.rank() == 1) return e;
    if (e.rank() == 0) return broadcast_to(e, {1});
    Dims wide{count};
    wide.insert(wide.end(), shape.begin(), shape.end());
    Array one_hot(f64, wide);
    for (Index k = 0; k < count; ++k) static_cast<double*>(one_hot.data())[k * count + k] = 1;
    std::vector<int> axes;
    for (int k = 1; k <= e.rank(); ++k) axes.push_back(k);
    return sum(g.constant(one_hot) * e, axes);
  }
};

Array vec(const Values& values) { return doubles(values, {static_cast<Index>(values.size())}); }

// The text of a loss and its gradients after the passes that a compiled function runs.
std::string text_of(const Graph& g, const std::vector<Expr>& inputs, const std::vector<Expr>& outputs) {
  return to_text(drop_dead(merge_duplicates(absorb_copies(simplify(extract(g, inputs, outputs))))));
}

}  // namespace

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
  CHECK(text_of(p.g, p.x, grad(sum(power(p.x[0], 3)), p.x)) == R"(graph graph(%x0: f64[4]) -> (%1) {
  %0: f64[i:4] = square(%x0[i])
  %1: f64[i:4] = multiply(3, %0[i])
}
)");
}

// ---- structure

TEST_CASE("compositions of broadcasts, folds, transposes, slices and scans of axes agree with differences, twice") {
  using Make = std::function<Expr(const std::vector<Expr>&)>;
  const std::vector<std::pair<const char*, Make>> makes{
      {"row times column", [](auto& x) { return sum(tanh(x[0] * x[1]) * x[0]); }},
      {"rows folded, used twice", [](auto& x) { Expr s = sum(x[0], {1}); return sum(square(s)) + sum(s * sum(x[0] * x[1], {1})); }},
      {"keepdims", [](auto& x) { return sum(x[0] / (2 + square(sum(x[0], {1}, true)))); }},
      {"transpose", [](auto& x) { return sum(exp(permute_dims(x[0], {1, 0}) * 0.3) * sum(x[0])); }},
      {"slices", [](auto& x) { return sum(square(x[0].slice({Slice{}, Slice{1, {}}}) - x[0].slice({Slice{}, Slice{{}, -1}}))); }},
      {"steps", [](auto& x) { return sum(exp(x[0].slice({Slice{{}, {}, -1}, Slice{1, {}, 2}})) * x[1].slice({Slice{{}, 2}})); }},
      {"one row", [](auto& x) { return sum(sin(x[0].slice({1})) * x[1]); }},
      {"one element", [](auto& x) { return x[0].slice({1, 2}) * x[1].slice({-1}); }},
      {"flip", [](auto& x) { return sum(flip(x[0]) * x[0] * x[0]); }},
      {"flip of a first part", [](auto& x) { return sum(square(flip(x[1].slice({Slice{{}, 3}})) * x[1].slice({Slice{1, {}}}))); }},
      {"broadcast first part", [](auto& x) { return sum(broadcast_to(x[1].slice({Slice{{}, 3}}), {2, 3}) * x[0].slice({Slice{}, Slice{1, {}}})); }},
      {"mean and variance", [](auto& x) { return sum(var(x[0], {1}) * mean(x[0], {1})); }},
      {"softmax", [](auto& x) { return sum(softmax(x[0]) * x[1]); }},
      {"log_softmax", [](auto& x) { return sum(log_softmax(x[0], 0) * x[1]); }},
      {"logsumexp", [](auto& x) { return sum(square(logsumexp(x[0], {1}))); }},
      {"layer_norm", [](auto& x) { return sum(sin(layer_norm(x[0], x[1], x[1]))); }},
      {"norm", [](auto& x) { return norm(x[0]) * norm(x[1]); }},
      {"max of products", [](auto& x) { return sum(square(max(x[0] * x[1], {1}))); }},
      {"min", [](auto& x) { return sum(exp(min(x[0], {0}))); }},
      {"prod of a row", [](auto& x) { return sum(prod(x[0], {1}) * x[1].slice({Slice{{}, 2}})); }},
      {"prod of all", [](auto& x) { return square(prod(x[0])); }},
      {"count", [](auto& x) { return sum(broadcast_to(sum(x[1]), {2, 3})); }},
      {"relu and clip", [](auto& x) { return sum(relu(x[0]) * clip(x[1], -1, 1) * abs(x[0])); }},
      {"maximum", [](auto& x) { return sum(square(maximum(x[0], x[1])) + minimum(x[0], 0.1) * x[0]); }},
      {"where", [](auto& x) { return sum(where(x[0] > 0, x[0] * x[1], exp(x[0]))); }},
      {"gelu and silu", [](auto& x) { return sum(gelu(x[0]) * silu(x[1])); }},
      {"through f32", [](auto& x) { return sum(cast(cast(x[0], f32), f64) * 0.0 + x[0]); }},
  };
  for (const auto& [name, make] : makes) {
    CAPTURE(std::string(name));
    Problem p({doubles({0.3, -1.2, 0.8, 2.1, -0.4, 0.9, 1.7, -0.6}, {2, 4}), vec({0.7, -0.9, 1.4, 0.2})});
    p.check_twice(make(p.x));
  }
}

TEST_CASE("symbolic extents: a sum over an axis the operand lacks multiplies by its extent, slices scatter") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), y = g.input("y", f64, {"n", "m"});
  const std::vector<Array> arrays{vec({1, 2, 3}), doubles({1, 2, 3, 4, 5, 6}, {3, 2})};
  const Expr loss = sum(expand_dims(x, 1) + y * 0.0) + sum(square(x.slice({Slice{1, {}}}) - x.slice({Slice{{}, -1}})));
  CHECK(values_of(grad(loss, {x})[0], {x, y}, arrays) == Values{2 - 2, 2 + 0, 2 + 2});
  CHECK(values_of(grad(sum(x.slice({-1}) * x.slice({Slice{{}, {}, 2}})), {x})[0], {x, y}, arrays) == Values{3, 0, 7});
}

TEST_CASE("three times: the third derivative of a product and of a power") {
  Problem p({vec({0.5, -1.5, 2, 0.25})});
  Expr loss = prod(p.x[0]) + sum(power(p.x[0], 4));
  for (int k = 0; k < 2; ++k) loss = sum(square(grad(loss, p.x)[0]) * 0.1);
  p.check_against_differences(loss);
}

// ---- ties, zeros, masks

TEST_CASE("ties share the gradient equally") {
  Problem p({vec({1, 2, 3}), vec({2, 2, 2})});
  CHECK(p.gradients(sum(maximum(p.x[0], p.x[1]))) == std::vector<Values>{{0, 0.5, 1}, {1, 0.5, 0}});
  CHECK(p.gradients(sum(minimum(p.x[0], p.x[1]))) == std::vector<Values>{{1, 0.5, 0}, {0, 0.5, 1}});
  CHECK(p.gradients(sum(maximum(p.x[0], p.x[0])))[0] == Values{1, 1, 1});
  Problem q({doubles({1, 4, 4, 4, 2, 2, 0, 2}, {2, 4})});
  check_close(q.gradients(sum(max(q.x[0], {1})))[0], {0, 1 / 3.0, 1 / 3.0, 1 / 3.0, 1 / 3.0, 1 / 3.0, 0, 1 / 3.0}, 1e-15);
  check_close(q.gradients(min(q.x[0]))[0], {0, 0, 0, 0, 0, 0, 1, 0});
  check_close(q.gradients(max(q.x[0]))[0], {0, 1 / 3.0, 1 / 3.0, 1 / 3.0, 0, 0, 0, 0}, 1e-15);
  Problem z({vec({0, -0.0, 1, -1, 2})});
  CHECK(z.gradients(sum(relu(z.x[0])))[0] == Values{0, 0, 1, 0, 1});
  CHECK(z.gradients(sum(abs(z.x[0])))[0] == Values{0, 0, 1, -1, 1});
  CHECK(z.gradients(sum(clip(z.x[0], 0, 1)))[0] == Values{1, 1, 1, 0, 0});
}

TEST_CASE("prod is exact with no, one, two zeros and with underflow, and its second derivative is right") {
  const std::vector<std::pair<Values, Values>> cases{{{2, 3, 4}, {12, 8, 6}},
                                                     {{2, 0, 4}, {0, 8, 0}},
                                                     {{0, 0, 4}, {0, 0, 0}},
                                                     {{1e-200, 1e-200, 1}, {1e-200, 1e-200, 0}},
                                                     {{1e200, 1e200, 1e-300}, {1e-100, 1e-100, std::numeric_limits<double>::infinity()}},
                                                     {{5}, {1}},
                                                     {{}, {}}};
  for (const auto& [values, expected] : cases) {
    Problem p({vec(values)});
    CHECK(p.gradients(prod(p.x[0]))[0] == expected);
  }
  Problem p({vec({2, 0, 4})});
  CHECK(p.gradients(sum(grad(prod(p.x[0]), p.x)[0]))[0] == Values{4, 6, 2});
  Problem q({vec({0, 0, 4})});
  CHECK(q.gradients(sum(grad(prod(q.x[0]), q.x)[0]))[0] == Values{4, 4, 0});
  Problem matrix({doubles({1, 2, 0, 3}, {2, 2})});
  CHECK(matrix.gradients(prod(matrix.x[0]))[0] == Values{0, 0, 6, 0});
}

TEST_CASE("a branch not taken leaks neither NaN nor infinity, in first and second derivatives") {
  using Make = std::function<Expr(const Expr&)>;
  const double big = 1000;
  struct Leak { const char* name; Values at, expected; Make make; };
  const std::vector<Leak> leaks{
      {"log", {0, -1, 2}, {0, 0, 0.5}, [](const Expr& x) { return where(x > 0, log(x), 0); }},
      {"log of log", {0, -1, 2}, {0, 0, 1 / (2 * std::log(2.0))}, [](const Expr& x) { return where(x > 1, log(log(x)), 0); }},
      {"sqrt", {0, -1, 4}, {0, 0, 0.25}, [](const Expr& x) { return where(x > 0, sqrt(x), 0); }},
      {"exp", {big, 0}, {0, 1}, [](const Expr& x) { return where(x < 100, exp(x), x * 0.0); }},
      {"factor of an overflow", {big, 1}, {0, 2 * std::exp(1.0)}, [](const Expr& x) { return where(x < 100, exp(x) * x, 0); }},
      {"minimum", {big, 0}, {0, 1}, [](const Expr& x) { return minimum(exp(x), 5.0); }},
      {"relu", {-big, 2}, {0, 2}, [](const Expr& x) { return relu(where(x > 0, x, exp(-x)) * x * 0.5); }},
      {"divide", {0, 2}, {0, -0.25}, [](const Expr& x) { return where(x != 0, 1 / x, 0); }},
      {"reciprocal", {0, 2}, {0, -0.25}, [](const Expr& x) { return where(x != 0, reciprocal(x), 0); }},
      {"power", {0, 4}, {0, 0.25}, [](const Expr& x) { return where(x > 0, power(x, 0.5), 0); }},
      {"two branches", {0, -1, 3}, {0, 1, 1 / 3.0 + 1}, [](const Expr& x) { return where(x > 2, log(x), 0) + where(x != 0, x + 0 * log(x * x), 0); }},
      {"broadcast", {0, 2}, {0, 1.5}, [](const Expr& x) { return sum(where(expand_dims(x, 1) > broadcast_to(x.graph().constant(vec({0.5, 0.25, 7})), {2, 3}), expand_dims(log(x), 1), 0) * 1.5, {1}); }},
  };
  for (const Leak& leak : leaks) {
    CAPTURE(std::string(leak.name));
    Problem p({vec(leak.at)});
    const Expr first = grad(sum(leak.make(p.x[0])), p.x)[0];
    check_close(p(first), leak.expected);
    const auto second = p.gradients(sum(first * first));
    for (double value : second[0]) CHECK(std::isfinite(value));
  }
}

TEST_CASE("where the incoming gradient is 0, singular points give 0, and derivatives in the weight stay right") {
  Problem p({vec({0, 0, 4}), vec({0, 0, 0})});
  CHECK(p.gradients(norm(p.x[1]) * 0.0 + sum(p.x[0]))[1] == Values{0, 0, 0});
  CHECK(p.gradients(maximum(norm(p.x[1]) - 1, 0.0) + sum(p.x[0]))[1] == Values{0, 0, 0});
  for (auto f : {+[](const Expr& x) { return sqrt(x); }, +[](const Expr& x) { return log(x); }, +[](const Expr& x) { return reciprocal(x); },
                 +[](const Expr& x) { return rsqrt(x); }, +[](const Expr& x) { return log1p(x - 1); }, +[](const Expr& x) { return 1 / x; }})
    CHECK(p(grad(sum(where(p.x[0] > 0, p.x[0], f(p.x[0])) * p.x[1]), {p.x[0]})[0]) == Values{0, 0, 0});
  // d2/dx dw of w log x is 1/x, also where w is 0.
  Problem w({vec({2, 4}), vec({0, 3})});
  CHECK(w(grad(sum(grad(sum(log(w.x[0]) * w.x[1]), {w.x[0]})[0]), {w.x[1]})[0]) == Values{0.5, 0.25});
}

// ---- graphs stay small

TEST_CASE("gradients are a few nodes: the last op of a column is part of its fold") {
  Graph g("lsq");
  const Expr x = g.input("x", f64, {"n", "m"}), w = g.input("w", f64, {"m"}), y = g.input("y", f64, {"n"});
  const Expr loss = sum(square(sum(x * w, {1}) - y));
  CHECK(text_of(g, {x, w, y}, grad(loss, {w})) == R"(graph lsq(%x: f64[n,m], %w: f64[m], %y: f64[n]) -> (%4) {
  %0: f64[i:n,j:m] = multiply(%x[i,j], %w[j])
  %1: f64[i:n] = sum(j:m) copy(%0[i,j])
  %2: f64[i:n] = subtract(%1[i], %y[i])
  %3: f64[i:n] = add(%2[i], %2[i])
  %4: f64[i:m] = sum(j:n) multiply(%3[j], %x[j,i])
}
)");
  CHECK(text_of(g, {x, w, y}, grad(sum(x * w), {w, x})) == R"(graph lsq(%x: f64[n,m], %w: f64[m], %y: f64[n]) -> (%0, %1) {
  %0: f64[i:m] = sum(j:n) copy(%x[j,i])
  %1: f64[i:n,j:m] = copy(%w[j])
}
)");
  CHECK(text_of(g, {x, w, y}, grad(sum(where(y > 0, log(y), 0)), {y})) == R"(graph lsq(%x: f64[n,m], %w: f64[m], %y: f64[n]) -> (%2) {
  %0: bool[i:n] = greater(%y[i], 0)
  %1: f64[i:n] = reciprocal(%y[i])
  %2: f64[i:n] = where(%0[i], %1[i], 0)
}
)");
}

TEST_CASE("the gradient of a loss in itself is 1, of a step in between its own") {
  Problem p({vec({1, 2})});
  const Expr y = square(p.x[0]), loss = sum(y);
  CHECK(p(grad(loss, {loss})[0]) == Values{1});
  CHECK(p(grad(sum(square(y)), {y})[0]) == Values{2, 8});
  CHECK(p(grad(loss, {p.x[0], y})[0]) == Values{2, 4});
}

TEST_CASE("half precision and f32 gradients keep their dtypes through casts and means") {
  Graph g;
  const Expr h = g.input("h", f16, {4}), s = g.input("s", f32, {4});
  const auto gradients = grad(cast(mean(h * cast(s, f16)), f64), {h, s});
  CHECK(gradients[0].dtype() == f16);
  CHECK(gradients[1].dtype() == f32);
  Array ha(f16, {4});
  ha.fill(Scalar(2.0));
  CHECK(values_of(gradients[1], {h, s}, {ha, Array::from<float>({1, 2, 3, 4})}) == Values{0.5, 0.5, 0.5, 0.5});
}

TEST_CASE("chains of 20,000 nodes") {
  Problem p({vec({0.5})});
  Expr y = p.x[0];
  for (int k = 0; k < 20000; ++k) y = k % 2 ? y * 1.0001 : sin(y) + y;
  CHECK(std::isfinite(p(grad(sum(y), p.x)[0])[0]));
}

// ---- connection and errors

TEST_CASE("integer results are connected with gradient zero; disconnected wrt is an error or zeros") {
  Problem p({vec({1.5, 2.5}), vec({1, 1})});
  const Expr rounded = cast(cast(p.x[0], i32), f64);
  CHECK(p(grad(sum(rounded), {p.x[0]})[0]) == Values{0, 0});
  CHECK(p(grad(sum(where(p.x[0] > 2, p.x[1], 0)), {p.x[0]})[0]) == Values{0, 0});
  CHECK(p(grad(sum(p.x[0]), p.x, Disconnected::zero)[1]) == Values{0, 0});
  CHECK(error_text([&] { grad(sum(p.x[0]), p.x); }).find("does not depend on %x1\n  pass Disconnected::zero to get zeros") != std::string::npos);
}

TEST_CASE("every error of grad and vjp, before any node is added") {
  Graph g("mine"), other("theirs");
  const Expr x = g.input("x", f64, {"n"}), k = g.input("k", i32, {"n"}), w = g.input("w", f64, {"n"}), foreign = other.input("z", f64, {});
  const Expr y = x * 2, loss = sum(x * cast(k, f64)), whole = sum(k), z = y + w;
  const Expr seed32 = cast(x, f32), seed0 = sum(x);
  const std::size_t size = g.size();
  CHECK(error_text([&] { grad(y, {x}); }) == "usage: grad: " + y.name() + " has shape [n], and a loss has rank 0\n  sum it, or use vjp with a seed of that shape");
  CHECK(error_text([&] { grad(whole, {x}); }) == "dtype: grad: " + whole.name() + " is i64, and only floating values have gradients\n  cast it to a floating dtype before it is used");
  CHECK(error_text([&] { grad(loss, {k}); }) == "dtype: grad: %k is i32, and only floating values have gradients\n  cast it to a floating dtype before it is used");
  CHECK(error_text([&] { grad(loss, {w}); }) == "usage: grad: " + loss.name() + " does not depend on %w\n  pass Disconnected::zero to get zeros");
  CHECK(error_text([&] { grad(loss, {foreign}); }) == "usage: grad: %z belongs to graph \"theirs\", not to \"mine\"");
  CHECK(error_text([&] { grad(Expr(), {x}); }) == "usage: grad: got an empty Expr");
  CHECK(error_text([&] { grad(loss, {Expr()}); }) == "usage: grad: got an empty Expr");
  CHECK(error_text([&] { vjp({y, y}, {x}, {x}); }) == "usage: vjp: expected one seed for each y, got 2 ys and 1 seeds");
  CHECK(error_text([&] { vjp({}, {x}, {}); }) == "usage: vjp: expected one seed for each y, got 0 ys and 0 seeds");
  CHECK(error_text([&] { vjp({y}, {x}, {seed0}); }) == "shape: vjp: the seed " + seed0.name() + " has shape [] but " + y.name() + " has shape [n]");
  CHECK(error_text([&] { vjp({y}, {x}, {seed32}); }) == "dtype: vjp: the seed " + seed32.name() + " is f32 but " + y.name() + " is f64");
  CHECK(error_text([&] { vjp({y, y}, {w}, {x, x}); }) == "usage: vjp: the ys do not depend on %w\n  pass Disconnected::zero to get zeros");
  CHECK(error_text([&] { vjp({z}, {x}, {foreign}); }) == "usage: vjp: %z belongs to graph \"theirs\", not to \"mine\"");
  CHECK(g.size() == size);
}
