// Gradients of accumulators of one's own and of scans: derived from the step, against differences and closed forms.
// tests/README.md, requirements 161-166: the recurrence g_accum[N-i+1], g_m[i] = grad_fn(accum[i-1], m[i], g_accum[N-i]).
#include <weft/recurrence.h>

#include <limits>

#include <doctest/doctest.h>

#include <error_text.h>
#include <moments.h>
#include <weft/elemwise.h>

#include "problem.h"

using namespace weft;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Accumulator decay() {
  return Accumulator::fold("decay", 0.0, [](Expr s, Expr x) { return 0.9 * s + 0.1 * x; });
}
Accumulator mulplus() {
  return Accumulator::fold("mulplus", 1.0, [](Expr s, Expr x) { return s * x + x; });
}
Accumulator online_logsumexp() {
  return Accumulator::monoid(
      "lse", std::tuple(-infinity, 0.0), [](Expr x) { return std::tuple(x, 1.0); },
      [](Expr m, Expr s, Expr n, Expr t) {
        const Expr top = maximum(m, n);
        return std::tuple(top, where(m == -infinity, 0, s * exp(m - top)) + where(n == -infinity, 0, t * exp(n - top)));
      },
      [](Expr m, Expr s) { return m + log(s); });
}
Array sample(const Dims& shape) { return affine(shape, 7, 3, 23, -11, 0.11); }
Expr weighed(const Expr& e) { return sum(e * e * 0.5 + sin(e)); }

}  // namespace

TEST_CASE("folds: the derived gradient, first and second order, every axis and order") {
  for (const Accumulator& acc : {decay(), mulplus()})
    for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0}, {1}, {0, 1}})
      for (const Order order : {Order::c, Order::f}) {
        CAPTURE(acc.name());
        CAPTURE(axes.size());
        Problem p({sample({2, 3})});
        p.check_twice(weighed(reduce(p.x[0], acc, axes, false, order)));
      }
}

TEST_CASE("scans: the derived gradient, first and second order") {
  for (const Accumulator& acc : {decay(), mulplus()})
    for (int axis : {0, 1}) {
      Problem p({sample({3, 2})});
      p.check_twice(weighed(scan(p.x[0], acc, axis)));
    }
}

TEST_CASE("scans that run backwards: the derived gradient, first and second order, reverse and forward mode") {
  for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0}, {1}, {1, 0}}) {
    Problem p({sample({3, 2})});
    const Expr x = p.x[0];
    const auto backwards = [&](const Expr& e) {
      return recur_scan(p.g, mulplus().recurrence({f64}), 0, e.shape(), axes, {{e.id(), identity_map(2)}}, Order::c, true);
    };
    p.check_twice(weighed(backwards(x)));
    if (axes.size() > 1) continue;
    const Expr turned = flip(scan(flip(x, axes), mulplus(), axes[0]), axes);
    check_close(p(jvp({backwards(x)}, {x}, {sin(x)}, Disconnected::zero)[0]), p(jvp({turned}, {x}, {sin(x)}, Disconnected::zero)[0]), 1e-14);
  }
}

TEST_CASE("tuple states: Welford's moments and the online logsumexp") {
  Problem p({sample({2, 4})});
  const std::vector<Expr> both = reduce_all({p.x[0]}, moments(), {1});
  p.check_twice(weighed(both[0]) + weighed(both[1]));
  Problem q({sample({2, 4})});
  q.check_against_differences(weighed(reduce(q.x[0], online_logsumexp(), {1})));
  check_close(q(grad(sum(reduce(q.x[0], online_logsumexp(), {1})), {q.x[0]})[0]), q(softmax(q.x[0], 1)), 1e-12);
  Problem r({sample({2, 4})});
  const std::vector<Expr> along = scan_all({r.x[0]}, moments(), 0);
  r.check_against_differences(weighed(along[0]) + weighed(along[1]));
}

TEST_CASE("several operands, one of them broadcast") {
  Problem p({sample({3, 2}), vec({0.5, -1.5})});
  const auto acc = Accumulator::fold("weigh", 0.25, [](Expr s, Expr x, Expr w) { return tanh(s) * w + x * x; });
  p.check_twice(weighed(reduce(std::vector<Expr>{p.x[0], p.x[1]}, acc, {0})));
  Problem q({sample({3, 2}), vec({0.5, -1.5})});
  q.check_against_differences(weighed(scan(std::vector<Expr>{q.x[0], q.x[1]}, acc, 1)));
}

TEST_CASE("elemwise with an accumulator of one's own: f' at the accumulated operands") {
  for (const Order order : {Order::c, Order::f}) {
    Problem p({sample({2, 3, 2}), vec({0.5, -1.5})});
    p.check_twice(sum(elemwise(p.x[0], p.x[1], order, {accumulate(mulplus())}, [](Expr a, Expr b) { return a * a * b; })));
  }
}

TEST_CASE("cumulative sums, products, maxima") {
  Problem p({vec({1.5, -2, 3, 0.5})});
  CHECK(p(grad(sum(cumulative_sum(p.x[0])), {p.x[0]})[0]) == Values{4, 3, 2, 1});
  p.check_twice(weighed(cumulative_sum(p.x[0])) + weighed(cumulative_prod(p.x[0])));
  p.check_against_differences(weighed(cumulative_max(p.x[0])) + weighed(cumulative_min(p.x[0], 0, {.dtype = std::nullopt, .reverse = true, .include_initial = false})));
}

TEST_CASE("a step that does not read its states in its derivative keeps none of them") {
  Problem p({sample({4})});
  const std::string text = text_of(p.g, p.x, {grad(reduce(p.x[0], decay()), {p.x[0]})[0]});
  CHECK(text.find("decay_before") == std::string::npos);
  CHECK(text.find("fold(") == std::string::npos);
}

TEST_CASE("products: exact with zeros, under- and overflow; their Hessians") {
  const auto gradient = [](const Values& values) {
    Problem p({vec(values)});
    return p(grad(prod(p.x[0]), {p.x[0]})[0]);
  };
  CHECK(gradient({2, 3, 4}) == Values{12, 8, 6});
  CHECK(gradient({0, 3, 4}) == Values{12, 0, 0});
  CHECK(gradient({0, 3, 0}) == Values{0, 0, 0});
  CHECK(gradient({0, 0, 0}) == Values{0, 0, 0});
  CHECK(gradient({1e-200, 1e-200, 1}) == Values{1e-200, 1e-200, 0});
  CHECK(gradient({1e200, 1e200, 1}) == Values{1e200, 1e200, infinity});
  CHECK(gradient({5}) == Values{1});
  const auto curvature = [](const Values& values) {
    Problem p({vec(values)});
    return p(hessian(prod(p.x[0]), p.x[0]));
  };
  CHECK(curvature({2, 3, 4}) == Values{0, 4, 3, 4, 0, 2, 3, 2, 0});
  CHECK(curvature({0, 0, 4}) == Values{0, 4, 0, 4, 0, 0, 0, 0, 0});
  CHECK(curvature({0, 3, 4}) == Values{0, 4, 3, 4, 0, 0, 3, 0, 0});
  Problem p({doubles({1, 2, 0, 4, 5, 6}, {2, 3})});
  CHECK(p(grad(prod(p.x[0]), {p.x[0]})[0]) == Values{0, 0, 240, 0, 0, 0});
}

TEST_CASE("a gradient that the author gives") {
  int calls = 0;
  const auto acc = Accumulator::fold("square", 0.0, [](Expr s, Expr x) { return s + x * x; }).with_grad([&](Expr, Expr x, Expr g) {
    ++calls;
    return std::tuple(g, 10 * g * x);                           // not the true one, to tell them apart
  });
  Problem p({vec({1, 2, 3})});
  CHECK(p(grad(3 * reduce(p.x[0], acc), {p.x[0]})[0]) == Values{30, 60, 90});
  CHECK(p(grad(sum(scan(p.x[0], acc)), {p.x[0]})[0]) == Values{30, 40, 30});
  CHECK(calls == 1);
  const auto wrong = Accumulator::fold("wrong", 0.0, [](Expr s, Expr x) { return s + x; }).with_grad([](Expr, Expr, Expr g) { return g; });
  CHECK(error_text([&] { reduce(p.x[0], wrong); }) == "usage: wrong: grad_fn gives 1 cotangents, expected 2: of the states, then of the elements");
}

TEST_CASE("no elements, one element") {
  Problem p({Array(f64, {2, 0})});
  CHECK(p(grad(sum(reduce(p.x[0], mulplus(), {1})), {p.x[0]})[0]).empty());
  Problem q({doubles({3, 4}, {2, 1})});
  CHECK(q(grad(sum(reduce(q.x[0], mulplus(), {1})), {q.x[0]})[0]) == Values{2, 2});
}
