// Index access broadcasting, strings and narrowing. Literals marked "source" are printed in the TML text.
#include <weft/tml.h>

#include <doctest/doctest.h>

#include "error_text.h"
#include "nested.h"

using namespace weft;
using tml::Str;
using tml::Tensor;

namespace {
std::string type_text(const Tensor& t) { return to_text(t.type()); }
}  // namespace

TEST_CASE("source: any index in a dimension of length 1 and after the last one") {
  Program p;
  const Tensor a = p.given("a", "tensor<real, 1, 2>", {3, 4});
  CHECK(p(a[0][1]) == Numbers{4});
  CHECK(p(a[999][1]) == Numbers{4});
  CHECK(p(a[999][1][1000][2000]) == Numbers{4});
  CHECK(p(a[999][0][1000][2000]) == Numbers{3});
  CHECK(p(tml::index(a, {999, 1, 1000})) == Numbers{4});
  CHECK(type_text(tml::index(a, {999, 1, 1000})) == "real");
}

TEST_CASE("source: a scalar takes any indices") {
  Program p;
  const Tensor a = p.given("a", "int", {42});
  for (const Tensor& same : {a, a[0], a[500], a[4][5], tml::index(a, {})}) {
    CHECK(same.expr().id() == a.expr().id());
    CHECK(p(same) == Numbers{42});
  }
  const Tensor one = p.given("one", "int", {1});
  CHECK(p(one[1]) == Numbers{1});
  CHECK(p(one[1][2][3]) == Numbers{1});
}

TEST_CASE("source: writes to an indexed scalar set the scalar") {
  Program p;
  const Tensor a = p.given("a", "int", {1});
  CHECK(p(tml::index_assign(a, {1}, 2)) == Numbers{2});
  CHECK(p(tml::index_assign(a, {1, 2, 3}, 3)) == Numbers{3});
  CHECK(type_text(tml::index_assign(a, {1, 2, 3}, 3)) == "int");
}

TEST_CASE("fewer indices than dimensions give the sub-tensor that remains, the outer level first") {
  Program p;
  Numbers values;
  for (int k = 0; k < 24; ++k) values.push_back(k);
  const Tensor a = p.given("a", "tensor<tensor<int, 2, 2>, 2, 3>", values);
  CHECK(type_text(a[1]) == "tensor<tensor<int, 2, 2>, 3>");
  CHECK(p(a[1]) == Numbers(values.begin() + 12, values.end()));
  CHECK(type_text(a[1][0]) == "tensor<int, 2, 2>");
  CHECK(p(a[1][0]) == Numbers{12, 13, 14, 15});
  CHECK(p(tml::index(a, {0, 2, 1})) == Numbers{10, 11});
  CHECK(p(tml::index(a, {0, 2, 1, 0, 99})) == Numbers{10});
  const Tensor row = p.given("row", "tensor<tensor<real, 3>, 1>", {1, 2, 3});
  CHECK(p(row[7]) == Numbers{1, 2, 3});
  CHECK(type_text(row[7]) == "tensor<real, 3>");
}

TEST_CASE("indices are checked where the length is not 1, and never negative") {
  Graph g;
  const Tensor a = g.input("a", f64, nested({1, 2})), s = g.input("s", i64, {}), n = g.input("n", f64, nested({2}, {3})), m = g.input("m", f64, {"m", 2});
  const std::size_t before = g.size();
  const std::string remedy = "; only a dimension of length 1 takes any index";
  CHECK(error_text([&] { a[0][2]; }) ==
        "shape: index: index 2 is outside dimension 0 of %0 (tensor<real, 2>), which has length 2\n  indices run from 0 to 1" + remedy);
  CHECK(g.size() == before + 1);                                 // a[0]
  CHECK(error_text([&] { tml::index(a, {0, 2}); }) ==
        "shape: index: index 2 is outside dimension 1 of %a (tensor<real, 1, 2>), which has length 2\n  indices run from 0 to 1" + remedy);
  CHECK(error_text([&] { tml::index(a, {999, 5}); }) ==
        "shape: index: index 5 is outside dimension 1 of %a (tensor<real, 1, 2>), which has length 2\n  indices run from 0 to 1" + remedy);
  CHECK(error_text([&] { tml::index(n, {1, 3}); }) ==
        "shape: index: index 3 is outside dimension 1 of %n (tensor<tensor<real, 3>, 2>), which has length 3\n  indices run from 0 to 2" + remedy);
  CHECK(error_text([&] { a[-1]; }) == "shape: index: index -1 of %a (tensor<real, 1, 2>) is negative\n  indices count from 0, in dimensions of length 1 too");
  CHECK(error_text([&] { s[-1]; }) == "shape: index: index -1 of %s (int) is negative\n  indices count from 0, in dimensions of length 1 too");
  CHECK(error_text([&] { tml::index(s, {0, -3}); }) == "shape: index: index -3 of %s (int) is negative\n  indices count from 0, in dimensions of length 1 too");
  CHECK(error_text([&] { tml::index_assign(s, {-1}, 2); }) ==
        "shape: index_assign: index -1 of %s (int) is negative\n  indices count from 0, in dimensions of length 1 too");
  CHECK(error_text([&] { m[3]; }) ==
        "unsupported: index: index 3 in dimension 0 of %m (tensor<real, m, 2>) of length m\n"
        "  whether m is 1 decides if that is in bounds: declare it with a number");
  CHECK(m[0].type() == tml::type("tensor<real, 2>"));
  CHECK(g.size() == before + 2);
}

TEST_CASE("writes hit the stored element, with the rules of assignment for what the indices leave") {
  Program p;
  const Tensor a = p.given("a", "tensor<real, 1, 2>", {3, 4}), m = p.given("m", "tensor<int, 2, 3>", {1, 2, 3, 4, 5, 6});
  CHECK(p(tml::index_assign(a, {5, 0, 8, 9}, 7.0)) == Numbers{7, 4});
  CHECK(p(tml::index_assign(a, {5}, p.given("two", "tensor<int, 2>", {8, 9}))) == Numbers{8, 9});
  CHECK(p(tml::index_assign(a, {}, 1)) == Numbers{1, 1});
  CHECK(p(tml::index_assign(m, {1}, 0)) == Numbers{1, 2, 3, 0, 0, 0});
  CHECK(p(tml::index_assign(m, {0}, p.given("row", "tensor<int, 3>", {7, 8, 9}))) == Numbers{7, 8, 9, 4, 5, 6});
  CHECK(p(tml::index_assign(m, {1, 2}, 0)) == Numbers{1, 2, 3, 4, 5, 0});
  CHECK(type_text(tml::index_assign(m, {1, 2}, 0)) == "tensor<int, 2, 3>");
  const Tensor n = p.given("n", "tensor<tensor<real, 2>, 2, 1>", {1, 2, 3, 4});
  CHECK(p(tml::index_assign(n, {1, 6}, 0.5)) == Numbers{1, 2, 0.5, 0.5});
  CHECK(p(tml::index_assign(n, {1, 6, 1}, 0.5)) == Numbers{1, 2, 3, 0.5});
  CHECK(p(tml::index_assign(n, {0}, p.given("inner", "tensor<tensor<int, 2>, 1>", {8, 9}))) == Numbers{8, 9, 3, 4});
}

TEST_CASE("what cannot be written") {
  Graph g;
  const Tensor a = g.input("a", f64, nested({1, 2})), i = g.input("i", i64, nested({2})), r = g.input("r", f64, {}), two = g.input("two", i64, nested({2}));
  const Tensor m = g.input("m", i64, nested({3, 1}));
  const std::size_t before = g.size();
  CHECK(error_text([&] { tml::index_assign(a, {0, 2}, r); }) ==
        "shape: index_assign: index 2 is outside dimension 1 of %a (tensor<real, 1, 2>), which has length 2\n"
        "  indices run from 0 to 1; only a dimension of length 1 takes any index");
  CHECK(error_text([&] { tml::index_assign(i, {0}, 1.5); }) ==
        "dtype: index_assign: 1.5 (real) cannot be assigned to %i[0] (int): real does not become int\n"
        "  uint becomes int and int becomes real without a cast, nothing else");
  CHECK(error_text([&] { tml::index_assign(i, {0}, two); }) ==
        "shape: index_assign: %two (tensor<int, 2>) cannot be assigned to %i[0] (int): a tensor does not go into a scalar\n"
        "  index it, or narrow it if all its lengths are 1");
  CHECK(error_text([&] { tml::index_assign(m, {1}, two); }) ==
        "shape: index_assign: %two (tensor<int, 2>) cannot be assigned to %m[1] (tensor<int, 1>): dimension 0 has length 2, expected 1\n"
        "  the left side never grows, and only a length of 1 is repeated");
  CHECK(error_text([&] { tml::index_assign(i, {0}, UINT64_MAX); }) ==
        "dtype: index_assign: the number 18446744073709551615 does not fit int\n  the other operand must be uint or real: cast it");
  CHECK(g.size() == before);
}

TEST_CASE("source: the loop over signs, a char or a longer text") {
  const struct { Str signs; Numbers result; } cases[] = {{"+", {11, 2, 3}}, {"+-+", {11, 2, 33}}, {'-', {1, 2, 3}}};
  for (const auto& [signs, result] : cases) {
    Program p;
    Tensor x = p.given("x", "tensor<int, 3>", {1, 2, 3});
    const Tensor y = p.given("y", "tensor<int, 3>", {10, 20, 30});
    for (Index i = 0; i < signs.length(); ++i)
      if (signs[i] == "+") x = tml::index_assign(x, {i}, x[i] + y[i]);
    CHECK(p(x) == result);
  }
}

TEST_CASE("a str is a tensor of char, a single char a scalar") {
  const Str signs("+-+"), plus("+");
  CHECK(signs.length() == 3);
  CHECK(plus.length() == 1);
  CHECK(to_text(signs.type()) == "tensor<char, 3>");
  CHECK(to_text(plus.type()) == "char");
  CHECK(signs[1] == "-");
  CHECK(signs[1] == '-');
  CHECK(signs[1] != "+");
  CHECK(signs[2].text() == "+");
  CHECK(plus[0] == "+");
  CHECK(plus[999] == "+");
  CHECK(signs[1][999][5] == '-');
  CHECK(signs == "+-+");
  CHECK(signs != plus);
  CHECK(error_text([&] { signs[3]; }) == "shape: str: index 3 is outside \"+-+\", which has length 3\n  only a single char takes any index");
  CHECK(error_text([&] { signs[-1]; }) == "shape: str: index -1 of \"+-+\" is negative\n  indices count from 0");
  CHECK(error_text([&] { plus[-1]; }) == "shape: str: index -1 of \"+\" is negative\n  indices count from 0");
  CHECK(error_text([] { Str(""); }) == "shape: str: the text is empty\n  lengths are 1 or more");
}

TEST_CASE("source: narrowing drops lengths of 1") {
  Program p;
  const struct { const char *type, *result; int count; } cases[] = {
      {"int", "int", 1},
      {"tensor<int, 1>", "int", 1},
      {"tensor<int, 1, 5, 1>", "tensor<int, 5>", 5},
      {"tensor<int, 5>", "tensor<int, 5>", 5},
      {"tensor<int, 1, 1, 1>", "int", 1},
      {"tensor<int, 5, 5>", "tensor<int, 5, 5>", 25},
      {"tensor<tensor<int, 1>, 5, 5>", "tensor<tensor<int, 1>, 5, 5>", 25},
      {"tensor<tensor<int, 1, 4>, 1, 1>", "tensor<int, 1, 4>", 4},
      {"tensor<tensor<real, 1>, 1, 2>", "tensor<tensor<real, 1>, 2>", 2},
      {"tensor<bool, n, 1>", "tensor<bool, n>", 0},
  };
  int k = 0;
  for (const auto& c : cases) {
    CAPTURE(c.type);
    Numbers values;
    for (int v = 0; v < c.count; ++v) values.push_back(v);
    const std::string name = concat("x", k++);
    const Tensor a = c.count ? p.given(name, c.type, values) : tml::input(p.g, name, tml::type(c.type));
    const std::size_t before = p.g.size();
    const Tensor b = tml::narrow(a);
    CHECK(type_text(b) == c.result);
    CHECK(p.g.size() == before + (a.type() == b.type() ? 0 : 1));
    if (c.count) CHECK(p(b) == values);
  }
  const Tensor deep = p.given("deep", "tensor<tensor<int, 1, 4>, 1, 1>", {0, 1, 2, 3});
  CHECK(type_text(tml::narrow(tml::narrow(deep))) == "tensor<int, 4>");
  CHECK(type_text(tml::narrow(tml::narrow(tml::narrow(deep)))) == "tensor<int, 4>");
}

TEST_CASE("random types: reads, writes and narrowing agree with the recursive definition") {
  SeededSource random(23);
  int reads = 0, writes = 0;
  for (int round = 0; round < 400; ++round) {
    double next = 1;
    const Tree ta = random_tree(random, next, random_levels(random)), tv = random_tree(random, next, random_levels(random));
    Program p;
    const Tensor a = p.given("a", to_text(tml::Type(i64, Nesting(nest_of(ta)))), flat(ta)), v = p.given("v", to_text(tml::Type(i64, Nesting(nest_of(tv)))), flat(tv));
    std::vector<Index> indices;
    for (std::int64_t k = random.between(0, 5); k > 0; --k) indices.push_back(random.pick<Index>({0, 0, 1, 1, 2, 7}));
    CAPTURE(type_text(a));
    CAPTURE(type_text(v));
    CAPTURE(to_text(indices));
    CHECK(p(tml::narrow(a)) == flat(ta));
    CHECK(tml::narrow(a).nest() == nest_of(narrowed(ta)));

    std::optional<Tree> part = ta;
    for (Index index : indices) part = part ? indexed(*part, index) : part;
    if (part) {
      ++reads;
      CHECK(tml::index(a, indices).nest() == nest_of(*part));
      CHECK(p(tml::index(a, indices)) == flat(*part));
    } else {
      CHECK_THROWS_AS(tml::index(a, indices), Error);
    }
    for (const auto& [tree, value] : {std::pair(tv, v), std::pair(Tree{{}, {}, 5}, tml::declare(p.g, tml::Type(i64), 5))}) {
      const auto after = written(ta, indices, 0, tree);
      if (!after) {
        CHECK_THROWS_AS(tml::index_assign(a, indices, value), Error);
        continue;
      }
      ++writes;
      CHECK(tml::index_assign(a, indices, value).type() == a.type());
      CHECK(p(tml::index_assign(a, indices, value)) == flat(*after));
    }
  }
  CHECK(reads > 150);
  CHECK(writes > 150);
}
