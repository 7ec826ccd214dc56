// Forward mode, Hessians, Jacobians, and gradients that a function's author gives.
#include <weft/grad.h>

#include <doctest/doctest.h>

#include <error_text.h>
#include <weft/recurrence.h>

#include "problem.h"

using namespace weft;

namespace {

Array sample(const Dims& shape) { return affine(shape, 5, 1, 19, -9, 0.13); }

// <u, J t> by forward mode and <J^T u, t> by reverse mode.
void check_adjoint(Problem& p, const Expr& y) {
  const Expr t = p.g.constant(affine({4, 3}, 7, 3, 23, -11, 0.1)), forward = jvp({y}, {p.x[0]}, {t})[0];
  CHECK(forward.shape() == y.shape());
  const Expr u = sin(forward * 0 + 1) + forward * 0;
  const Expr reverse = vjp({y}, {p.x[0]}, {u})[0];
  const double left = p(sum(forward * u))[0], right = p(sum(reverse * t))[0];
  CHECK(std::abs(left - right) <= 1e-12 * std::max(1.0, std::abs(left)));
}

}  // namespace

TEST_CASE("jvp is the transpose of vjp") {
  Problem p({sample({4, 3})});
  const Expr x = p.x[0];
  const auto acc = Accumulator::fold("decay", 0.5, [](Expr s, Expr e) { return tanh(s) * e + e; }, [](Expr s) { return s * s; });
  for (const Expr& y : {exp(x) * sin(x), softmax(x, 1), sum(x * x, 0), prod(x, 1), max(x, 0), mean(x), transpose(x).slice({Slice{1, 3}}), flip(x, 1) / (2 + cos(x)),
                        logsumexp(x, 1), weft::std(x, 0), cumulative_sum(x * x, 1), cumulative_prod(x, 0), reduce(x, acc), reduce(x, acc, {0}), scan(x, acc, 1),
                        where(x > 0, sqrt(x), 0), x.slice({1}), broadcast_to(sum(x), {5}), reshape(x * x, {6, -1}), reshape(sin(x), {2, 6}, Order::f)})
    check_adjoint(p, y);
}

TEST_CASE("jvp of several values along several tangents; an x that is a y") {
  Problem p({vec({1, 2}), vec({3, 4})});
  const Expr a = p.x[0], b = p.x[1], t = p.g.constant(vec({1, 0})), u = p.g.constant(vec({0, 1}));
  const std::vector<Expr> moved = jvp({a * b, a + 2 * b, a}, {a, b}, {t, u});
  CHECK(p(moved[0]) == Values{3, 2});
  CHECK(p(moved[1]) == Values{1, 2});
  CHECK(p(moved[2]) == Values{1, 0});
  CHECK(p(jvp({a + 0}, {a, b}, {t, u}, Disconnected::zero)[0]) == Values{1, 0});
}

TEST_CASE("jvp through a narrower dtype") {
  Problem p({vec({1, 2})});
  const Expr moved = jvp({cast(cast(p.x[0], f32), f64) * p.x[0]}, {p.x[0]}, {p.g.constant(vec({0.5, 0.25}))})[0];
  CHECK(moved.dtype() == f64);
  CHECK(p(moved) == Values{1, 1});
}

TEST_CASE("hvp is the Hessian times v, the Hessian is symmetric") {
  Problem p({vec({0.5, -1, 2})});
  const Expr x = p.x[0], v = p.g.constant(vec({1, -2, 0.5}));
  CHECK(p(hessian(sum(x * 3), x)) == Values(9, 0.0));           // linear: the gradient does not depend on x
  CHECK(p(hvp(sum(x * 3), {x}, {v})[0]) == Values(3, 0.0));
  const Expr loss = sum(exp(x) * x) + prod(x) + logsumexp(x) + sum(cumulative_prod(x));
  const Values h = p(hessian(loss, x)), hv = p(hvp(loss, {x}, {v})[0]);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(h[3 * i] - 2 * h[3 * i + 1] + 0.5 * h[3 * i + 2] - hv[i]) < 1e-10);
    for (std::size_t j = 0; j < 3; ++j) CHECK(std::abs(h[3 * i + j] - h[3 * j + i]) < 1e-10);
  }
}

TEST_CASE("jacobian: the shape of y, then that of x") {
  Problem p({doubles({1, 2, 3, 4, 5, 6}, {2, 3})});
  const Expr x = p.x[0], j = jacobian(sum(x * x, 1), x);
  CHECK(j.shape() == Shape{2, 2, 3});
  CHECK(p(j) == Values{2, 4, 6, 0, 0, 0, 0, 0, 0, 8, 10, 12});
  CHECK(p(jacobian(sum(x), x)) == Values{1, 1, 1, 1, 1, 1});
  const Expr k = jacobian(cumulative_sum(x, 1), x);
  CHECK(k.shape() == Shape{2, 3, 2, 3});
  const Values all = p(k);
  CHECK(Values(all.begin(), all.begin() + 18) == Values{1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0});
  CHECK(p(jacobian(x.slice({0, Slice{1, 3}}), x)) == Values{0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0});
}

TEST_CASE("gradients with respect to what is computed on the way") {
  Problem p({vec({1, 2})});
  const Expr h = p.x[0] * 3, loss = sum(h * h);
  CHECK(p(grad(loss, {h})[0]) == Values{6, 12});
  CHECK(p(grad(loss, {h, p.x[0]})[1]) == Values{18, 36});
}

TEST_CASE("custom gradients replace the derived one, and are differentiated again") {
  Problem p({vec({-2, 0.5, 3})});
  const auto clipped = custom_gradient([](const std::vector<Expr>& xs) { return xs[0] * 1; },
                                       [](const std::vector<Expr>&, const Expr&, const Expr& g) { return std::vector<Expr>{clip(g, -1, 1)}; });
  const Expr y = clipped({p.x[0]});
  CHECK(p(grad(sum(y * y * 0.5), {p.x[0]})[0]) == Values{-1, 0.5, 1});
  const auto cube = custom_gradient([](const std::vector<Expr>& xs) { return xs[0] * xs[0] * xs[0]; },
                                    [](const std::vector<Expr>& xs, const Expr&, const Expr& g) { return std::vector<Expr>{3 * g * xs[0] * xs[0]}; });
  p.check_twice(sum(sin(cube({p.x[0]}))));
  const auto wrong = custom_gradient([](const std::vector<Expr>& xs) { return xs[0]; },
                                     [](const std::vector<Expr>&, const Expr&, const Expr& g) { return std::vector<Expr>{sum(g)}; });
  const Expr z = wrong({p.x[0]});
  CHECK(error_text([&] { grad(sum(z), {p.x[0]}); }) == "shape: custom_gradient: the gradient of %x0 is f64 of shape [], expected f64 of shape [3]");
}

TEST_CASE("products with a Hessian, Jacobians and Hessians of what does not depend on something are zeros, if asked for") {
  Problem p({vec({1, 2}), vec({3, 4, 5})});
  const Expr x = p.x[0], b = p.x[1], y = x * x * x, loss = sum(y);
  const std::vector<Expr> products = hvp(loss, {x, b}, {x, b}, Disconnected::zero);
  CHECK(p(products[0]) == Values{6, 24});
  CHECK(p(products[1]) == Values{0, 0, 0});
  CHECK(p(jacobian(y, b, Disconnected::zero)) == Values(6, 0.0));
  CHECK(jacobian(y, b, Disconnected::zero).shape() == Shape{2, 3});
  CHECK(p(jacobian(y, x, Disconnected::zero)) == Values{3, 0, 0, 12});
  CHECK(p(hessian(loss, b, Disconnected::zero)) == Values(9, 0.0));
  CHECK(p(jacobian(jacobian(3 * x, x), x, Disconnected::zero)) == Values(8, 0.0));
  CHECK(p(hessian(sum(3 * x), x)) == Values(4, 0.0));
}

TEST_CASE("forward mode: errors") {
  Problem p({vec({1, 2})});
  const Expr x = p.x[0], y = x * x, i = p.g.input("i", i32, {2});
  CHECK(error_text([&] { jvp({y}, {x}, {}); }) == "usage: jvp: expected one tangent for each x, got 1 xs and 0 tangents");
  CHECK(error_text([&] { jvp({}, {x}, {x}); }) == "usage: jvp: expected at least one y");
  CHECK(error_text([&] { jvp({y}, {x}, {sum(x)}); }).find("shape: jvp: the tangent ") == 0);
  CHECK(error_text([&] { jvp({y}, {x}, {cast(x, f32)}); }).find("dtype: jvp: the tangent ") == 0);
  CHECK(error_text([&] { jacobian(y, i); }).find("dtype: jacobian: %i is i32") == 0);
  const std::size_t before = p.g.size();
  const Expr loss = sum(y), b = p.g.input("b", f64, {3});
  CHECK(error_text([&] { jacobian(y, b); }) == "usage: jacobian: " + y.name() + " does not depend on %b\n  pass Disconnected::zero to get zeros");
  CHECK(error_text([&] { hessian(loss, b); }) == "usage: hessian: " + loss.name() + " does not depend on %b\n  pass Disconnected::zero to get zeros");
  CHECK(error_text([&] { hvp(loss, {x, b}, {x, b}); }) == "usage: hvp: " + loss.name() + " does not depend on %b\n  pass Disconnected::zero to get zeros");
  CHECK(error_text([&] { hvp(loss, {x}, {b}); }) == "shape: hvp: the v %b has shape [3] but %x0 has shape [2]");
  CHECK(error_text([&] { hvp(y, {x}, {x}); }).find("usage: hvp: " + y.name() + " has shape [2], and a loss has rank 0") == 0);
  CHECK(p.g.size() == before + 2);                             // loss and b
  CHECK(error_text([] { custom_gradient(nullptr, nullptr); }) == "usage: custom_gradient: expected a function and its gradient");
}
