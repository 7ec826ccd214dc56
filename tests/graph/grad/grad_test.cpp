// Gradients: structure, size of the graphs, connection, every error.
#include <weft/grad.h>

#include <functional>

#include <doctest/doctest.h>

#include <weft/expr.h>

#include "error_text.h"
#include "problem.h"

using namespace weft;

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

TEST_CASE("a first part is read once and its gradient is one window") {
  Graph g("t");
  const Expr x = g.input("x", f64, {"n"});
  const Expr gradient = grad(sum(square(x.slice({Slice{{}, -1}}))), {x})[0];
  CHECK(text_of(g, {x}, {gradient}) == "graph t(%x: f64[n]) -> (%1) {\n"
                                       "  %0: f64[i:n-1] = add(%x[i+0], %x[i+0])\n"
                                       "  %1: f64[n] = update(%0[i]) at [i]\n}\n");
  CHECK(values_of(gradient, {x}, {vec({1, 2, 3})}) == Values{2, 4, 0});
  const Expr again = grad(sum(square(gradient)), {x})[0];
  CHECK(values_of(again, {x}, {vec({1, 2, 3})}) == Values{8, 16, 0});
}

TEST_CASE("three times: the third derivative of a product and of a power") {
  Problem p({vec({0.5, -1.5, 2, 0.25})});
  Expr loss = prod(p.x[0]) + sum(power(p.x[0], 4));
  for (int k = 0; k < 2; ++k) loss = sum(square(grad(loss, p.x)[0]) * 0.1);
  p.check_against_differences(loss);
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
  CHECK(error_text([&] { grad(y, {x}); }) == "usage: grad: " + y.name() + " has shape [n], and a loss has rank 0\n"
        "  sum it, or use vjp with a seed of that shape");
  CHECK(error_text([&] { grad(whole, {x}); }) == "dtype: grad: " + whole.name() + " is i64, and only floating values have gradients\n"
        "  cast it to a floating dtype before it is used");
  CHECK(error_text([&] { grad(loss, {k}); }) == "dtype: grad: %k is i32, and only floating values have gradients\n"
        "  cast it to a floating dtype before it is used");
  CHECK(error_text([&] { grad(loss, {w}); }) == "usage: grad: " + loss.name() + " does not depend on %w\n  pass Disconnected::zero to get zeros");
  CHECK(error_text([&] { grad(loss, {foreign}); }) == "usage: grad: %z belongs to graph \"theirs\", not to \"mine\"");
  CHECK(error_text([&] { grad(Expr(), {x}); }) == "usage: grad: got an empty Expr");
  CHECK(error_text([&] { grad(loss, {Expr()}); }) == "usage: grad: got an empty Expr");
  CHECK(error_text([&] { vjp({y, y}, {x}, {x}); }) == "usage: vjp: expected one seed for each y, got 2 ys and 1 seeds");
  CHECK(error_text([&] { vjp({}, {x}, {}); }) == "usage: vjp: expected at least one y");
  CHECK(error_text([&] { vjp({y}, {x}, {seed0}); }) == "shape: vjp: the seed " + seed0.name() + " has shape [] but " + y.name() + " has shape [n]");
  CHECK(error_text([&] { vjp({y}, {x}, {seed32}); }) == "dtype: vjp: the seed " + seed32.name() + " is f32 but " + y.name() + " is f64");
  CHECK(error_text([&] { vjp({y, y}, {w}, {x, x}); }) == "usage: vjp: the ys do not depend on %w\n  pass Disconnected::zero to get zeros");
  CHECK(error_text([&] { vjp({z}, {x}, {foreign}); }) == "usage: vjp: %z belongs to graph \"theirs\", not to \"mine\"");
  CHECK(g.size() == size);
}
