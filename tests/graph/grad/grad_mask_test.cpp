// Gradients: ties, products with zeros, and branches not taken.
#include <weft/grad.h>

#include <cmath>
#include <functional>
#include <limits>

#include <doctest/doctest.h>

#include <weft/expr.h>
#include <weft/linear_algebra.h>
#include <weft/rearrange.h>

#include "problem.h"

using namespace weft;

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
      {"sqrt, rolled", {0, -1, 4}, {0, 0, 0.25}, [](const Expr& x) { return where(x > 0, roll(roll(sqrt(x), 1, 0), -1, 0), 0); }},
      {"sqrt, in parts", {0, -1, 4}, {0, 0, 0.25}, [](const Expr& x) { return where(x > 0, concat({sqrt(x).slice({Slice{{}, 1}}), sqrt(x).slice({Slice{1, {}}})}), 0); }},
      {"sqrt, a part", {4, -1, 4}, {0, 0, 0.25}, [](const Expr& x) { return where(x.slice({Slice{1, {}}}) > 0, sqrt(x).slice({Slice{1, {}}}), 0); }},
      {"sqrt, padded", {0, -1, 4}, {0, 0, 0.25}, [](const Expr& x) { return where(x > 0, pad(sqrt(x), {{1, 1}}).slice({Slice{1, -1}}), 0); }},
      {"sqrt, another shape", {0, -1, 4, 1}, {0, 0, 0.25, 0.5},
       [](const Expr& x) { return where(reshape(x, {2, 2}) > 0, reshape(sqrt(x), {2, 2}), 0); }},
      {"exp", {big, 0}, {0, 1}, [](const Expr& x) { return where(x < 100, exp(x), x * 0.0); }},
      {"factor of an overflow", {big, 1}, {0, 2 * std::exp(1.0)}, [](const Expr& x) { return where(x < 100, exp(x) * x, 0); }},
      {"minimum", {big, 0}, {0, 1}, [](const Expr& x) { return minimum(exp(x), 5.0); }},
      {"relu", {-big, 2}, {0, 2}, [](const Expr& x) { return relu(where(x > 0, x, exp(-x)) * x * 0.5); }},
      {"divide", {0, 2}, {0, -0.25}, [](const Expr& x) { return where(x != 0, 1 / x, 0); }},
      {"reciprocal", {0, 2}, {0, -0.25}, [](const Expr& x) { return where(x != 0, reciprocal(x), 0); }},
      {"power", {0, 4}, {0, 0.25}, [](const Expr& x) { return where(x > 0, power(x, 0.5), 0); }},
      {"two branches", {0, -1, 3}, {0, 1, 1 / 3.0 + 1}, [](const Expr& x) { return where(x > 2, log(x), 0) + where(x != 0, x + 0 * log(x * x), 0); }},
      {"broadcast", {0, 2}, {0, 1.5}, [](const Expr& x) {
         const Expr bounds = broadcast_to(x.graph().constant(vec({0.5, 0.25, 7})), {2, 3});
         return sum(where(expand_dims(x, 1) > bounds, expand_dims(log(x), 1), 0) * 1.5, {1});
       }},
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

TEST_CASE("what relu cuts off is 0 before a sum of products; what where hides is hidden in each term") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", "k"}), w = g.input("w", f64, {"k", "m"});
  const Expr z = matmul(x, w);
  g.outputs = {grad(sum(relu(z) * 3), {w})[0].id()};
  CHECK(to_text(drop_dead(g)) ==
        "graph graph(%x: f64[n,k], %w: f64[k,m]) -> (%3) {\n"
        "  %0: f64[i:n,j:m] = sum(l:k) multiply(%x[i,l], %w[l,j])\n"
        "  %1: bool[i:n,j:m] = greater(%0[i,j], 0)\n"
        "  %2: f64[i:n,j:m] = where(%1[i,j], 3:f64, 0:f64)\n"
        "  %3: f64[i:k,j:m] = sum(l:n) multiply(%2[l,j], %x[l,i])\n"
        "}\n");
  Problem p({doubles({1, std::nan(""), 2, 3}, {2, 2}), vec({1, 1})});
  const Expr hidden = where(p.g.constant(bool_, {2}, {0, 1}), matmul(p.x[0], p.x[1]), 0);
  CHECK(p.gradients(sum(hidden))[1] == Values{2, 3});
}

TEST_CASE("a branch not taken leaks nothing of what repeats in it, nor of given NaN and infinity") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const Array x = doubles({1, 2, 3, 4, 5, 6}, {3, 2});
  using Make = std::function<Expr(const Expr& x, const Expr& u)>;
  const std::vector<std::pair<Array, Make>> leaks{
      {vec({-1, 4}), [](const Expr& a, const Expr& u) { return sum(a * sqrt(u), {1}, {.where = u > 0}); }},
      {vec({-1, 4}), [](const Expr& a, const Expr& u) { return where(u > 0, a * pow(u, 0.5), a); }},
      {vec({1000, 1}), [](const Expr& a, const Expr& u) { return where(u > 999, a, a * exp(u)); }},
      {vec({nan, 4}), [](const Expr& a, const Expr& u) { return where(isnan(u), a, a * roll(roll(u * u, 1, 0), -1, 0)); }},
      {vec({infinity, 4}), [](const Expr& a, const Expr& u) { return where(isinf(u), a, a * flip(flip(u * tanh(u)))); }},
      {vec({1e200, 4}), [](const Expr& a, const Expr& u) { return where(u > 1e100, a, a * reshape(reshape(u * u * u, {2, 1}) * 1.0, {2})); }}};
  for (const auto& [u, make] : leaks) {
    Problem p({x, u});
    const Expr loss = sum(make(p.x[0], p.x[1]));
    const auto slopes = p.gradients(loss);
    for (double slope : slopes[0]) CHECK(std::isfinite(slope));
    CHECK(slopes[1][0] == 0);
    CHECK(std::isfinite(slopes[1][1]));
    const Values second = p.gradients(sum(square(grad(loss, {p.x[1]})[0])))[1];
    CHECK(second[0] == 0);
  }
}

TEST_CASE("a value that is differentiated by keeps masks for what it is made of") {
  Problem p({vec({-1, 4})});
  const Expr u = p.x[0], root = sqrt(u), y = where(u > 0, roll(roll(root, 1, 0), -1, 0), 0);
  const std::vector<Expr> slopes = grad(sum(y), {root, u});
  CHECK(p(slopes[0]) == Values{0, 1});
  CHECK(p(slopes[1]) == Values{0, 0.25});
}

TEST_CASE("padding of attention leaks nowhere: keys that no query may read are NaN") {
  const double nan = std::nan("");
  Problem p({doubles({1, 2, 3, 4, 5, 6}, {3, 2}), doubles({0.5, -1, 1, 0.25, nan, nan}, {3, 2})});
  const Expr &q = p.x[0], &k = p.x[1], i = iota(p.g, 3);
  const Expr may_read = (expand_dims(i, 1) >= i) & (i < 2);    // causal, and the last key is padding
  const Expr weights = softmax(where(may_read, einsum("qd,kd->qk", {q, k}), -1e30));
  const Expr loss = sum(square(weights.slice({Slice::all, Slice{{}, 2}})));
  const auto slopes = p.gradients(loss);
  for (double slope : slopes[0]) CHECK(std::isfinite(slope));
  CHECK(slopes[1][4] == 0);
  CHECK(slopes[1][5] == 0);
  Problem clean({p.arrays[0], doubles({0.5, -1, 1, 0.25, 0, 0}, {3, 2})});
  const Expr allowed = (expand_dims(iota(clean.g, 3), 1) >= iota(clean.g, 3)) & (iota(clean.g, 3) < 2);
  const Expr same = softmax(where(allowed, einsum("qd,kd->qk", {clean.x[0], clean.x[1]}), -1e30));
  const Expr clean_loss = sum(square(same.slice({Slice::all, Slice{{}, 2}})));
  CHECK(clean.gradients(clean_loss) == slopes);
  clean.check_against_differences(clean_loss);
  for (const Expr& first : grad(loss, p.x))
    for (const Values& second : p.gradients(sum(square(first)))) for (double value : second) CHECK(std::isfinite(value));
}

TEST_CASE("what a reduction leaves out leaks nowhere, along axes of one element too") {
  const double nan = std::nan("");
  for (const int axis : {0, 1}) {
    Problem p({doubles({-1, 0.5}, axis == 1 ? Dims{2, 1} : Dims{1, 2}), doubles({nan, 0.25}, axis == 1 ? Dims{2, 1} : Dims{1, 2})});
    const ReduceOptions positive{.where = p.x[0] > 0};
    for (const Expr& y : {weft::std(sqrt(p.x[0]), axis, positive), weft::var(sqrt(p.x[0]), axis, positive), weft::var(p.x[1] * p.x[1], axis, positive), weft::std(pow(p.x[1], -1.5), axis, positive)})
      for (const Expr& first : grad(sum(y), {p.x[0], p.x[1]}, Disconnected::zero)) {
        CHECK(p(first) == Values{0, 0});
        for (const Expr& second : grad(sum(square(first)), {p.x[0], p.x[1]}, Disconnected::zero)) CHECK(p(second) == Values{0, 0});
      }
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
