#include <weft/graph.h>

#include <algorithm>

#include <doctest/doctest.h>
#include <error_text.h>
#include <weft/expr.h>
#include <weft/text.h>

using namespace weft;

namespace {

// A graph with %x: f64[n,m], %w: f64[k], %v: f64[3], %b: bool[n], on which wrong nodes are tried.
struct Bench {
  Graph g{"bench"};
  NodeId x = g.input("x", f64, {"n", "m"}).id(), w = g.input("w", f64, {"k"}).id(), v = g.input("v", f64, {3}).id(), b = g.input("b", bool_, {"n"}).id();
  std::string apply(Op op, DType dtype, Shape domain, std::vector<Operand> operands) {
    return error_text([&] { g.apply(op, dtype, domain, operands); });
  }
  std::string fold(AccumulatorId acc, DType dtype, Shape domain, int kept, std::vector<Operand> operands) {
    return error_text([&] { g.fold(acc, Op::copy, dtype, domain, kept, operands); });
  }
  std::string add(Kind kind, DType dtype, Shape domain, decltype(Node::payload) payload, std::vector<Operand> operands = {}) {
    Node node;
    node.kind = kind;
    node.dtype = dtype;
    node.kept = static_cast<int>(domain.size());
    node.domain = domain;
    node.payload = payload;
    return error_text([&] { g.add(node, operands); });
  }
};

}  // namespace

TEST_CASE("a graph remembers operands in order, maps and users") {
  Bench t;
  const NodeId y = t.g.apply(Op::multiply, f64, {3}, {{t.v, identity_map(1)}, {t.v, {{0, 2, -1}}}});
  CHECK(t.g.size() == 5);
  CHECK(t.g.arity(y) == 2);
  CHECK(t.g.operand(y, 1) == t.v);
  CHECK(t.g.map(y, 1)[0] == AxisRef{0, 2, -1});
  CHECK(t.g.users(t.v) == std::vector<NodeId>{y, y});
  CHECK(t.g.user_count(t.v) == 2);
  CHECK(t.g.user_count(y) == 0);
  const Expr e(t.g, y);
  CHECK(e.name() == "%0");
  CHECK(e.rank() == 1);
  CHECK(e.dtype() == f64);
  CHECK(e.shape() == Shape{3});
}

TEST_CASE("a part of an axis is said to be one, and all of an axis is not") {
  Graph g;
  const Expr v = g.input("v", f64, {3});
  const NodeId part = g.apply(Op::copy, f64, {2}, {{v.id(), {{0, 0, 1, true}}}}), whole = g.apply(Op::copy, f64, {3}, {{v.id(), {{0, 0, 1, true}}}});
  CHECK(g.map(part, 0)[0].part);
  CHECK(line_of(g, part) == "%0: f64[i:2] = copy(%v[i+0])");
  CHECK(g.map(whole, 0) == identity_map(1));
}

TEST_CASE("constants and extents") {
  Graph g;
  CHECK(g.constant(Scalar(2.0f)).name() == "2:f32");
  CHECK(g.constant(Array::scalar(true)).name() == "true");
  CHECK(g.extent(5).name() == "5:i64");
  CHECK(line_of(g, g.constant(i32, {2, 2}, {1, 2, 3, 4}).id()) == "%0: i32[2,2] = constant [1, 2, 3, 4]");
  CHECK(line_of(g, g.extent("n").id()) == "%1: i64[] = extent(n)");
  Array array = Array::from<float>({1, 2});
  const Expr c = g.constant(array);
  array.data<float>()[0] = 9;   // the graph has its own copy
  CHECK(line_of(g, c.id()) == "%2: f32[2] = constant [1, 2]");
  CHECK(error_text([&] { g.constant(f32, {2, 2}, {1, 2, 3}); }) == "shape: constant: shape [2, 2] holds 4 values but got 3");
}

TEST_CASE("inputs have unique names") {
  Graph g;
  g.input("x", f64, {});
  CHECK(error_text([&] { g.input("x", f32, {}); }) == "usage: input: this graph already has an input %x\n  choose another name");
  CHECK(error_text([&] { g.input("2x", f32, {}); }) ==
        "usage: input: expected a name of letters, digits and _ that does not start with a digit, got \"2x\"");
  CHECK(error_text([&] { g.input("y", f32, {-1}); }) == "shape: input: an axis cannot have extent -1");
  CHECK(g.size() == 1);
}

TEST_CASE("a wrong map is shown in its line") {
  Bench t;
  CHECK(t.apply(Op::multiply, f64, {"n", "m"}, {{t.x, identity_map(2)}, {t.w, {{1, 0, 1}}}}) ==
        "shape: multiply: axis j has extent m in %x[i,j] but k in %w[j]\n  %0: f64[i:n,j:m] = multiply(%x[i,j], %w[j])\n"
        "                                       ^~~~~\n  if k is meant to equal m, declare both inputs with the same symbol");
  CHECK(t.apply(Op::exp, f64, {4}, {{t.v, identity_map(1)}}) ==
        "shape: exp: axis i has extent 4 in the result but 3 in %v[i]\n  %0: f64[i:4] = exp(%v[i])\n                     ^~~~~");
  CHECK(t.apply(Op::exp, f64, {"n"}, {{t.x, identity_map(1)}}) ==
        "shape: exp: %x has rank 2 but its map names 1 axes\n  %0: f64[i:n] = exp(%x[i])\n                     ^~~~~");
  CHECK(t.apply(Op::exp, f64, {"n"}, {{t.x, {{0, 0, 1}, {0, 1, 1}}}}) ==
        "shape: exp: the map of %x names axis i twice\n  %0: f64[i:n] = exp(%x[i,i+1])\n                     ^~~~~~~~~");
  CHECK(t.apply(Op::exp, f64, {3}, {{t.v, {{2, 0, 1}}}}) == "shape: exp: the map of %v names axis 2 of a domain of rank 1");
  CHECK(t.apply(Op::exp, f64, {2}, {{t.v, {{0, 1, 2}}}}) ==
        "shape: exp: indices 1 to 3 are outside axis 0 of %v, which has extent 3\n  %0: f64[i:2] = exp(%v[2*i+1])\n                     ^~~~~~~~~");
  CHECK(t.apply(Op::exp, f64, {}, {{t.v, {{-1, 3, 1}}}}) ==
        "shape: exp: index 3 is outside axis 0 of %v, which has extent 3\n  %0: f64[] = exp(%v[3])\n                  ^~~~~");
  CHECK(t.apply(Op::exp, f64, {4}, {{t.v, {{0, 0, 1, true}}}}) ==
        "shape: exp: indices 0 to 3 are outside axis 0 of %v, which has extent 3\n  %0: f64[i:4] = exp(%v[i+0])\n                     ^~~~~~~");
  CHECK(t.apply(Op::exp, f64, {2}, {{t.v, {{0, 1, 1, true}}}}) ==
        "shape: exp: the map of %v calls its reference to axis 0 a part, which is said of start 0 and step 1 only");
  CHECK(t.apply(Op::exp, f64, {3}, {{t.v, {{0, 0, 0}}}}) == "shape: exp: the map of %v has step 0 on axis 0\n  a fixed index names no axis");
  CHECK(t.g.size() == 4);
}

TEST_CASE("wrong operands and dtypes are refused") {
  Bench t;
  CHECK(t.apply(Op::add, f64, {}, {}) == "usage: add: expected 2 operands, got 0");
  CHECK(t.apply(Op::exp, f64, {}, {{id_of(9), {}}}) == "usage: exp: operands come before their users");
  CHECK(t.apply(Op::exp, bool_, {"n"}, {{t.b, identity_map(1)}}) ==
        "dtype: exp: no such operation on bool\n  %0: bool[i:n] = exp(%b[i])\n  cast the operands");
  CHECK(t.apply(Op::exp, f32, {3}, {{t.v, identity_map(1)}}) == "dtype: exp: operands of f64 give f64, not f32\n  %0: f32[i:3] = exp(%v[i])");
}

TEST_CASE("folds name their axes and take what they can fold") {
  Bench t;
  CHECK(t.fold(AccumulatorId::sum, f64, {"n", "m", "k"}, 1, {{t.x, identity_map(2)}}) ==
        "shape: copy: folded axis l of extent k is not an axis of any operand\n  %0: f64[i:n] = sum(j:m,l:k) copy(%x[i,j])");
  CHECK(t.fold(AccumulatorId::sum, bool_, {"n"}, 0, {{t.b, identity_map(1)}}) ==
        "dtype: sum: cannot fold bool\n  %0: bool[] = sum(i:n) copy(%b[i])\n  cast the operand: sum and prod take numbers, any and all take bool, bitwise folds bool or integers");
  CHECK(t.fold(AccumulatorId::none, f64, {3}, 0, {{t.v, identity_map(1)}}) == "usage: copy: a node accumulates exactly if it folds an axis");
}

TEST_CASE("nodes that are not ops carry what their kind says") {
  Bench t;
  CHECK(t.add(Kind::input, f64, {}, std::monostate()) == "usage: input: expected a name");
  CHECK(t.add(Kind::constant, f64, {}, std::monostate()) == "usage: constant: expected a value");
  CHECK(t.add(Kind::constant, f32, {}, Scalar(1.0)) == "usage: constant: a f64 scalar is not a f32 of shape []");
  CHECK(t.add(Kind::constant, f64, {3}, Array(f64, {2})) == "usage: constant: a f64 array of shape [2] is not a f64 of shape [3]");
  CHECK(t.add(Kind::iota, f64, {3}, std::monostate()) == "usage: iota: expected i64 and at least one axis, got f64 and 1");
  CHECK(t.add(Kind::extent, i64, {}, std::monostate()) == "usage: extent: expected an i64 scalar with an extent");
  CHECK(t.add(Kind::iota, i64, {3}, std::monostate(), {{t.v, identity_map(1)}}) == "usage: iota: expected no operand, got 1");
  CHECK(t.add(Kind::update, f64, {5}, std::monostate(), {{t.v, identity_map(1)}}) == "usage: update: expected a reference per axis");
  CHECK(t.add(Kind::update, f64, {5}, AxisMap{{0, 3, 1}}, {{t.v, identity_map(1)}}) == "shape: update: indices 3 to 5 are outside axis 0 of extent 5");
  CHECK(t.add(Kind::update, f64, {5}, AxisMap{{-1, 3, 1}}, {{t.v, identity_map(1)}}) == "shape: update: window axis 0 is named 0 times");
  CHECK(t.add(Kind::update, f64, {5}, AxisMap{{0, 0, 2, true}}, {{t.v, identity_map(1)}}) ==
        "shape: update: places within need a window axis and step 1 or -1 on every axis, not on axis 0");
  CHECK(t.add(Kind::update, f32, {5}, AxisMap{{0, 0, 1}}, {{t.v, identity_map(1)}}) == "dtype: update: the window is f64 but the result is f32");
  CHECK(t.add(Kind::update, f64, {5}, AxisMap{{0, 0, 1}}, {}) == "usage: update: expected one operand, got 0");
  CHECK(t.g.size() == 4);
}

TEST_CASE("a name given to an Expr stands in messages") {
  weft::Graph g;
  const auto x = g.input("x", weft::f64, {3}), y = g.input("y", weft::f64, {4});
  const auto total = weft::square(x).name("total");
  CHECK(total.name() == "%total");
  CHECK(error_text([&] { (void)(total + y); }).find("%total") != std::string::npos);
  CHECK(error_text([&] { (void)x.name("z"); }) == "usage: name: input %x has its name already");
  CHECK(error_text([&] { (void)total.name("2x"); }) == "usage: name: expected letters, digits and _ that do not start with a digit, got \"2x\"");
}

TEST_CASE("graphs that were moved from, or assigned to, say so") {
  Graph first;
  const Expr x = first.input("x", f64, {"n"});
  Graph second = std::move(first);
  const std::string moved = "usage: this graph has been moved from\n  build in the one that it was moved to: Exprs stay with the object they were made of";
  CHECK(error_text([&] { static_cast<void>(x + 1); }) == moved);
  CHECK(error_text([&] { first.input("y", f64, {"n"}); }) == moved);
  CHECK(error_text([&] { static_cast<void>(to_text(first)); }) == moved);
  CHECK(to_text(second).find("%x: f64[n]") != std::string::npos);
  Graph third;
  const Expr y = third.input("y", f64, {"n"});
  third = Graph("new");
  CHECK(error_text([&] { static_cast<void>(y + 1); }) == "usage: this Expr is node 0 of a graph that has 0 nodes\n  another graph was assigned to its own");
}

TEST_CASE("a condition is neither true nor false while the graph is built") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), y = g.input("y", f64, {"n"}), b = g.input("b", bool_, {});
  const auto truth = [](const Expr& e) { return error_text([&] { static_cast<void>(e ? 1 : 0); }); };
  CHECK(truth(x > 3) == "usage: %0 is a condition, which a call decides: it is neither true nor false while the graph is built\n"
                        "  %0: bool[i:n] = greater(%x[i], 3)\n  choose by where(condition, a, b); ask x.is_empty() whether an Expr is one");
  CHECK(truth(b).starts_with("usage: %b is a condition"));
  CHECK(error_text([&] { static_cast<void>(std::max(x, y)); }).starts_with("usage: "));
  CHECK(truth(x) == "no error");
  CHECK(truth(Expr()) == "no error");
  CHECK(Expr().is_empty());
  CHECK_FALSE((x > 3).is_empty());
}
