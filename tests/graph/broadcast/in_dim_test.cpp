// The XLA rules: explicit dimensions, extents of 1 after them, no promotion; the examples of the source and what errors say.
#include <weft/xla.h>

#include <weft/expr.h>

#include "error_text.h"
#include "problem.h"

using namespace weft;

namespace {
struct Two {
  Graph g;
  Expr a, b;
  Two(const Shape& sa, const Shape& sb, DType da = f64, DType db = f64) : a(g.input("a", da, sa)), b(g.input("b", db, sb)) {}
  std::string error(const std::vector<Index>& dimensions, Op op = Op::add) {
    const std::size_t before = g.size();
    const std::string text = error_text([&] { xla::apply(op, a, b, dimensions); });
    CHECK(g.size() == before);
    return text;
  }
};
}  // namespace

TEST_CASE("a vector follows the named axis of a matrix") {
  Two t({2, 3}, {3});
  const Expr sum = xla::apply(Op::add, t.a, t.b, {1});
  CHECK(values_of(sum, {t.a, t.b}, {doubles({1, 2, 3, 4, 5, 6}, {2, 3}), vec({7, 8, 9})}) == Values{8, 10, 12, 11, 13, 15});
  CHECK(line_of(t.g, sum.id()) == "%0: f64[i:2,j:3] = add(%a[i,j], %b[j])");
  Two square({3, 3}, {3});
  const auto at = [&](Index axis) {
    return values_of(xla::apply(Op::add, square.a, square.b, {axis}), {square.a, square.b}, {doubles(Values(9, 0), {3, 3}), vec({7, 8, 9})});
  };
  CHECK(at(1) == Values{7, 8, 9, 7, 8, 9, 7, 8, 9});
  CHECK(at(0) == Values{7, 7, 7, 8, 8, 8, 9, 9, 9});
}

TEST_CASE("a matrix follows any two axes in order, and either operand may be the lower one") {
  const struct { Shape lower; std::vector<Index> dimensions; const char* line; } cases[] = {
      {{4, 5}, {2, 3}, "%0: f64[i:2,j:3,k:4,l:5] = multiply(%a[k,l], %b[i,j,k,l])"},
      {{3, 4}, {1, 2}, "%0: f64[i:2,j:3,k:4,l:5] = multiply(%a[j,k], %b[i,j,k,l])"},
      {{2, 5}, {0, 3}, "%0: f64[i:2,j:3,k:4,l:5] = multiply(%a[i,l], %b[i,j,k,l])"},
  };
  for (const auto& c : cases) {
    Two t(c.lower, {2, 3, 4, 5});
    CHECK(line_of(t.g, xla::apply(Op::multiply, t.a, t.b, c.dimensions).id()) == c.line);
  }
}

TEST_CASE("scalars need no dimensions, in both operand orders") {
  Two t({}, {2, 3}), none({}, {});
  CHECK(line_of(t.g, xla::apply(Op::add, t.a, t.b).id()) == "%0: f64[i:2,j:3] = add(%a, %b[i,j])");
  CHECK(line_of(t.g, xla::apply(Op::add, t.b, t.a).id()) == "%1: f64[i:2,j:3] = add(%b[i,j], %a)");
  CHECK(xla::apply(Op::add, none.a, none.b).shape() == Shape{});
}

TEST_CASE("extents of 1 repeat after the ranks are equal") {
  const struct { Shape a, b; std::vector<Index> dimensions; Shape result, between; } cases[] = {
      {{2, 1}, {2, 3}, {}, {2, 3}, {2, 3}},
      {{1, 2, 5}, {7, 2, 5}, {}, {7, 2, 5}, {7, 2, 5}},
      {{7, 2, 5}, {7, 1, 5}, {0, 1, 2}, {7, 2, 5}, {7, 1, 5}},
      {{2, 1}, {1, 3}, {}, {2, 3}, {1, 3}},
      {{1, 3}, {0, 3}, {}, {0, 3}, {0, 3}},
      {{4}, {1, 2}, {0}, {4, 2}, {4, 2}},
      {{1, 2}, {4}, {0}, {4, 2}, {4, 2}},
      {{1, 2}, {4, 3, 1}, {1, 2}, {4, 3, 2}, {4, 1, 2}},
      {{"n", 1}, {2, 1, "m"}, {1, 2}, {2, "n", "m"}, {2, "n", 1}},
      {{}, {4, 2}, {}, {4, 2}, {}},
  };
  for (const auto& c : cases) {
    Two t(c.a, c.b);
    CHECK(xla::apply(Op::add, t.a, t.b, c.dimensions).shape() == c.result);
    CHECK(xla::binary_shape(c.a, c.b, c.dimensions) == c.result);
    CHECK(xla::in_dim_shape(c.a, c.b, c.dimensions) == c.between);
  }
  Two t({4}, {1, 2});
  CHECK(values_of(xla::apply(Op::add, t.a, t.b, {0}), {t.a, t.b}, {vec({1, 2, 3, 4}), doubles({5, 6}, {1, 2})}) == Values{6, 7, 7, 8, 8, 9, 9, 10});
}

TEST_CASE("every binary row takes dimensions and keeps its dtype rule") {
  for (const OpInfo& row : op_table()) {
    if (row.arity != 2) continue;
    for (const DType dtype : {bool_, i32, f64}) {
      const DType dtypes[] = {dtype, dtype};
      const auto result = result_dtype(row.op, dtypes, dtype);
      if (!result) continue;
      CAPTURE(row.name);
      Two t({2, 3}, {2}, dtype, dtype);
      const Expr y = xla::apply(row.op, t.a, t.b, {0});
      CHECK(y.shape() == Shape{2, 3});
      CHECK(y.dtype() == *result);
    }
  }
}

TEST_CASE("what apply refuses, and says") {
  CHECK(Two({2, 3}, {3}).error({}) ==
        "shape: xla::apply(add): %a has rank 2 and %b has rank 1, and XLA aligns no axes by itself\n"
        "  give broadcast_dimensions: for each axis of %b the axis of %a that it follows");
  CHECK(Two({1}, {2, 3}).error({}) ==
        "shape: xla::apply(add): %a has rank 1 and %b has rank 2, and XLA aligns no axes by itself\n"
        "  give broadcast_dimensions: for each axis of %a the axis of %b that it follows");
  CHECK(Two({2, 3}, {3}).error({0}) ==
        "shape: xla::apply(add): axis 0 of %b has extent 3 but axis 0 of %a has 2\n  extents must be equal, or one of them 1");
  CHECK(Two({7, 2, 5}, {7, 2, 6}).error({}) ==
        "shape: xla::apply(add): axis 2 of %b has extent 6 but axis 2 of %a has 5\n  extents must be equal, or one of them 1");
  CHECK(Two({"n"}, {"m", 3}).error({0}) ==
        "shape: xla::apply(add): axis 0 of %a has extent n but axis 0 of %b has m\n  if n is meant to equal m, declare both inputs with the same symbol");
  CHECK(Two({2, 4, 4, 5}, {4, 4}).error({2, 1}) ==
        "shape: xla::apply(add): broadcast_dimensions (2, 1) is not strictly increasing\n"
        "  axes keep their order and go to one axis each: permute_dims changes the order");
  CHECK(Two({3, 3}, {3, 3}).error({1, 0}) ==
        "shape: xla::apply(add): broadcast_dimensions (1, 0) is not strictly increasing\n"
        "  axes keep their order and go to one axis each: permute_dims changes the order");
  CHECK(Two({2, 4, 4, 5}, {4, 4}).error({0, 1, 2}) ==
        "shape: xla::apply(add): broadcast_dimensions (0, 1, 2) has 3 entries but %b has rank 2\n  give one axis of the target for each axis of %b");
  CHECK(Two({2, 3}, {}).error({0}) ==
        "shape: xla::apply(add): broadcast_dimensions (0) has 1 entry but %b has rank 0\n  give one axis of the target for each axis of %b");
  CHECK(Two({2, 3}, {3}).error({2}) == "shape: xla::apply(add): broadcast_dimensions (2) names axis 2 of a target of rank 2");
  CHECK(Two({2, 3}, {3}).error({-1}) == "shape: xla::apply(add): broadcast_dimensions (-1) names axis -1 of a target of rank 2");
  CHECK(Two({2}, {2}, f32, i32).error({}) == "dtype: xla::apply(add): %a is f32 but %b is i32\n  XLA promotes nothing: cast one of them");
  CHECK(Two({2}, {2}, bool_, bool_).error({}) == "dtype: xla::apply(add): no such operation on bool\n  cast both operands");
  CHECK(Two({2}, {2}).error({}, Op::tanh) == "usage: xla::apply(tanh): expected an op of two operands, tanh has 1");
  CHECK(error_text([] { xla::apply(Op::add, Expr(), Expr()); }) == "usage: xla::apply(add): operand 0 is an empty Expr");
  Graph g("one"), h("two");
  const Expr a = g.input("a", f64, {2}), b = h.input("b", f64, {2});
  CHECK(error_text([&] { xla::apply(Op::add, a, b); }) ==
        "usage: xla::apply(add): %a is in graph \"one\" but %b is in graph \"two\"\n  build both in one graph");
  CHECK(error_text([] { xla::binary_shape({2, 3}, {3}); }) ==
        "shape: xla::binary_shape: [2, 3] has rank 2 and [3] has rank 1, and XLA aligns no axes by itself\n"
        "  give broadcast_dimensions: for each axis of [3] the axis of [2, 3] that it follows");
}

TEST_CASE("broadcast_in_dim and broadcast") {
  Graph g;
  const Expr v = g.input("v", f64, {2}), m = g.input("m", f64, {2, 1, 4}), s = g.input("s", f64, {});
  CHECK(line_of(g, xla::broadcast_in_dim(v, {3, 2}, {1}).id()) == "%0: f64[i:3,j:2] = copy(%v[j])");
  CHECK(line_of(g, xla::broadcast_in_dim(m, {2, 3, 4}, {0, 1, 2}).id()) == "%1: f64[i:2,j:3,k:4] = copy(%m[i,0,k])");
  CHECK(line_of(g, xla::broadcast_in_dim(s, {"n", 0}, {}).id()) == "%2: f64[i:n,j:0] = copy(%s)");
  CHECK(line_of(g, xla::broadcast(v, {0, "n"}).id()) == "%3: f64[i:0,j:n,k:2] = copy(%v[k])");
  CHECK(xla::broadcast(s, {}).shape() == Shape{});
  const std::size_t before = g.size();
  CHECK(error_text([&] { xla::broadcast_in_dim(v, {2, 3}, {1}); }) ==
        "shape: xla::broadcast_in_dim: axis 0 of %v has extent 2 but axis 1 of the target [2, 3] has 3\n  only an axis of extent 1 is repeated");
  CHECK(error_text([&] { xla::broadcast_in_dim(v, {2, 3}, {0, 1}); }) ==
        "shape: xla::broadcast_in_dim: broadcast_dimensions (0, 1) has 2 entries but %v has rank 1\n  give one axis of the target for each axis of %v");
  CHECK(error_text([&] { xla::broadcast_in_dim(m, {-3, 3, 4}, {0, 1, 2}); }) == "shape: xla::broadcast_in_dim: extent -3 in [-3, 3, 4] is negative");
  CHECK(error_text([&] { xla::broadcast(v, {-1}); }) == "shape: xla::broadcast: extent -1 in [-1] is negative");
  CHECK(error_text([] { xla::broadcast(Expr(), {1}); }) == "usage: xla::broadcast: the operand is an empty Expr");
  CHECK(error_text([] { xla::broadcast_in_dim(Expr(), {1}, {}); }) == "usage: xla::broadcast_in_dim: the operand is an empty Expr");
  CHECK(g.size() == before);
}

TEST_CASE("select and clamp: scalars or the one shape") {
  Graph g;
  const Expr p = g.input("p", bool_, {}), q = g.input("q", bool_, {2, 3}), r = g.input("r", bool_, {2}), a = g.input("a", f64, {2, 3}),
             b = g.input("b", f64, {2, 3}), s = g.input("s", f64, {}), v = g.input("v", f64, {2}), k = g.input("k", i32, {2, 3});
  CHECK(line_of(g, xla::select(p, a, b).id()) == "%0: f64[i:2,j:3] = where(%p, %a[i,j], %b[i,j])");
  CHECK(line_of(g, xla::select(q, a, b).id()) == "%1: f64[i:2,j:3] = where(%q[i,j], %a[i,j], %b[i,j])");
  CHECK(line_of(g, xla::clamp(s, a, b).id()) == "%2: f64[i:2,j:3] = clip(%a[i,j], %s, %b[i,j])");
  CHECK(line_of(g, xla::clamp(s, s, s).id()) == "%3: f64[] = clip(%s, %s, %s)");
  const std::size_t before = g.size();
  CHECK(error_text([&] { xla::select(k, a, b); }) == "dtype: xla::select: the predicate %k is i32, expected bool\n  compare it, as in %k != 0");
  CHECK(error_text([&] { xla::select(r, a, b); }) ==
        "shape: xla::select: %r has shape [2] but %a has [2, 3]\n  it must be a scalar or have the same shape: broadcast_in_dim repeats it");
  CHECK(error_text([&] { xla::select(p, a, s); }) ==
        "shape: xla::select: %a has shape [2, 3] but %s has []\n  XLA repeats neither: broadcast_in_dim does");
  CHECK(error_text([&] { xla::select(p, a, k); }) == "dtype: xla::select: %a is f64 but %k is i32\n  XLA promotes nothing: cast one of them");
  CHECK(error_text([&] { xla::clamp(v, a, b); }) ==
        "shape: xla::clamp: %v has shape [2] but %a has [2, 3]\n  it must be a scalar or have the same shape: broadcast_in_dim repeats it");
  CHECK(error_text([&] { xla::clamp(a, s, b); }) ==
        "shape: xla::clamp: %a has shape [2, 3] but %s has []\n  it must be a scalar or have the same shape: broadcast_in_dim repeats it");
  CHECK(error_text([&] { xla::clamp(p, p, p); }) == "dtype: xla::clamp: %p is bool, expected numbers");
  CHECK(g.size() == before);
}

TEST_CASE("shapes known in part: an unknown size gives way, and matches only 1 across ranks") {
  const auto infer = [](std::vector<std::string> a, std::vector<std::string> b, const std::vector<Index>& dimensions = {}) {
    PartialShape left, right;
    for (const auto& size : a) left.push_back(size_range(size));
    for (const auto& size : b) right.push_back(size_range(size));
    return to_text(xla::infer_binary_shape(left, right, dimensions));
  };
  CHECK(infer({"1"}, {"?"}) == "[?]");
  CHECK(infer({"2"}, {"?"}) == "[2]");
  CHECK(infer({"<=2"}, {"?"}) == "[<=2]");
  CHECK(infer({"?"}, {"?"}) == "[?]");
  CHECK(infer({"<=2"}, {"2"}) == "[2]");
  CHECK(infer({"1"}, {"?", "3"}, {0}) == "[?, 3]");
  CHECK(error_text([&] { infer({"2"}, {"?", "3"}, {0}); }) ==
        "shape: xla::infer_binary_shape: axis 0 of [2] has size 2 but axis 0 of [?, 3] has ?\n  sizes must be equal, or one of them 1");
  CHECK(error_text([&] { infer({"?", "2"}, {"?", "3"}); }) ==
        "shape: xla::infer_binary_shape: axis 1 of [?, 3] has size 3 but axis 1 of [?, 2] has 2\n  sizes must be equal, or one of them 1");
}

TEST_CASE("gradients of InDim with extents of 1 agree with differences") {
  Problem p({case_x({3}), case_y({2, 1, 4}, 0.25), case_y({2, 3, 4}, 0.125)});
  const Expr product = xla::apply(Op::multiply, tanh(p.x[0]), p.x[1], {1});
  p.check_twice(sum(xla::clamp(p.g.constant(-40.0), product * p.x[2], p.g.constant(40.0)) * xla::broadcast_in_dim(p.x[0], {2, 3, 4}, {1})));
}
