// Nested tensors: types, arithmetic, comparisons, assignment. Literals marked "source" are printed in the TML text.
#include <weft/tml.h>

#include <doctest/doctest.h>

#include "error_text.h"
#include "nested.h"
#include "problem.h"

using namespace weft;
using tml::Tensor;

namespace {
Numbers count_to(int n) {
  Numbers values;
  for (int k = 1; k <= n; ++k) values.push_back(k);
  return values;
}
std::string type_text(const Tensor& t) { return to_text(t.type()); }
}  // namespace

TEST_CASE("types print and parse, and an array of the concatenated levels holds the scalars") {
  Graph g;
  const Tensor a = g.input("a", i64, nested({2, 2}, {3}));
  CHECK(type_text(a) == "tensor<tensor<int, 3>, 2, 2>");
  CHECK(a.expr().shape() == Shape{2, 2, 3});
  CHECK(tml::type("tensor<tensor<int, 3>, 2, 2>") == a.type());
  for (const char* text : {"bool", "char", "uint", "int", "real", "tensor<real, 2, 3>", "tensor<tensor<tensor<char, n>, 1>, 2*n+1, 2>"})
    CHECK(to_text(tml::type(text)) == text);
  CHECK(tml::type(" tensor < tensor<bool,4> , 5 > ") != tml::Type(bool_, nested({4}, {5})));
  CHECK(tml::type(" tensor < tensor<bool,4> , 5 > ") == tml::Type(bool_, nested({5}, {4})));
  CHECK(tml::Type(f64) == tml::type("real"));
  CHECK(tml::Type(f64, nested({1}, {2}, {3}, {4}, {5}, {6})).shape() == Shape{1, 2, 3, 4, 5, 6});
  CHECK(tml::type("tensor<int, 3, 3, 3>") != tml::type("tensor<tensor<int, 3, 3>, 3>"));
  CHECK(concat(tml::type("uint")) == "uint");
}

TEST_CASE("an Expr is a tensor of one level, or a scalar; other readings are given") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3}), s = g.input("s", u64, {});
  const Tensor t = x;
  CHECK(type_text(t) == "tensor<real, 2, 3>");
  CHECK(type_text(Tensor(s)) == "uint");
  CHECK(type_text(Tensor(x, nested({2}, {3}))) == "tensor<tensor<real, 3>, 2>");
  const Expr back = t;
  CHECK(back.id() == x.id());
  CHECK((t + s).name("total").name() == "%total");
  const std::size_t before = g.size();
  CHECK(error_text([&] { Tensor(x, nested({3}, {2})); }) ==
        "shape: tml: %x of shape [2, 3] is no tensor<tensor<real, 2>, 3>, which takes [3, 2]\n  the levels, one after the other, must be the shape");
  CHECK(error_text([&] { Tensor(g.input("h", f32, {2})); }) ==
        "dtype: tml: %h: f32 is not the dtype of a root\n  roots are bool, char (u8), uint (u64), int (i64) and real (f64): cast to one of them");
  CHECK(error_text([&] { tml::narrow(Expr()); }) == "usage: tml: the operand is an empty Expr");
  CHECK(error_text([&] { Tensor(Expr(), nested()); }) == "usage: tml: the operand is an empty Expr");
  CHECK(error_text([&] { g.input("y", i32, nested({2})); }) ==
        "dtype: type: i32 is not the dtype of a root\n  roots are bool, char (u8), uint (u64), int (i64) and real (f64): cast to one of them");
  CHECK(g.size() == before + 1);
}

TEST_CASE("lengths are 1 or more, and levels have dimensions") {
  CHECK(error_text([] { tml::type("tensor<int, 3, 0>"); }) == "shape: type: level 0 of [3, 0] has length 0\n  lengths are 1 or more");
  CHECK(error_text([] { tml::Type(i64, nested({2}, {})); }) == "shape: type: level 1 has no dimensions\n  leave it out: a scalar has no levels");
  Graph g;
  CHECK(error_text([&] { Tensor(g.input("e", f64, {0})); }) == "shape: tml: %e: level 0 of [0] has length 0\n  lengths are 1 or more");
}

TEST_CASE("text that is no type is shown with a caret") {
  CHECK(error_text([] { tml::type("tensor<float, 3>"); }) ==
        "text: line 1: expected bool, char, uint, int, real or tensor<..>, got \"float\"\n  tensor<float, 3>\n         ^~~~~");
  CHECK(error_text([] { tml::type("tensor<int>"); }) == "text: line 1: expected \",\", got \">\"\n  tensor<int>\n            ^");
  CHECK(error_text([] { tml::type("tensor<int, 3"); }) == "text: line 1: expected \">\", got the end of the text\n  tensor<int, 3\n               ^");
  CHECK(error_text([] { tml::type("int 3"); }) == "text: line 1: expected the end of the type, got \"3\"\n  int 3\n      ^");
  CHECK(error_text([] { tml::type("tensor<int, >"); }) == "text: line 1: expected an extent, got \">\"\n  tensor<int, >\n              ^");
  CHECK(error_text([] { tml::type(""); }) == "text: line 1: expected a type such as tensor<int, 3>, got the end of the text\n  \n  ^");
  CHECK(error_text([] { tml::type("tensor 3"); }) == "text: line 1: expected \"<\", got \"3\"\n  tensor 3\n         ^");
}

TEST_CASE("source: comparisons of scalars with tensors and of equal types") {
  Program p;
  const Tensor one = p.given("one", "int", {1}), b = p.given("b", "tensor<int, 3>", {1, 2, 3});
  const Tensor c = p.given("c", "tensor<tensor<int, 3>, 3>", {1, 2, 3, 1, 2, 3, 1, 2, 3});
  CHECK(p(one > b) == Numbers{0, 0, 0});
  CHECK(type_text(one > b) == "tensor<bool, 3>");
  CHECK(p(one > c) == Numbers(9, 0));
  CHECK(type_text(one > c) == "tensor<tensor<bool, 3>, 3>");
  const Tensor y = p.given("y", "tensor<int, 3>", {4, 5, -1}), d = p.given("d", "tensor<tensor<int, 3>, 3>", {4, 5, -1, 4, 5, -1, 4, 5, -1});
  CHECK(p(b > y) == Numbers{0, 0, 1});
  CHECK(p(c > d) == Numbers{0, 0, 1, 0, 0, 1, 0, 0, 1});
  CHECK(type_text(c > d) == "tensor<tensor<bool, 3>, 3>");
}

TEST_CASE("every comparison, with numbers on either side and roots mixed") {
  Program p;
  const Tensor x = p.given("x", "tensor<int, 3>", {1, 2, 3}), r = p.given("r", "tensor<real, 3>", {0.5, 2, 3.5}), u = p.given("u", "uint", {2});
  CHECK(p(x < r) == Numbers{0, 0, 1});
  CHECK(p(x <= 2) == Numbers{1, 1, 0});
  CHECK(p(2 >= x) == Numbers{1, 1, 0});
  CHECK(p(x == u) == Numbers{0, 1, 0});
  CHECK(p(tml::not_equal(2.5, x)) == Numbers{1, 1, 1});
  CHECK(p(r > u) == Numbers{0, 0, 1});
  CHECK(p(u > -1) == Numbers{1});
}

TEST_CASE("comparisons repeat nothing but scalars") {
  Graph g;
  const Tensor a = g.input("a", i64, nested({3})), row = g.input("row", i64, nested({1, 3})), col = g.input("col", i64, nested({3, 1}));
  const Tensor cube = g.input("cube", i64, nested({3, 3, 3})), rows = g.input("rows", i64, nested({3}, {3, 3})), one = g.input("one", i64, nested({3}, {1, 3}));
  const std::string remedy = " differ in nesting or dimensions\n  only a scalar is repeated here: assign or narrow one of them to the type of the other";
  const std::size_t before = g.size();
  CHECK(error_text([&] { tml::equal(row, col); }) == "shape: equal: %row (tensor<int, 1, 3>) and %col (tensor<int, 3, 1>)" + remedy);
  CHECK(error_text([&] { tml::greater_equal(a, row); }) == "shape: greater_equal: %a (tensor<int, 3>) and %row (tensor<int, 1, 3>)" + remedy);
  CHECK(error_text([&] { tml::not_equal(cube, rows); }) == "shape: not_equal: %cube (tensor<int, 3, 3, 3>) and %rows (tensor<tensor<int, 3, 3>, 3>)" + remedy);
  CHECK(error_text([&] { tml::less(rows, one); }) == "shape: less: %rows (tensor<tensor<int, 3, 3>, 3>) and %one (tensor<tensor<int, 1, 3>, 3>)" + remedy);
  const Tensor p = g.input("p", bool_, nested({2})), q = g.input("q", bool_, nested({1})), u = g.input("u", u64, nested({2})), v = g.input("v", u64, nested({1}));
  CHECK(error_text([&] { p && q; }) == "shape: logical_and: %p (tensor<bool, 2>) and %q (tensor<bool, 1>)" + remedy);
  CHECK(error_text([&] { u ^ v; }) == "shape: bitwise_xor: %u (tensor<uint, 2>) and %v (tensor<uint, 1>)" + remedy);
  CHECK(g.size() == before + 4);
}

TEST_CASE("each family takes its own roots") {
  Graph g;
  const Tensor b = g.input("b", bool_, nested({2})), i = g.input("i", i64, nested({2})), r = g.input("r", f64, {}), u = g.input("u", u64, nested({2}));
  const Tensor c = g.input("c", u8, nested({2}));
  const std::size_t before = g.size();
  CHECK(error_text([&] { tml::greater(b, b); }) == "dtype: greater: expected uint, int or real, got %b (tensor<bool, 2>)\n  logical_xor tells where bools differ");
  CHECK(error_text([&] { b + i; }) == "dtype: add: expected uint, int or real, got %b (tensor<bool, 2>)\n  cast it, as in cast(%b, i64)");
  CHECK(error_text([&] { i * true; }) == "dtype: multiply: expected uint, int or real, got true (bool)\n  cast it, as in cast(true, i64)");
  CHECK(error_text([&] { tml::equal(c, c); }) ==
        "dtype: equal: expected uint, int or real, got %c (tensor<char, 2>)\n  chars are compared while the graph is built: weft::tml::Str");
  CHECK(error_text([&] { i && b; }) == "dtype: logical_and: expected bool, got %i (tensor<int, 2>)\n  compare it, as in %i != 0");
  CHECK(error_text([&] { i & u; }) == "dtype: bitwise_and: expected uint, got %i (tensor<int, 2>)\n  cast it, as in cast(%i, u64)");
  CHECK(error_text([&] { r | u; }) == "dtype: bitwise_or: expected uint, got %r (real)\n  cast it, as in cast(%r, u64)");
  CHECK(error_text([&] { b << u; }) == "dtype: bitwise_left_shift: expected uint, got %b (tensor<bool, 2>)\n  cast it, as in cast(%b, u64)");
  CHECK(error_text([&] { tml::exp(b); }) == "dtype: exp: expected uint, int or real, got %b (tensor<bool, 2>)\n  cast it, as in cast(%b, i64)");
  CHECK(error_text([&] { !i; }) == "dtype: logical_not: expected bool, got %i (tensor<int, 2>)\n  compare it, as in %i != 0");
  CHECK(error_text([&] { tml::cast(i, f32); }) ==
        "dtype: type: f32 is not the dtype of a root\n  roots are bool, char (u8), uint (u64), int (i64) and real (f64): cast to one of them");
  CHECK(g.size() == before);
}

TEST_CASE("logical operations") {
  Program p;
  const Tensor t = p.given("t", "bool", {1}), v = p.given("v", "tensor<bool, 3>", {1, 0, 1});
  const Tensor a = p.given("a", "tensor<tensor<bool, 2>, 2>", {1, 0, 1, 0}), b = p.given("b", "tensor<tensor<bool, 2>, 2>", {1, 1, 0, 0});
  CHECK(p(t && v) == Numbers{1, 0, 1});
  CHECK(p(v || false) == Numbers{1, 0, 1});
  CHECK(p(tml::logical_xor(a, b)) == Numbers{0, 1, 1, 0});
  CHECK(type_text(tml::logical_xor(a, b)) == "tensor<tensor<bool, 2>, 2>");
  CHECK(p(!v) == Numbers{0, 1, 0});
}

TEST_CASE("bitwise operations give uint") {
  Program p;
  const Tensor s = p.given("s", "uint", {3}), v = p.given("v", "tensor<uint, 2>", {5, 10});
  CHECK(p(s & v) == Numbers{1, 2});
  CHECK(p(3 ^ v) == Numbers{6, 9});
  CHECK(p(v | 1) == Numbers{5, 11});
  CHECK(p(v << s) == Numbers{40, 80});
  CHECK(p(~v >> 62) == Numbers{3, 3});
  CHECK(type_text(s & v) == "tensor<uint, 2>");
}

TEST_CASE("source: a row plus a column") {
  Program p;
  const Tensor a = p.given("a", "tensor<int, 3>", {1, 2, 3}), b = p.given("b", "tensor<int, 3, 1>", {1, 2, 3});
  for (const Tensor& c : {a + b, b + a}) {
    CHECK(p(c) == Numbers{2, 3, 4, 3, 4, 5, 4, 5, 6});
    CHECK(type_text(c) == "tensor<int, 3, 3>");
  }
}

TEST_CASE("source: 2x2 plus 2x3 is an error, and nothing is added") {
  Graph g;
  const Tensor a = g.input("a", i64, nested({2, 2})), b = g.input("b", i64, nested({2, 3}));
  CHECK(error_text([&] { a + b; }) ==
        "shape: add: dimension 1 of %a (tensor<int, 2, 2>) has length 2 but dimension 1 of %b (tensor<int, 2, 3>) has 3\n"
        "  lengths must be equal, or one of them 1");
  CHECK(g.size() == 2);
}

TEST_CASE("source: generic code works for scalars and lower ranks, but tensor<real, 2> does not fit tensor<real, 2, 3>") {
  Program p;
  const Tensor a = p.given("a", "tensor<real, 2, 3>", {0, 1, 2, 3, 4, 5}), s = p.given("s", "real", {10}), b = p.given("b", "tensor<real, 2>", {10, 20});
  const Tensor t = p.given("t", "tensor<real, 3, 2>", {0, 1, 2, 3, 4, 5});
  CHECK(p(a + s) == Numbers{10, 11, 12, 13, 14, 15});
  CHECK(p(t + b) == Numbers{10, 21, 12, 23, 14, 25});
  CHECK(error_text([&] { a + b; }) ==
        "shape: add: dimension 1 of %a (tensor<real, 2, 3>) has length 3 but dimension 0 of %b (tensor<real, 2>) has 2\n"
        "  lengths must be equal, or one of them 1");
}

TEST_CASE("arithmetic on nested tensors: every level by itself") {
  Program p;
  const Tensor a = p.given("a", "tensor<tensor<int, 3>, 2>", count_to(6)), b = p.given("b", "tensor<tensor<int, 1>, 2>", {10, 20});
  CHECK(p(a + b) == Numbers{11, 12, 13, 24, 25, 26});
  const Tensor c = p.given("c", "tensor<tensor<int, 1, 2>, 2, 1>", {1, 2, 3, 4}), d = p.given("d", "tensor<tensor<int, 2, 1>, 1, 2>", {1, 10, 100, 1000});
  CHECK(type_text(c * d) == "tensor<tensor<int, 2, 2>, 2, 2>");
  CHECK(p(c * d) == Numbers{1, 2, 10, 20, 100, 200, 1000, 2000, 3, 4, 30, 40, 300, 400, 3000, 4000});
  CHECK(type_text(p.given("e", "tensor<tensor<int, 2>, 2, 2>", count_to(8)) + p.given("f", "tensor<tensor<int, 2, 2>, 2>", count_to(8))) ==
        "tensor<tensor<int, 2, 2>, 2, 2>");
  const Tensor wrong = p.given("wrong", "tensor<tensor<int, 2>, 2>", {1, 2, 3, 4});
  CHECK(error_text([&] { a - wrong; }) ==
        "shape: subtract: dimension 0 of level 1 of %a (tensor<tensor<int, 3>, 2>) has length 3 but dimension 0 of level 1 of %wrong "
        "(tensor<tensor<int, 2>, 2>) has 2\n  lengths must be equal, or one of them 1");
}

TEST_CASE("a scalar is paired with an element of any nesting, unless that is forbidden") {
  Program p;
  const Tensor v = p.given("v", "tensor<int, 3>", {100, 200, 300}), m = p.given("m", "tensor<tensor<int, 2>, 3>", count_to(6));
  CHECK(p(v + m) == Numbers{101, 102, 203, 204, 305, 306});
  CHECK(p(m + v) == p(v + m));
  CHECK(p(m * 2) == Numbers{2, 4, 6, 8, 10, 12});
  const Tensor cube = p.given("cube", "tensor<int, 2, 2, 2>", count_to(8)), rows = p.given("rows", "tensor<tensor<int, 2, 2>, 2>", count_to(8));
  CHECK(type_text(cube + rows) == "tensor<tensor<int, 2, 2>, 2, 2, 2>");
  CHECK(p(tml::elementwise(Op::add, m, 1, tml::Mixed::reject)) == Numbers{2, 3, 4, 5, 6, 7});
  CHECK(error_text([&] { tml::elementwise(Op::add, v, m, tml::Mixed::reject); }) ==
        "shape: add: %v (tensor<int, 3>) has 1 levels but %m (tensor<tensor<int, 2>, 3>) has 2\n  give both the same nesting");
}

TEST_CASE("the root of arithmetic is the larger of uint, int and real") {
  Program p;
  const Tensor u = p.given("u", "tensor<uint, 2>", {1, 2}), i = p.given("i", "tensor<int, 2>", {3, 1}), r = p.given("r", "tensor<real, 2>", {0.5, 1.5});
  CHECK(type_text(u - i) == "tensor<int, 2>");
  CHECK(p(u - i) == Numbers{-2, 1});
  CHECK(type_text(i + r) == "tensor<real, 2>");
  CHECK(p(u * r) == Numbers{0.5, 3});
  CHECK(type_text(i / u) == "tensor<real, 2>");
  CHECK(p(i / u) == Numbers{3, 0.5});
  CHECK(type_text(u + 1) == "tensor<uint, 2>");
  CHECK(type_text(u + -1) == "tensor<int, 2>");
  CHECK(type_text(u + 0.5) == "tensor<real, 2>");
  CHECK(type_text(i + 7u) == "tensor<int, 2>");
  CHECK(p(tml::floor_divide(i, 2)) == Numbers{1, 0});
  CHECK(p(i % 2) == Numbers{1, 1});
  CHECK(p(tml::power(u, i)) == Numbers{1, 2});
  CHECK(p(tml::maximum(u, i)) == Numbers{3, 2});
  CHECK(error_text([&] { i + UINT64_MAX; }) ==
        "dtype: add: the number 18446744073709551615 does not fit int\n  the other operand must be uint or real: cast it");
}

TEST_CASE("operations on one operand keep its nesting") {
  Program p;
  const Tensor m = p.given("m", "tensor<tensor<int, 2>, 2>", {1, -4, 0, 2});
  CHECK(p(-m) == Numbers{-1, 4, 0, -2});
  CHECK(type_text(tml::abs(m)) == "tensor<tensor<int, 2>, 2>");
  CHECK(type_text(exp(m)) == "tensor<tensor<real, 2>, 2>");
  CHECK(type_text(cast(m, u64)) == "tensor<tensor<uint, 2>, 2>");
  CHECK(type_text(isnan(m)) == "tensor<tensor<bool, 2>, 2>");
  CHECK((+m).expr().id() == m.expr().id());
  CHECK(cast(m, i64).expr().id() == m.expr().id());
}

TEST_CASE("where dimensions are the same nothing is repeated: one node, identity maps") {
  Graph g;
  const Tensor a = g.input("a", i64, nested({2, 2}, {3})), b = g.input("b", i64, nested({2, 2}, {3})), r = g.input("r", f64, nested({2, 2}, {3}));
  const std::size_t before = g.size();
  const Tensor c = a + b, d = a < b;
  CHECK(g.size() == before + 2);
  for (const Tensor& t : {c, d})
    for (int k : {0, 1}) CHECK(g.map(t.expr().id(), k) == identity_map(3));
  CHECK(tml::assign(a, b).expr().id() == b.expr().id());
  CHECK(g.size() == before + 2);
  CHECK(tml::assign(r, b).type() == r.type());
  CHECK(g.size() == before + 3);                                 // the cast
  const Tensor row = g.input("row", i64, nested({2}, {1}));
  const std::size_t then = g.size();
  const Tensor e = a * row;
  CHECK(g.size() == then + 1);                                   // repeating is a map
  CHECK(g.map(e.expr().id(), 1) == AxisMap{AxisRef{1, 0, 1}, AxisRef{-1, 0, 1}});
}

TEST_CASE("join is the smallest type that both can be assigned to") {
  const struct { const char *a, *b, *result; } cases[] = {
      {"int", "real", "real"},
      {"int", "tensor<real, 1>", "tensor<real, 1>"},
      {"tensor<int, 1, 3>", "tensor<int, 3, 1>", "tensor<int, 3, 3>"},
      {"tensor<int, 3, 1>", "tensor<tensor<real, 3>, 2>", "tensor<tensor<real, 3>, 3, 2>"},
      {"tensor<tensor<uint, 3>, 1>", "tensor<tensor<int, 1>, 2>", "tensor<tensor<int, 3>, 2>"},
      {"tensor<int, n>", "tensor<int, 4, 1>", "tensor<int, 4, n>"},
  };
  for (const auto& c : cases) {
    const tml::Type a = tml::type(c.a), b = tml::type(c.b);
    CHECK(to_text(join(a, b)) == c.result);
    CHECK(join(b, a) == join(a, b));
    CHECK(assignable(join(a, b), a));
    CHECK(assignable(join(a, b), b));
  }
  CHECK(error_text([] { join(tml::type("tensor<tensor<int, 3>, 2>"), tml::type("tensor<real, 1, 3>")); }) ==
        "shape: join: dimension 0 of level 0 of tensor<tensor<int, 3>, 2> has length 2 but dimension 1 of level 0 of tensor<real, 1, 3> has 3\n"
        "  lengths must be equal, or one of them 1");
  CHECK(error_text([] { join(tml::type("bool"), tml::type("int")); }) ==
        "dtype: join: expected uint, int or real, got bool\n  cast it, as in cast(bool, i64)");
  CHECK(error_text([] { join(tml::type("tensor<int, n>"), tml::type("tensor<int, m>")); }) ==
        "shape: join: dimension 0 of tensor<int, n> has length n but dimension 0 of tensor<int, m> has m\n"
        "  if m is meant to equal n, declare both inputs with the same symbol");
}

TEST_CASE("roots may be assigned upwards only: uint, int, real; bool and char apart") {
  const std::string roots[] = {"uint", "int", "real", "bool", "char"};
  for (int l = 0; l < 5; ++l)
    for (int r = 0; r < 5; ++r) {
      CAPTURE(l);
      CAPTURE(r);
      CHECK(assignable(tml::type(roots[l]), tml::type(roots[r])) == (l == r || (l < 3 && r < l)));
    }
}

TEST_CASE("source: assignments") {
  Program p;
  const Tensor a = p.given("a", "tensor<int, 3>", {0, 0, 0}), b = p.given("b", "tensor<int, 3, 3>", Numbers(9, 0));
  CHECK(p(tml::assign(a, 1)) == Numbers{1, 1, 1});
  const Tensor ones = p.given("ones", "tensor<int, 3>", {1, 1, 1});
  CHECK(p(tml::assign(b, ones)) == Numbers(9, 1));
  CHECK(type_text(tml::assign(b, ones)) == "tensor<int, 3, 3>");
  CHECK(p(tml::declare(p.g, tml::type("tensor<int, 3>"), 0)) == Numbers{0, 0, 0});
  const Tensor two = p.given("two", "tensor<int, 2>", {1, 3});
  CHECK(error_text([&] { assign(a, two); }) ==
        "shape: assign: %two (tensor<int, 2>) cannot be assigned to %a (tensor<int, 3>): dimension 0 has length 2, expected 3 or 1\n"
        "  the left side never grows, and only a length of 1 is repeated");
  const Tensor c = tml::declare(p.g, tml::type("tensor<real, 1, 2>"), p.given("c", "tensor<int, 2>", {3, 4}));
  CHECK(p(c) == Numbers{3, 4});
  CHECK(type_text(c) == "tensor<real, 1, 2>");
}

TEST_CASE("assignment repeats the right side per level") {
  Program p;
  const Tensor m = p.given("m", "tensor<tensor<int, 3>, 2>", count_to(6)), flat = p.given("flat", "tensor<int, 3, 2>", count_to(6));
  CHECK(p(tml::assign(m, 7)) == Numbers(6, 7));
  CHECK(p(tml::assign(flat, p.given("col", "tensor<int, 3, 1>", {1, 2, 3}))) == Numbers{1, 1, 2, 2, 3, 3});
  CHECK(p(tml::assign(m, p.given("row", "tensor<tensor<int, 3>, 1>", {1, 2, 3}))) == Numbers{1, 2, 3, 1, 2, 3});
  CHECK(p(tml::assign(m, p.given("two", "tensor<int, 2>", {7, 8}))) == Numbers{7, 7, 7, 8, 8, 8});
  CHECK(p(tml::assign(p.given("r", "real", {0}), p.given("u", "uint", {5}))) == Numbers{5});
  CHECK(p(tml::assign(p.given("text", "tensor<char, 2>", {65, 66}), '+')) == Numbers{43, 43});
}

TEST_CASE("what cannot be assigned, and why") {
  Graph g;
  const Tensor i2 = g.input("i2", i64, nested({2})), r2 = g.input("r2", f64, nested({2})), i = g.input("i", i64, {}), one = g.input("one", i64, nested({1}));
  const Tensor row = g.input("row", i64, nested({1, 2})), n23 = g.input("n23", i64, nested({2}, {3})), n21 = g.input("n21", i64, nested({2}, {1}));
  const Tensor f23 = g.input("f23", i64, nested({2, 3})), u = g.input("u", u64, {}), n = g.input("n", i64, {"n"});
  auto refusal = [](const Tensor& lhs, const auto& rhs) {
    return error_text([&] { assign(lhs, rhs); });
  };
  const std::string no_cast = "\n  uint becomes int and int becomes real without a cast, nothing else", narrow_first = "\n  narrow or index it first",
                    never_grows = "\n  the left side never grows, and only a length of 1 is repeated";
  const std::size_t before = g.size();
  CHECK(refusal(i2, r2) == "dtype: assign: %r2 (tensor<real, 2>) cannot be assigned to %i2 (tensor<int, 2>): real does not become int" + no_cast);
  CHECK(refusal(i, 1.5) == "dtype: assign: 1.5 (real) cannot be assigned to %i (int): real does not become int" + no_cast);
  CHECK(refusal(u, -1) == "dtype: assign: -1 (int) cannot be assigned to %u (uint): int does not become uint" + no_cast);
  CHECK(refusal(i, UINT64_MAX) == "dtype: assign: the number 18446744073709551615 does not fit int\n  the other operand must be uint or real: cast it");
  CHECK(refusal(i, one) == "shape: assign: %one (tensor<int, 1>) cannot be assigned to %i (int): a tensor does not go into a scalar\n"
                           "  index it, or narrow it if all its lengths are 1");
  CHECK(refusal(i2, row) == "shape: assign: %row (tensor<int, 1, 2>) cannot be assigned to %i2 (tensor<int, 2>): it has 2 dimensions, more than 1" + narrow_first);
  CHECK(refusal(one, i2) == "shape: assign: %i2 (tensor<int, 2>) cannot be assigned to %one (tensor<int, 1>): dimension 0 has length 2, expected 1" + never_grows);
  CHECK(refusal(n21, n23) == "shape: assign: %n23 (tensor<tensor<int, 3>, 2>) cannot be assigned to %n21 (tensor<tensor<int, 1>, 2>): dimension 0 of level "
                             "1 has length 3, expected 1" + never_grows);
  CHECK(refusal(f23, n23) == "shape: assign: %n23 (tensor<tensor<int, 3>, 2>) cannot be assigned to %f23 (tensor<int, 2, 3>): it has 2 levels, more than 1\n"
                             "  index it down to its elements");
  CHECK(refusal(n23, f23) == "shape: assign: %f23 (tensor<int, 2, 3>) cannot be assigned to %n23 (tensor<tensor<int, 3>, 2>): it has 2 dimensions of level "
                             "0, more than 1" + narrow_first);
  CHECK(refusal(i2, n) == "shape: assign: %n (tensor<int, n>) cannot be assigned to %i2 (tensor<int, 2>): dimension 0 has length n, expected 2 or 1\n"
                          "  if n is meant to be 2, declare that input with 2");
  CHECK(error_text([&] { tml::assign(n23, i2, tml::Mixed::reject); }) ==
        "shape: assign: %i2 (tensor<int, 2>) cannot be assigned to %n23 (tensor<tensor<int, 3>, 2>): it has 1 levels, not 2\n  give both the same nesting");
  CHECK(error_text([&] { declare(g, i.type(), i2); }) ==
        "shape: declare: %i2 (tensor<int, 2>) cannot be assigned to int: a tensor does not go into a scalar\n  index it, or narrow it if all its lengths are 1");
  CHECK(g.size() == before);
}

TEST_CASE("operands of one graph, and at least one that is no number") {
  Graph g("g"), h("h");
  const Tensor a = g.input("a", i64, nested({2})), b = h.input("b", i64, nested({2}));
  CHECK(error_text([&] { a + b; }) == "usage: add: %a is in graph \"g\" but %b is in graph \"h\"\n  build both in one graph");
  CHECK(error_text([&] { assign(a, b); }) == "usage: assign: %a is in graph \"g\" but %b is in graph \"h\"\n  build both in one graph");
  CHECK(error_text([&] { tml::index_assign(a, {0}, b); }) == "usage: index_assign: %a is in graph \"g\" but %b is in graph \"h\"\n  build both in one graph");
  CHECK(error_text([&] { declare(g, b.type(), b); }) == "usage: declare: %b is in graph \"h\", not in \"g\"\n  build both in one graph");
  CHECK(error_text([&] { tml::elementwise(Op::add, 1, 2); }) == "usage: add: no operand is a Tensor or an Expr");
  CHECK(error_text([&] { a + Expr(); }) == "usage: tml: the operand is an empty Expr");
  CHECK(error_text([&] { tml::elementwise(Op::abs, a, a); }) == "usage: abs: expected 1 operands, got 2");
  CHECK(error_text([&] { tml::elementwise(Op::add, a); }) == "usage: add: expected 2 operands, got 1");
  CHECK(error_text([&] { tml::elementwise(Op::cast, a); }) == "usage: cast: needs a dtype\n  write cast(a, dtype)");
}

TEST_CASE("Exprs and Tensors mix; one Tensor is enough for these rules") {
  Program p;
  const Tensor t = p.given("t", "tensor<tensor<int, 2>, 2>", {1, 2, 3, 4});
  const Expr x = p.given("x", "tensor<int, 2>", {10, 20});
  for (const Tensor& sum : {t + x, x + t, tml::add(t, x), tml::add(Tensor(x), t)}) CHECK(p(sum) == Numbers{11, 12, 23, 24});
  CHECK(p(tml::add(x, x)) == Numbers{20, 40});
  CHECK(p(add(t, x)) == Numbers{11, 12, 23, 24});
  CHECK(values_of(sum(t), p.inputs, p.arrays) == Numbers{10});
}

TEST_CASE("random types: arithmetic and assignment agree with the recursive definition") {
  SeededSource random(11);
  int possible = 0, assigned_count = 0;
  for (int round = 0; round < 600; ++round) {
    double next = 1;
    const Tree ta = random_tree(random, next, random_levels(random)), tb = random_tree(random, next, random_levels(random));
    Program p;
    const auto type_of = [](const Tree& tree) { return to_text(tml::Type(i64, Nesting(nest_of(tree)))); };
    const Tensor a = p.given("a", type_of(ta), flat(ta)), b = p.given("b", type_of(tb), flat(tb));
    CAPTURE(type_text(a));
    CAPTURE(type_text(b));
    const auto sum = added(ta, tb);
    if (sum) {
      ++possible;
      const Tensor c = a + b;
      CHECK(c.nest() == nest_of(*sum));
      CHECK(p(c) == flat(*sum));
      CHECK(c.type() == join(b.type(), a.type()));
      CHECK(assignable(c.type(), a.type()));
      CHECK(assignable(c.type(), b.type()));
    } else {
      CHECK_THROWS_AS(a + b, Error);
      CHECK_THROWS_AS(join(b.type(), a.type()), Error);
    }
    const auto left = assigned(ta, tb);
    CHECK(assignable(a.type(), b.type()) == left.has_value());
    if (!left) {
      CHECK_THROWS_AS(assign(a, b), Error);
      continue;
    }
    ++assigned_count;
    CHECK(assign(a, b).type() == a.type());
    CHECK(p(assign(a, b)) == flat(*left));
  }
  CHECK(possible > 150);
  CHECK(assigned_count > 60);
}

TEST_CASE("the gradient through nested broadcasting, assignment, indexing and narrowing") {
  Problem p({case_x({2, 1, 1, 2}), case_y({2, 2, 1}, 0.25), case_x({3}), doubles({0.7}, {})});
  const Tensor a(p.x[0], nested({2, 1}, {1, 2})), b(p.x[1], nested({2}, {2, 1})), v = p.x[2], s = p.x[3];
  const Tensor c = a * b + s;                                    // tensor<tensor<real, 2, 2>, 2, 2>
  CHECK(type_text(c) == "tensor<tensor<real, 2, 2>, 2, 2>");
  const Tensor d = tml::index_assign(c, {1, 0}, tml::narrow(a)[1] * s);
  const Tensor e = tml::index_assign(v, {2}, d[0][1][1][0] / (s + 2));
  p.check_twice(sum(square(d)) + sum(e * e * v) + sum(tml::assign(v, s) * v));
}
