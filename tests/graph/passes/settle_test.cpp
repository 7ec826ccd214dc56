// Broadcasts to a target that is an argument: text, what the interpreter computes for each way in which axes meet, gradients,
// and what a call is refused for.
#include <weft/settle.h>

#include <weft/expr.h>
#include <weft/grad.h>
#include <weft/recurrence.h>
#include <weft/target_shape.h>
#include <weft/text.h>
#include <weft/verify.h>

#include "error_text.h"
#include "problem.h"

using namespace weft;

namespace {
constexpr auto numpy = BroadcastMode::numpy, along = BroadcastMode::explicit_axes, both = BroadcastMode::bidirectional;

Array indices(const std::vector<Index>& values) { return Array::from<Index>(values, {static_cast<Index>(values.size())}); }

// x of the given extents broadcast to the argument s of `length` elements.
struct Runtime {
  Graph g{"rt"};
  Expr x, s, y;
  Runtime(const Shape& data, Index length, BroadcastMode mode, const std::vector<Index>* axes = nullptr)
      : x(g.input("x", f64, data)), s(g.input("s", i64, {length})), y(axes ? broadcast(x, s, mode, *axes) : broadcast(x, s, mode)) {
    g.outputs = {y.id()};
  }
  Array operator()(const Array& data, const std::vector<Index>& target) const { return interpret({y}, {x, s}, {data, indices(target)})[0]; }
  std::string error(const Array& data, const std::vector<Index>& target) const {
    return error_text([&] { (*this)(data, target); });
  }
};

// The same with the target as numbers.
Array fixed(const Array& data, const std::vector<Index>& target, BroadcastMode mode, const std::vector<Index>* axes = nullptr) {
  Graph g;
  const Expr x = g.input("x", f64, Shape(data.shape().begin(), data.shape().end()));
  const Shape shape(target.begin(), target.end());
  return interpret({axes ? broadcast(x, shape, mode, *axes) : broadcast(x, shape, mode)}, {x}, {data})[0];
}

void check_same(const Array& got, const Array& expected) {
  REQUIRE(got.shape() == expected.shape());
  for (Index k = 0; k < got.size(); ++k) CHECK(static_cast<const double*>(got.data())[k] == static_cast<const double*>(expected.data())[k]);
}
}  // namespace

TEST_CASE("elements of an integer input are symbols, in text and back") {
  const Runtime one({"n", 1}, 3, numpy), two({"n", 4}, 2, both);
  CHECK(to_text(one.g) ==
        "graph rt(%x: f64[n,1], %s: i64[3]) -> (%1) {\n"
        "  %0: f64[s[1],1] = broadcast(%x) to [s[1],1]\n"
        "  %1: f64[i:s[0],j:s[1],k:s[2]] = copy(%0[j,0])\n}\n");
  CHECK(to_text(two.g) ==
        "graph rt(%x: f64[n,4], %s: i64[2]) -> (%1) {\n"
        "  %0: f64[common(n,s[0]),4] = broadcast(%x) with [s[0],s[1]]\n"
        "  %1: f64[i:common(n,s[0]),j:4] = copy(%0[i,j])\n}\n");
  for (const Graph* graph : {&one.g, &two.g}) {
    const Graph again = parse(to_text(*graph));
    CHECK(same(*graph, again));
    CHECK(to_text(again) == to_text(*graph));
    verify(again);
  }
  CHECK(line_of(one.g, one.y.id()).find("broadcast(") == std::string::npos);
  const Runtime plain({1}, 2, numpy);                        // nothing to decide: extent 1 always repeats
  CHECK(to_text(plain.g) == "graph rt(%x: f64[1], %s: i64[2]) -> (%0) {\n  %0: f64[i:s[0],j:s[1]] = copy(%x[0])\n}\n");
  CHECK(!has_fits(plain.g));
}

TEST_CASE("every way in which axes meet gives what the same numbers give") {
  const std::vector<Index> axes{1}, matrix{0, 2};
  const struct { Shape data; BroadcastMode mode; const std::vector<Index>* axes; Dims sizes; std::vector<Index> target; } cases[] = {
      {{"n"}, numpy, nullptr, {3}, {2, 3}},        {{"n"}, numpy, nullptr, {1}, {2, 3}},          {{"n"}, numpy, nullptr, {1}, {2, 1}},
      {{"n"}, numpy, nullptr, {1}, {2, 0}},        {{"n"}, numpy, nullptr, {0}, {2, 0}},          {{3}, numpy, nullptr, {3}, {2, 3}},
      {{"n", "m"}, numpy, nullptr, {2, 1}, {2, 4}}, {{"n", "n"}, numpy, nullptr, {3, 3}, {3, 3}}, {{"n", 3}, numpy, nullptr, {1, 3}, {4, 3}},
      {{"n"}, along, &axes, {3}, {2, 3, 4}},       {{"n"}, along, &axes, {1}, {2, 3, 4}},         {{"n", 4}, along, &matrix, {1, 4}, {2, 3, 4}},
      {{"n"}, both, nullptr, {3}, {2, 1}},         {{"n"}, both, nullptr, {1}, {2, 5}},           {{"n"}, both, nullptr, {3}, {2, 3}},
      {{3}, both, nullptr, {3}, {2, 1}},           {{"n", 1, "m"}, both, nullptr, {4, 1, 3}, {5, 1}}, {{"n", 1}, both, nullptr, {1, 1}, {4, 4}},
      {{Extent("n") + 1, "n"}, numpy, nullptr, {4, 3}, {2, 4, 3}}, {{Extent("n") + 1, "n"}, numpy, nullptr, {1, 0}, {3, 0}},
  };
  for (const auto& c : cases) {
    CAPTURE(to_text(c.data));
    CAPTURE(to_text(Dims(c.target)));
    const Runtime f(c.data, static_cast<Index>(c.target.size()), c.mode, c.axes);
    check_same(f(case_x(c.sizes), c.target), fixed(case_x(c.sizes), c.target, c.mode, c.axes));
  }
}

TEST_CASE("one graph, many calls: a size that was 1 becomes another, and back") {
  const Runtime f({"n", "m"}, 2, both);
  for (const auto& [sizes, target] : std::vector<std::pair<Dims, std::vector<Index>>>{
           {{3, 4}, {3, 4}}, {{1, 4}, {3, 4}}, {{3, 1}, {1, 5}}, {{1, 1}, {1, 1}}, {{2, 4}, {1, 1}}, {{3, 4}, {3, 4}}, {{1, 1}, {0, 2}}})
    check_same(f(case_x(sizes), target), fixed(case_x(sizes), target, both));
}

TEST_CASE("settled graphs are ordinary: equal extents are one symbol, what repeats is index 0") {
  const Runtime f({"n", 4}, 2, numpy);
  const auto settled = [&](Index n, Index target) { return to_text(settle(f.g, {{"n", n}, {"s[0]", target}, {"s[1]", 4}})); };
  CHECK(settled(3, 3) ==
        "graph rt(%x: f64[n,4], %s: i64[2]) -> (%1) {\n  %0: f64[i:n,j:4] = copy(%x[i,j])\n  %1: f64[i:n,j:4] = copy(%0[i,j])\n}\n");
  CHECK(settled(1, 3) ==
        "graph rt(%x: f64[1,4], %s: i64[2]) -> (%1) {\n  %0: f64[i:s[0],j:4] = copy(%x[0,j])\n  %1: f64[i:s[0],j:4] = copy(%0[i,j])\n}\n");
  CHECK(fit_key(f.g, {{"n", 3}, {"s[0]", 3}, {"s[1]", 4}}) == "==");
  CHECK(fit_key(f.g, {{"n", 1}, {"s[0]", 3}, {"s[1]", 4}}) == "1=");
}

TEST_CASE("a state carried along an axis that repeats or not") {
  const Accumulator horner = Accumulator::fold("horner", 0.0, [](Expr state, Expr x) { return 3 * state + x; });
  Graph g("rt");
  const Expr x = g.input("x", f64, {"n"}), s = g.input("s", i64, {2});
  const Expr y = broadcast(x, s, both) * 2.0;                // s[1] is n, or either is 1
  const Expr all = scan(y, horner, 1), last = reduce(y, horner, {1});
  g.outputs = {all.id(), last.id()};
  CHECK(same(parse(to_text(g)), g));
  for (const auto& [size, target] : std::vector<std::pair<Index, Index>>{{3, 3}, {1, 4}, {3, 1}, {1, 1}, {0, 1}}) {
    CAPTURE(size);
    CAPTURE(target);
    const Array data = case_x({size});
    const auto results = interpret({all, last}, {x, s}, {data, indices({2, target})});
    const Index columns = size == 1 ? target : size;
    REQUIRE(results[0].shape() == Dims{2, columns});
    REQUIRE(results[1].shape() == Dims{2});
    for (Index row = 0; row < 2; ++row) {
      double state = 0;
      for (Index column = 0; column < columns; ++column) {
        state = 3 * state + 2 * static_cast<const double*>(data.data())[size == 1 ? 0 : column];
        CHECK(static_cast<const double*>(results[0].data())[row * columns + column] == state);
      }
      CHECK(static_cast<const double*>(results[1].data())[row] == state);
    }
    const Graph settled = settle(g, {{"n", size}, {"s[0]", 2}, {"s[1]", target}});
    verify(settled);
    CHECK(!has_fits(settled));
  }
}

TEST_CASE("gradients: the adjoint sums what repeated, and of that the adjoint repeats") {
  for (const auto& [size, target] : std::vector<std::pair<Index, Index>>{{3, 3}, {1, 3}, {3, 1}, {1, 1}}) {
    Graph g;
    const Expr x = g.input("x", f64, {"n"}), s = g.input("s", i64, {2});
    const Expr y = broadcast(tanh(x), s, both);
    const Expr loss = sum(y * y * y);
    const Expr gx = grad(loss, {x})[0], again = grad(sum(gx * gx), {x})[0];
    const auto at = [&](const Expr& e, const Array& xa) { return values_of(e, {x, s}, {xa, indices({2, target})}); };
    Array xa = case_x({size});
    auto* data = static_cast<double*>(xa.data());
    for (Index k = 0; k < size; ++k) data[k] *= 0.1;
    for (const auto& [value, slope] : {std::pair(loss, gx), std::pair(sum(gx * gx), again)}) {
      const Values got = at(slope, xa);
      REQUIRE(static_cast<Index>(got.size()) == size);
      for (Index k = 0; k < size; ++k) {
        const double x0 = data[k], h = 6e-6;
        data[k] = x0 + h;
        const double high = at(value, xa)[0];
        data[k] = x0 - h;
        const double low = at(value, xa)[0];
        data[k] = x0;
        CHECK(std::abs(got[static_cast<std::size_t>(k)] - (high - low) / (2 * h)) <= 1e-6 * std::max(1.0, std::abs(got[static_cast<std::size_t>(k)])));
      }
    }
  }
  const Runtime f({"n"}, 2, numpy);
  Graph& g = const_cast<Graph&>(f.g);
  const Expr gx = grad(sum(f.y), {f.x})[0];
  CHECK(line_of(g, gx.id()).find("unbroadcast(") != std::string::npos);
  g.outputs = {gx.id()};
  CHECK(same(parse(to_text(g)), g));
  CHECK(error_text([&] { interpret({gx}, {f.x, f.s}, {case_x({2}), indices({4, 3})}); }).starts_with(
      "shape: broadcast: axis 0 of the data has extent n = 2 but the target has s[1] = 3\n"));
}

TEST_CASE("forward mode and jacobians through a target that is an argument") {
  for (const auto mode : {numpy, both})
    for (const auto& [size, target] : std::vector<std::pair<Index, Index>>{{3, 3}, {1, 3}, {1, 1}, {3, 1}}) {
      if (mode == numpy && target < size) continue;
      Graph g;
      const Expr x = g.input("x", f64, {"n"}), t = g.input("t", f64, {"n"}), s = g.input("s", i64, {1});
      const Expr y = broadcast(x * x, s, mode);
      const Expr moved = jvp({y}, {x}, {t})[0], table = jacobian(y, x);
      const Array xa = case_x({size}), ta = case_x({size});
      const auto* at = static_cast<const double*>(xa.data());
      const Values tangent = values_of(moved, {x, t, s}, {xa, ta, indices({target})});
      const Values matrix = values_of(table, {x, t, s}, {xa, ta, indices({target})});
      const Index rows = std::max(size, target);
      REQUIRE(static_cast<Index>(tangent.size()) == rows);
      REQUIRE(static_cast<Index>(matrix.size()) == rows * size);
      for (Index row = 0; row < rows; ++row) {
        const Index from = size == 1 ? 0 : row;
        CHECK(tangent[static_cast<std::size_t>(row)] == 2 * at[from] * at[from]);
        for (Index column = 0; column < size; ++column)
          CHECK(matrix[static_cast<std::size_t>(row * size + column)] == (column == from ? 2 * at[from] : 0));
      }
    }
}

TEST_CASE("other broadcasts of the graph need no target") {
  Graph g;
  const Expr x = g.input("x", f64, {"n"}), s = g.input("s", i64, {2}), t = g.input("t", i64, {2});
  const Expr wanted = broadcast(x, s, numpy);
  broadcast(x, t, numpy);
  CHECK(interpret({wanted}, {x, s}, {case_x({3}), indices({2, 3})})[0].shape() == Dims{2, 3});
  CHECK(values_of(cast(s, f64) + 1, {s}, {indices({2, 3})}) == std::vector<double>{3, 4});
}

TEST_CASE("what a call is refused for") {
  const Runtime f({"n"}, 2, numpy), three({3}, 2, numpy), wide({"n"}, 2, both);
  CHECK(f.error(case_x({2}), {4, 3}) ==
        "shape: broadcast: axis 0 of %x has extent n = 2 but the target has s[1] = 3\n  %0: f64[s[1]] = broadcast(%x) to [s[1]]\n"
        "  only an axis of extent 1 is repeated");
  CHECK(f.error(case_x({2}), {4, 1}) ==
        "shape: broadcast: axis 0 of %x has extent n = 2 but the target has s[1] = 1\n  %0: f64[s[1]] = broadcast(%x) to [s[1]]\n"
        "  only an axis of extent 1 is repeated");
  CHECK(three.error(case_x({3}), {4, 2}) ==
        "shape: broadcast: axis 0 of %x has extent 3 but the target has s[1] = 2\n  %0: f64[3] = broadcast(%x) to [s[1]]\n"
        "  only an axis of extent 1 is repeated");
  CHECK(wide.error(case_x({2}), {4, 3}) ==
        "shape: broadcast: axis 0 of %x has extent n = 2 but the target has s[1] = 3\n  %0: f64[common(n,s[1])] = broadcast(%x) with [s[1]]\n"
        "  extents must be equal, or one of them 1");
  CHECK(f.error(case_x({2}), {4, -1}) == "shape: element 1 of %s is -1, which is no extent of an axis");
  Graph g;
  const Expr x = g.input("x", f64, {3, 3}), s = g.input("s", i64, {1});
  CHECK(error_text([&] { broadcast(x, s); }) ==
        "shape: broadcast: %x has rank 2 but the target [s[0]] has rank 1\n  squeeze or reduce the surplus axes first");
  const Expr y = g.input("y", f64, {"s[0]"});
  CHECK(error_text([&] { interpret({y + 1.0}, {s, y}, {indices({3}), case_x({4})}); }) == "shape: symbol s[0] is 4 on axis 0 of %y but 3 in %s");
  const Expr z = broadcast(y, s);
  g.outputs = {z.id()};
  CHECK(error_text([&] { verify(parse("graph g(%s: i64[1], %x: f64[1]) -> (%0) {\n  %0: f64[i:s[1]] = copy(%x[0])\n}\n")); }) ==
        "shape: symbol s[1] is not bound by any input\n  %0: f64[i:s[1]] = copy(%x[0])\n  add the input %s: an integer vector of more than 1 elements");
}
