// The same two shapes under every rule system: the rules are a property of the function called (tests/README.md, requirements 169).
#include <functional>
#include <optional>

#include <doctest/doctest.h>

#include <weft/broadcast.h>
#include <weft/elemwise.h>
#include <weft/target_shape.h>
#include <weft/tml.h>
#include <weft/xla.h>

#include "values.h"

using namespace weft;

namespace {

using Rule = std::function<Expr(const Expr&, const Expr&)>;

Rule theano(Order order) {
  return [order](const Expr& a, const Expr& b) { return elemwise(a, b, order, {Mode::broadcast}, [](Expr u, Expr v) { return u + v; }); };
}
Rule to_target(BroadcastMode mode) {
  return [mode](const Expr& a, const Expr& b) { return broadcast(a, b.shape(), mode); };
}

// The columns of the table, in order.
const std::vector<std::pair<const char*, Rule>> rules{
    {"Array API", [](const Expr& a, const Expr& b) { return a + b; }},
    {"Array API, b = a", [](const Expr& a, const Expr& b) { return assign(b, a); }},
    {"XLA without dimensions", [](const Expr& a, const Expr& b) { return xla::apply(Op::add, a, b); }},
    {"OpenVINO numpy, a to the shape of b", to_target(BroadcastMode::numpy)},
    {"OpenVINO bidirectional", to_target(BroadcastMode::bidirectional)},
    {"Theano order c", theano(Order::c)},
    {"Theano order f", theano(Order::f)},
    {"TML arithmetic", [](const Expr& a, const Expr& b) { return tml::add(a, b).expr(); }},
    {"TML relational", [](const Expr& a, const Expr& b) { return tml::less(a, b).expr(); }},
    {"TML, b = a", [](const Expr& a, const Expr& b) { return tml::assign(b, a).expr(); }},
};

const std::optional<Shape> no;

}  // namespace

TEST_CASE("the same shapes have a verdict in each rule system") {
  const Shape m{2, 3};
  const struct {
    Shape a, b;
    std::vector<std::optional<Shape>> verdicts;
  } rows[] = {
      //             Array API   b = a      XLA       numpy     bidi       c         f         TML: +    <         b = a
      {{2, 3}, m,    {m,         m,         m,        m,        m,         m,        m,        m,        m,        m}},
      {{}, m,        {m,         m,         m,        m,        m,         m,        m,        m,        m,        m}},
      {m, {},        {m,         no,        m,        no,       m,         m,        m,        m,        m,        no}},
      {{3}, m,       {m,         m,         no,       m,        m,         no,       m,        m,        no,       m}},
      {{2}, m,       {no,        no,        no,       no,       no,        m,        no,       no,       no,       no}},
      {m, {3},       {m,         no,        no,       no,       m,         no,       m,        m,        no,       no}},
      {m, {2},       {no,        no,        no,       no,       no,        m,        no,       no,       no,       no}},
      {{2, 1}, m,    {m,         m,         m,        m,        m,         no,       no,       m,        no,       m}},
      {m, {2, 1},    {m,         no,        m,        no,       m,         no,       no,       m,        no,       no}},
      {{2, 1}, {1, 3}, {m,       no,        m,        no,       m,         no,       no,       m,        no,       no}},
      {{2, 2}, m,    {no,        no,        no,       no,       no,        no,       no,       no,       no,       no}},
      {{1}, {3},     {Shape{3},  Shape{3},  Shape{3}, Shape{3}, Shape{3},  no,       no,       Shape{3}, no,       Shape{3}}},
      {{1, 3}, {3},  {Shape{1, 3}, no,      no,       no,       Shape{1, 3}, no, Shape{1, 3}, Shape{1, 3}, no,     no}},
      {{0}, {1},     {Shape{0},  no,        Shape{0}, no,       Shape{0},  no,       no,       no,       no,       no}},
      {{"n"}, {"n"}, {Shape{"n"}, Shape{"n"}, Shape{"n"}, Shape{"n"}, Shape{"n"}, Shape{"n"}, Shape{"n"}, Shape{"n"}, Shape{"n"}, Shape{"n"}}},
      {{"n"}, {"m"}, {no,        no,        no,       no,       no,        no,       no,       no,       no,       no}},
  };
  for (const auto& row : rows) {
    REQUIRE(row.verdicts.size() == rules.size());
    for (std::size_t k = 0; k < rules.size(); ++k) {
      Graph g;
      const Expr a = g.input("a", f64, row.a), b = g.input("b", f64, row.b);
      const std::size_t before = g.size();
      CAPTURE(to_text(row.a));
      CAPTURE(to_text(row.b));
      CAPTURE(std::string(rules[k].first));
      std::optional<Shape> verdict;
      try {
        verdict = rules[k].second(a, b).shape();
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::shape);
        CHECK(g.size() == before);
      }
      CHECK(verdict == row.verdicts[k]);
    }
  }
}

TEST_CASE("where several systems accept the same shapes, alignment may still differ: a square and a vector") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 2}), v = g.input("v", f64, {2});
  const auto values = [&](const Expr& z) { return values_of(z, {x, v}, {doubles({1, 2, 3, 4}, {2, 2}), doubles({10, 20}, {2})}); };
  const std::vector<double> rows{11, 22, 13, 24}, columns{11, 12, 23, 24};
  CHECK(values(x + v) == rows);
  CHECK(values(x + broadcast(v, {2, 2})) == rows);
  CHECK(values(x + broadcast(v, {2, 2}, BroadcastMode::explicit_axes, {0})) == columns);
  CHECK(values(xla::apply(Op::add, x, v, {1})) == rows);
  CHECK(values(xla::apply(Op::add, x, v, {0})) == columns);
  CHECK(values(theano(Order::f)(x, v)) == rows);
  CHECK(values(theano(Order::c)(x, v)) == columns);
  CHECK(values(tml::add(x, v)) == rows);
}
