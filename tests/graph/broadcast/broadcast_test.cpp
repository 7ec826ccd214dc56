// The Array API rule on shapes: the examples of the specification, symbols, and what mismatches say.
#include <weft/broadcast.h>

#include <doctest/doctest.h>

#include <weft/expr.h>

#include "error_text.h"
#include "values.h"

using namespace weft;

TEST_CASE("the six examples of the specification, in both operand orders") {
  const struct { Shape a, b, result; } cases[] = {
      {{8, 1, 6, 1}, {7, 1, 5}, {8, 7, 6, 5}}, {{5, 4}, {1}, {5, 4}},          {{5, 4}, {4}, {5, 4}},
      {{15, 3, 5}, {15, 1, 5}, {15, 3, 5}},    {{15, 3, 5}, {3, 5}, {15, 3, 5}}, {{15, 3, 5}, {3, 1}, {15, 3, 5}},
  };
  for (const auto& c : cases) {
    CHECK(broadcast_shapes(c.a, c.b) == c.result);
    CHECK(broadcast_shapes(c.b, c.a) == c.result);
  }
}

TEST_CASE("the three failing examples name both extents") {
  CHECK(error_text([] { broadcast_shapes({3}, {4}); }) ==
        "shape: broadcast_shapes: axis i has extent 3 in [3] but 4 in [4]\n  extents must be equal, or one of them 1");
  CHECK(error_text([] { broadcast_shapes({2, 1}, {8, 4, 3}); }) ==
        "shape: broadcast_shapes: axis j has extent 2 in [2, 1] but 4 in [8, 4, 3]\n  extents must be equal, or one of them 1");
  CHECK(error_text([] { broadcast_shapes({15, 3, 5}, {15, 3}); }) ==
        "shape: broadcast_shapes: axis k has extent 5 in [15, 3, 5] but 3 in [15, 3]\n  extents must be equal, or one of them 1");
}

TEST_CASE("any number of shapes, scalars and empty axes") {
  CHECK(broadcast_shapes(std::vector<Shape>{}) == Shape{});
  CHECK(broadcast_shapes(std::vector<Shape>{{2, 3}}) == Shape{2, 3});
  CHECK(broadcast_shapes({6, 7}, {5, 6, 1}, {7}, {5, 1, 7}) == Shape{5, 6, 7});
  CHECK(broadcast_shapes({2, 3}, Shape{}) == Shape{2, 3});
  CHECK(broadcast_shapes({1}, {0}) == Shape{0});
  CHECK(broadcast_shapes({0, 1}, {1, 4}) == Shape{0, 4});
  CHECK(error_text([] { broadcast_shapes({2}, {0}); }) ==
        "shape: broadcast_shapes: axis i has extent 2 in [2] but 0 in [0]\n  extents must be equal, or one of them 1");
}

TEST_CASE("a symbol matches itself and the number 1") {
  CHECK(broadcast_shapes({"n", 1}, {64}) == Shape{"n", 64});
  CHECK(broadcast_shapes({"n"}, {"m", 1}) == Shape{"m", "n"});
  CHECK(broadcast_shapes({Extent("n") + 1}, {Extent(1) + Extent("n")}) == Shape{Extent("n") + 1});
  CHECK(error_text([] { broadcast_shapes({"n"}, {"m"}); }) ==
        "shape: broadcast_shapes: axis i has extent n in [n] but m in [m]\n  if m is meant to equal n, declare both inputs with the same symbol");
  CHECK(error_text([] { broadcast_shapes({4}, {"n"}); }) ==
        "shape: broadcast_shapes: axis i has extent 4 in [4] but n in [n]\n  if n is meant to be 4, declare that input with 4");
}

TEST_CASE("operators name the operands and the axis, by letters that are no symbols") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", "m"}), w = g.input("w", f64, {"k"}), v = g.input("v", f64, {"n", "j"});
  CHECK(error_text([&] { x * w; }) ==
        "shape: multiply: axis j has extent m in %x[i,j] but k in %w[j]\n  if k is meant to equal m, declare both inputs with the same symbol");
  const Expr means = g.input("means", f64, {"n"});
  CHECK(error_text([&] { x - means; }) ==
        "shape: subtract: axis j has extent m in %x[i,j] but n in %means[j]\n  if n is meant to equal m, declare both inputs with the same symbol\n"
        "  or expand_dims(%means, 1), so that it follows the axes in front; a reduction with keepdims = true leaves that axis");
  CHECK(error_text([&] { x * v; }) ==
        "shape: multiply: axis k has extent m in %x[i,k] but j in %v[i,k]\n  if j is meant to equal m, declare both inputs with the same symbol");
  CHECK(error_text([&] { where(x > 0, x, w); }) ==
        "shape: where: axis j has extent m in %0[i,j] but k in %w[j]\n  if k is meant to equal m, declare both inputs with the same symbol");
}

TEST_CASE("broadcasting is part of the node: no copies, and values repeat") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3}), r = g.input("r", f64, {3}), c = g.input("c", f64, {2, 1}), s = g.input("s", f64, {});
  const std::size_t before = g.size();
  const Expr y = x * r, z = x + c, t = x - s, o = c * r;
  CHECK(g.size() == before + 4);
  CHECK(g.map(z.id(), 1) == AxisMap{AxisRef{0, 0, 1}, AxisRef{-1, 0, 1}});
  const std::vector<Expr> in{x, r, c, s};
  const std::vector<Array> a{doubles({1, 2, 3, 4, 5, 6}, {2, 3}), doubles({1, 10, 100}, {3}), doubles({1, 2}, {2, 1}), doubles({1}, {})};
  CHECK(values_of(y, in, a) == std::vector<double>{1, 20, 300, 4, 50, 600});
  CHECK(values_of(z, in, a) == std::vector<double>{2, 3, 4, 6, 7, 8});
  CHECK(values_of(t, in, a) == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(values_of(o, in, a) == std::vector<double>{1, 10, 100, 2, 20, 200});
}

TEST_CASE("broadcast_to repeats but never changes an extent") {
  Graph g;
  const Expr x = g.input("x", f64, {3, 1}), s = g.input("s", f64, {"n"});
  CHECK(broadcast_to(x, {2, 3, 2}).shape() == Shape{2, 3, 2});
  CHECK(values_of(broadcast_to(x, {2, 3, 2}), {x}, {doubles({1, 2, 3}, {3, 1})}) == std::vector<double>{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3});
  CHECK(broadcast_to(s, {2, "n"}).shape() == Shape{2, "n"});
  CHECK(error_text([&] { broadcast_to(x, {3}); }) ==
        "shape: broadcast_to: %x has rank 2 but the target [3] has rank 1\n  squeeze or reduce the surplus axes first");
  CHECK(error_text([&] { broadcast_to(x, {1, 4}); }) ==
        "shape: broadcast_to: axis 0 of %x has extent 3 but the target [1, 4] has 1\n  only an axis of extent 1 is repeated");
  CHECK(error_text([&] { broadcast_to(s, {"m"}); }) ==
        "shape: broadcast_to: axis 0 of %s has extent n but the target [m] has m\n  if n is meant to equal m, declare both inputs with the same symbol");
}

TEST_CASE("assignment keeps the shape and dtype of its left side") {
  Graph g;
  const Expr x = g.input("x", f32, {2, 3, 4}), a = g.input("a", f32, {1, 3, 4}), i = g.input("i", i32, {4}), d = g.input("d", f64, {4});
  CHECK(assign(x, a).shape() == Shape{2, 3, 4});
  CHECK(assign(x, i).dtype() == f32);
  CHECK(error_text([&] { assign(x.slice({1}), a); }) ==
        "shape: assign: %a has rank 3 but the target [3, 4] has rank 2\n  squeeze or reduce the surplus axes first");
  CHECK(error_text([&] { assign(a, x); }) ==
        "shape: assign: axis 0 of %x has extent 2 but the target [1, 3, 4] has 1\n  only an axis of extent 1 is repeated");
  CHECK(error_text([&] { assign(x, d); }) == "dtype: assign: %d is f64, which does not convert to f32 of %x\n  cast it first");
}
