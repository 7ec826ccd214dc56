// The Theano rules: orders, modes, the examples of the source, and its questions answered.
#include <weft/elemwise.h>

#include <cmath>

#include <doctest/doctest.h>

#include "error_text.h"
#include "values.h"

using namespace weft;

namespace {

const auto plus = [](const Expr& a, const Expr& b) { return a + b; };
const auto times = [](const Expr& a, const Expr& b) { return a * b; };

struct Pair {
  Graph g;
  Array xa, ya;
  Expr x, y;
  Pair(Array first, Array second) : xa(std::move(first)), ya(std::move(second)) {
    x = g.input("x", f64, Shape(xa.shape().begin(), xa.shape().end()));
    y = g.input("y", f64, Shape(ya.shape().begin(), ya.shape().end()));
  }
  std::vector<double> operator()(const Expr& output) const { return values_of(output, {x, y}, {xa, ya}); }
};

// z[index] = x[index] + y[index / inner % count]: what the modes mean, for two operands.
std::vector<double> broadcast_sum(const Array& xa, const Array& ya, std::size_t inner) {
  const auto x = xa.to_vector<double>(), y = ya.to_vector<double>();
  std::vector<double> z;
  for (std::size_t k = 0; k < x.size(); ++k) z.push_back(x[k] + y[k / inner % y.size()]);
  return z;
}
std::vector<double> accumulated_sum(const Array& xa, const Array& ya, std::size_t inner) {
  const auto x = xa.to_vector<double>();
  std::vector<double> z = ya.to_vector<double>();
  for (std::size_t k = 0; k < x.size(); ++k) z[k / inner % z.size()] += x[k];   // multiples of 1/4: exact in any order
  return z;
}

}  // namespace

TEST_CASE("broadcast repeats inputs along the axes they lack: f the first ones, c the last ones") {
  Pair f(case_x({3, 5}), case_y({5}, 0.25)), c(case_x({3, 5}), case_y({3}, 0.25));
  const Expr zf = elemwise(f.x, f.y, Order::f, {Mode::broadcast}, plus), zc = elemwise(c.x, c.y, Order::c, {Mode::broadcast}, plus);
  CHECK(f(zf) == std::vector<double>{-6.0, -1.25, 3.5, -3.25, -3.25, 0.0, 4.75, -2.0, 2.75, 2.75, -5.5, -0.75, 4.0, -2.75, -2.75});
  CHECK(c(zc) == std::vector<double>{-6.0, -2.5, 1.0, -7.0, -3.5, 1.25, 4.75, -3.25, 0.25, 3.75, -3.0, 0.5, 4.0, -4.0, -0.5});
  CHECK(f.g.node(zf.id()).order == Order::f);
  CHECK(f.g.size() == 3);                                      // one node, no copies
  Pair f3(case_x({7, 8, 9}), case_y({8, 9}, 0.25)), c3(case_x({7, 8, 9}), case_y({7, 8}, 0.25));
  CHECK(f3(elemwise(f3.x, f3.y, Order::f, {Mode::broadcast}, plus)) == broadcast_sum(f3.xa, f3.ya, 1));
  CHECK(c3(elemwise(c3.x, c3.y, Order::c, {Mode::broadcast}, plus)) == broadcast_sum(c3.xa, c3.ya, 9));
  CHECK(elemwise(c3.x, c3.y, Order::c, {Mode::broadcast}, plus).shape() == Shape{7, 8, 9});
}

TEST_CASE("accumulate folds the surplus axes before the function: f the first ones, c the last ones") {
  Pair f(case_x({3, 5}), case_y({5}, 0.25)), c(case_x({3, 5}), case_y({3}, 0.25));
  CHECK(f(elemwise(f.x, f.y, Order::f, {accumulate(sum)}, plus)) == std::vector<double>{-7.5, 4.25, 4.5, -6.75, 0.25});
  CHECK(c(elemwise(c.x, c.y, Order::c, {accumulate(sum)}, plus)) == std::vector<double>{-10.0, 9.75, -5.0});
  Pair f3(case_x({7, 8, 9}), case_y({8, 9}, 0.25)), c3(case_x({7, 8, 9}), case_y({7, 8}, 0.25));
  CHECK(f3(elemwise(f3.x, f3.y, Order::f, {accumulate(sum)}, plus)) == accumulated_sum(f3.xa, f3.ya, 1));
  CHECK(c3(elemwise(c3.x, c3.y, Order::c, {accumulate(sum)}, plus)) == accumulated_sum(c3.xa, c3.ya, 9));
  Pair z(doubles({1, 2, 3, 4, 5, 6}, {2, 3}), doubles({10, 20}, {2}));
  CHECK(z(elemwise(z.x, z.y, Order::c, {accumulate(sum)}, times)) == std::vector<double>{60, 300});
  Pair w(doubles({1, 2, 3, 4, 5, 6}, {2, 3}), doubles({1, 2}, {2}));
  CHECK(w(elemwise(w.x, w.y, Order::c, {accumulate(sum)}, [](Expr a, Expr b) { return square(a + b); })) == std::vector<double>{49, 289});
}

TEST_CASE("a square operand tells the orders apart") {
  Pair p(doubles({1, 2, 3, 4}, {2, 2}), doubles({10, 20}, {2}));
  CHECK(p(elemwise(p.x, p.y, Order::c, {Mode::broadcast}, plus)) == std::vector<double>{11, 12, 23, 24});
  CHECK(p(elemwise(p.x, p.y, Order::f, {Mode::broadcast}, plus)) == std::vector<double>{11, 22, 13, 24});
}

TEST_CASE("several outputs, each with its mode") {
  Pair p(doubles({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3}), doubles({10, 20, 30}, {3}));
  const auto [a, s, q, d] = elemwise(p.x, p.y, Order::f, {Mode::broadcast, accumulate(sum), accumulate(prod), Mode::broadcast},
                                     [](Expr x, Expr y) { return std::tuple{x + y, x * y, x * y, x - y}; });
  CHECK(p(a) == std::vector<double>{11, 22, 33, 14, 25, 36, 17, 28, 39});
  CHECK(p(s) == std::vector<double>{120, 300, 540});
  CHECK(p(q) == std::vector<double>{280, 1600, 4860});
  CHECK(p(d) == std::vector<double>{-9, -18, -27, -6, -15, -24, -3, -12, -21});
}

TEST_CASE("the rank of an output comes from the inputs its expression uses; numbers do not count") {
  Pair p(doubles({1, 2, 3, 4, 5, 6}, {2, 3}), doubles({10, 20}, {2}));
  const auto [wide, narrow, own] = elemwise(p.x, p.y, Order::c, {accumulate(sum), Mode::broadcast, accumulate(sum)},
                                            [](Expr a, Expr b) { return std::tuple{a * b + 5, b + 1, a + 1}; });
  CHECK(p(wide) == std::vector<double>{65, 305});
  CHECK(narrow.shape() == Shape{2});
  CHECK(own.shape() == Shape{2, 3});                           // only x: nothing of greater rank to fold
  CHECK(elemwise(p.x, p.y, Order::c, {Mode::broadcast}, [](Expr, Expr b) { return b; }).id() == p.y.id());
}

TEST_CASE("three inputs of three ranks, each folds its own surplus") {
  Graph g;
  const Array xa = case_x({2, 3, 4}), ya = case_y({3, 4}, 0.25), wa = doubles({1, 2, 3, 4}, {4});
  const Expr x = g.input("x", f64, {2, 3, 4}), y = g.input("y", f64, {3, 4}), w = g.input("w", f64, {4});
  const auto f = [](Expr a, Expr b, Expr c) { return (a + b) * c; };
  const Expr b = elemwise(x, y, w, Order::f, {Mode::broadcast}, f), s = elemwise(x, y, w, Order::f, {accumulate(sum)}, f);
  CHECK(values_of(b, {x, y, w}, {xa, ya, wa}) ==
        std::vector<double>{-6.0, -2.5, 10.5, -13.0, -3.25, 3.0, 18.75, -2.0, -0.5, 8.5, -7.5, 9.0, 1.5, -10.5, -1.5, 17.0, -7.25, -5.0, 6.75, 28.0, -4.5, 0.5, 15.0, -7.0});
  CHECK(values_of(s, {x, y, w}, {xa, ya, wa}) == std::vector<double>{-14.75, -3.0, 35.25, 8.0});
  const Expr q = g.input("q", f64, {4, 3, 2}), r = g.input("r", f64, {4, 3});
  const Expr c = elemwise(q, r, w, Order::c, {accumulate(sum)}, f);
  CHECK(values_of(c, {q, r, w}, {case_x({4, 3, 2}), case_y({4, 3}, 0.25), wa}) == std::vector<double>{-8.25, 9.0, -17.25, 28.0});
}

TEST_CASE("order c is the transpose of order f on transposed inputs, to the bit") {
  Graph g;
  const Expr x = g.input("x", f64, {5, 7, 3}), y = g.input("y", f64, {5}), xt = g.input("xt", f64, {3, 7, 5});
  std::vector<double> noise;
  for (int k = 0; k < 105; ++k) noise.push_back(std::sin(k * 12.9898) * 43758.5453);
  const Array xa = doubles(noise, {5, 7, 3}), ya = doubles({0.1, 0.2, 0.3, 0.4, 0.5}, {5});
  const auto f = [](Expr a, Expr b) { return std::tuple{a * tanh(b), a + b}; };
  const auto [pc, sc] = elemwise(x, y, Order::c, {Mode::broadcast, accumulate(sum)}, f);
  const auto [pf, sf] = elemwise(xt, y, Order::f, {Mode::broadcast, accumulate(sum)}, f);
  const std::vector<Expr> in{x, xt, y};
  const std::vector<Array> arrays{xa, xa.transpose(), ya};
  CHECK(values_of(pc, in, arrays) == values_of(transpose(pf), in, arrays));
  CHECK(values_of(sc, in, arrays) == values_of(sf, in, arrays));
}

TEST_CASE("what depends on fewer axes is computed over fewer axes, and unused results add nothing") {
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"}), y = g.input("y", f32, {"n"});
  const Expr z = elemwise(x, y, Order::c, {Mode::broadcast}, [](Expr a, Expr b) { (void)(a * 3); return a * exp(b); });
  CHECK(g.size() == 4);
  CHECK(Expr(g, g.operand(z.id(), 1)).shape() == Shape{"n"});
  const auto [s, t] = elemwise(x, y, Order::c, {accumulate(sum), accumulate(sum)}, [](Expr a, Expr b) { return std::tuple{a + b, a - b}; });
  CHECK(g.size() == 7);                                        // one fold for both
  CHECK(s.shape() == t.shape());
}

TEST_CASE("folding changes dtypes before the function sees them") {
  Graph g;
  const Expr i = g.input("i", i32, {2, 2}), b = g.input("b", bool_, {2, 2}), y = g.input("y", f32, {2});
  const Expr z = elemwise(i, y, Order::c, {accumulate(any)}, [](Expr a, Expr c) { return where(a != 0, c, 0); });
  CHECK(z.dtype() == f32);
  CHECK(values_of(z, {i, y}, {Array::from<std::int32_t>({0, 0, 0, 2}, {2, 2}), Array::from<float>({3, 4})}) == std::vector<double>{0, 4});
  CHECK(elemwise(b, i.slice({0}), Order::c, {accumulate(sum)}, plus).dtype() == i64);
  CHECK(error_text([&] { elemwise(b, y, Order::c, {accumulate(max)}, times); }) ==
        "dtype: max: %b is bool\n  use any or all, or cast it to an integer dtype");
}

TEST_CASE("empty axes: the unit of the accumulator, or an error at the call") {
  Pair p(doubles({}, {0, 3}), doubles({1, 2, 3}, {3}));
  CHECK(p(elemwise(p.x, p.y, Order::f, {accumulate(prod)}, plus)) == std::vector<double>{2, 3, 4});
  CHECK(elemwise(p.x, p.y, Order::f, {Mode::broadcast}, plus).shape() == Shape{0, 3});
  CHECK(p(elemwise(p.x, p.y, Order::f, {Mode::broadcast}, plus)).empty());
  CHECK_THROWS_AS(p(elemwise(p.x, p.y, Order::f, {accumulate(max)}, plus)), Error);
}

TEST_CASE("shapes that the order does not cover, and what to do") {
  Graph g;
  const Expr x = g.input("x", f64, {3, 5}), a = g.input("a", f64, {3}), b = g.input("b", f64, {5}), one = g.input("one", f64, {1});
  const Expr m = g.input("m", f64, {"n", "k"}), v = g.input("v", f64, {"p"}), c31 = g.input("c31", f64, {3, 1}), r13 = g.input("r13", f64, {1, 3});
  const Expr x232 = g.input("x232", f64, {2, 3, 2}), y42 = g.input("y42", f64, {4, 2}), w = g.input("w", f64, {2});
  const std::size_t before = g.size();
  CHECK(error_text([&] { elemwise(x, a, Order::f, {Mode::broadcast}, plus); }) ==
        "shape: elemwise: output 0 in order f: axis 1 of %x has extent 5 but axis 0 of %a has extent 3\n  in order c these shapes agree");
  CHECK(error_text([&] { elemwise(x, b, Order::c, {accumulate(sum)}, plus); }) ==
        "shape: elemwise: output 0 in order c: axis 0 of %x has extent 3 but axis 0 of %b has extent 5\n  in order f these shapes agree");
  CHECK(error_text([&] { elemwise(x, one, Order::f, {Mode::broadcast}, plus); }) ==
        "shape: elemwise: output 0 in order f: axis 1 of %x has extent 5 but axis 0 of %one has extent 1\n"
        "  elemwise does not repeat an axis of extent 1: the operators do, or squeeze it");
  CHECK(error_text([&] { elemwise(c31, r13, Order::c, {Mode::broadcast}, plus); }) ==
        "shape: elemwise: output 0 in order c: axis 0 of %c31 has extent 3 but axis 0 of %r13 has extent 1\n"
        "  elemwise does not repeat an axis of extent 1: the operators do, or squeeze it");
  CHECK(error_text([&] { elemwise(m, v, Order::f, {Mode::broadcast}, plus); }) ==
        "shape: elemwise: output 0 in order f: axis 1 of %m has extent k but axis 0 of %v has extent p\n"
        "  if p is meant to equal k, declare both inputs with the same symbol");
  CHECK(error_text([&] { elemwise(x232, y42, w, Order::f, {accumulate(sum)}, [](Expr p, Expr q, Expr r) { return (p + q) * r; }); }) ==
        "shape: elemwise: output 0 in order f: axis 1 of %x232 has extent 3 but axis 0 of %y42 has extent 4\n"
        "  shared axes must have equal extents");
  CHECK(g.size() == before);
}

TEST_CASE("what the function may not do") {
  Graph g, h("other");
  const Expr x = g.input("x", f64, {3}), i = g.input("i", bool_, {3}), z = h.input("z", f64, {3});
  const std::size_t before = g.size();
  CHECK(error_text([&] { elemwise(x, z, Order::c, {Mode::broadcast}, plus); }) ==
        "usage: elemwise: %x is in graph \"graph\" but %z is in graph \"other\"\n  build both in one graph");
  CHECK(error_text([&] { elemwise(x, Order::c, {Mode::broadcast, Mode::broadcast}, [](Expr a) { return a; }); }) ==
        "usage: elemwise: the function returns 1 outputs but 2 modes are given\n  give one mode per output");
  CHECK(error_text([&] { elemwise(x, Order::c, {Mode::accumulate}, [](Expr a) { return a; }); }) ==
        "usage: elemwise: output 0 has mode accumulate without an accumulator\n  write accumulate(sum), or another accumulator");
  CHECK(error_text([&] { elemwise(x, Order::c, {ModeSpec(Mode::broadcast, AccumulatorId::sum)}, [](Expr a) { return a; }); }) ==
        "usage: elemwise: output 0 has mode broadcast with an accumulator\n  write Mode::broadcast, or accumulate(sum)");
  CHECK(error_text([&] { elemwise(x, Order::c, {Mode::broadcast}, [&](Expr) { return x; }); }) ==
        "usage: elemwise: the function's result 0 is %x of graph \"graph\", not made from its arguments\n  pass that Expr as an input");
  CHECK(error_text([&] { elemwise(x, Order::c, {Mode::broadcast}, [&](Expr a) { return a * x; }); }) ==
        "usage: multiply: %x is in graph \"the function of elemwise\" but %x is in graph \"graph\"\n  build both in one graph");
  CHECK(error_text([&] { elemwise(x, Order::c, {Mode::broadcast}, [](Expr a) { return expand_dims(a); }); }) ==
        "usage: elemwise: the function makes %0 of shape [1]; it sees scalars and must stay elementwise\n  reduce or slice outside of elemwise");
  CHECK(error_text([&] { elemwise(i, i, Order::c, {Mode::broadcast}, plus); }) ==
        "dtype: add: no such operation on bool %i, bool %i_\n  cast an operand, as in cast(%i, i64)");
  CHECK(error_text([&] { elemwise({}, Order::c, {Mode::broadcast}, ElemwiseFunction()); }) ==
        "usage: elemwise: no inputs\n  pass at least one Expr");
  CHECK(error_text([&] { accumulate(mean); }) == "usage: accumulate: the function is not an accumulator\n  use one of sum, prod, max, min, any, all, "
                                                 "reduce_or, reduce_and, reduce_xor");
  CHECK(g.size() == before);
}

TEST_CASE("the list form takes any number of inputs and outputs") {
  Graph g;
  std::vector<Expr> inputs;
  std::vector<Array> arrays;
  for (int k = 0; k < 9; ++k) {
    inputs.push_back(g.input("x" + std::to_string(k), f64, {2}));
    arrays.push_back(doubles({1.0 * k, 1}, {2}));
  }
  const auto outputs = elemwise(inputs, Order::c, std::vector<ModeSpec>(2, Mode::broadcast), [](const std::vector<Expr>& a) {
    Expr total = a[0], product = a[1];
    for (std::size_t k = 1; k < a.size(); ++k) total = total + a[k];
    for (std::size_t k = 2; k < a.size(); ++k) product = product * a[k];
    return std::vector<Expr>{total, product};
  });
  CHECK(values_of(outputs[0], inputs, arrays) == std::vector<double>{36, 9});
  CHECK(values_of(outputs[1], inputs, arrays) == std::vector<double>{40320, 1});
}
