// x.slice({...}): NumPy's rules on numbers, the same on symbols, and the shape functions that are slices in disguise.
#include <doctest/doctest.h>

#include <weft/expr.h>
#include <weft/text.h>

#include "error_text.h"
#include "values.h"

using namespace weft;

namespace {

// NumPy's slice.indices, written as the loop it stands for.
std::vector<double> walk(Index size, std::optional<Index> start, std::optional<Index> stop, Index step) {
  std::vector<double> result;
  Index at = start ? (*start < 0 ? *start + size : *start) : (step > 0 ? 0 : size - 1);
  Index end = stop ? (*stop < 0 ? *stop + size : *stop) : (step > 0 ? size : -1);
  if (step > 0) at = std::max<Index>(at, 0);
  else at = std::min<Index>(at, size - 1);
  if (stop && step < 0) end = std::max<Index>(end, -1);
  for (; step > 0 ? at < std::min(end, size) : at > end; at += step)
    if (at >= 0 && at < size) result.push_back(static_cast<double>(at));
  return result;
}

Array counting(Index size) {
  std::vector<double> values;
  for (Index k = 0; k < size; ++k) values.push_back(static_cast<double>(k));
  return doubles(values, {size});
}

}  // namespace

TEST_CASE("every start, stop and step on a static axis is what NumPy gives") {
  const std::optional<Index> none;
  std::vector<std::optional<Index>> ends{none};
  for (Index k = -7; k <= 7; ++k) ends.push_back(k);
  for (Index size : {0, 1, 5})
    for (const auto& start : ends)
      for (const auto& stop : ends)
        for (Index step : {1, 2, 3, -1, -2, -7}) {
          Graph g;
          const Expr x = g.input("x", f64, {size});
          CAPTURE(size);
          CAPTURE(to_text(x.slice({Slice{start, stop, step}}).shape()));
          CHECK(values_of(x.slice({Slice{start, stop, step}}), {x}, {counting(size)}) == walk(size, start, stop, step));
        }
}

TEST_CASE("symbolic extents: the shape is an expression and the values are NumPy's") {
  const struct { Slice slice; Shape shape; } cases[] = {
      {{}, {"n"}},
      {{1, {}}, {Extent("n") - 1}},
      {{{}, -1}, {Extent("n") - 1}},
      {{1, -1}, {Extent("n") - 2}},
      {{-3, {}}, {3}},
      {{-3, -1}, {2}},
      {{-1, -3}, {0}},
      {{{}, {}, 2}, {floor_div(Extent("n") + 1, 2)}},
      {{1, {}, 2}, {floor_div(Extent("n"), 2)}},
      {{{}, {}, -1}, {"n"}},
      {{{}, {}, -2}, {floor_div(Extent("n") + 1, 2)}},
      {{-2, 0, -1}, {Extent("n") - 2}},
      {{-2, {}, -1}, {Extent("n") - 1}},
  };
  for (const auto& c : cases)
    for (Index size : {4, 5, 9}) {
      Graph g;
      const Expr x = g.input("x", f64, {"n"}), y = x.slice({c.slice});
      CHECK(to_text(y.shape()) == to_text(c.shape));
      CHECK(values_of(y, {x}, {counting(size)}) == walk(size, c.slice.start, c.slice.stop, c.slice.step));
    }
}

TEST_CASE("a first part is one node, and its bounds are checked at the call") {
  Graph g;
  const Expr x = g.input("x", f64, {"n", 8}), y = x.slice({Slice{{}, -1}, Slice{{}, 3}});
  CHECK(line_of(g, y.id()) == "%0: f64[i:n-1,j:3] = copy(%x[i+0,j+0])");
  CHECK(error_text([&] { interpret({y}, {x}, {Array(f64, {0, 8})}); }) ==
        "shape: an axis cannot have extent n-1 = -1\n  %0: f64[i:n-1,j:3] = copy(%x[i+0,j+0])");
  const Graph wrong = parse("graph g(%x: f64[n], %y: f64[m]) -> (%0) { %0: f64[i:n] = add(%x[i], %y[i+0]) }");
  CHECK(error_text([&] { interpret(wrong, wrong.outputs, wrong.inputs, {counting(3), counting(2)}); }) ==
        "shape: indices 0 to 2 are outside axis 0 of %y, which has extent m = 2\n  %0: f64[i:n] = add(%x[i], %y[i+0])\n"
        "                            ^~~~~~~");
  CHECK(interpret(wrong, wrong.outputs, wrong.inputs, {counting(2), counting(3)})[0].to_vector<double>() == std::vector<double>{0, 2});
}

TEST_CASE("an integer drops its axis, axes not named stay whole") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3}), s = g.input("s", f64, {"n"});
  const Array a = doubles({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(x.slice({1}).shape() == Shape{3});
  CHECK(values_of(x.slice({1}), {x}, {a}) == std::vector<double>{4, 5, 6});
  CHECK(values_of(x.slice({Slice::all, -1}), {x}, {a}) == std::vector<double>{3, 6});
  CHECK(x.slice({-2, 1}).shape() == Shape{});
  CHECK(values_of(x.slice({-2, 1}), {x}, {a}) == std::vector<double>{2});
  CHECK(values_of(x.slice({{{}, {}, -1}, {{}, 2}}), {x}, {a}) == std::vector<double>{4, 5, 1, 2});
  CHECK(values_of(s.slice({-1}), {s}, {counting(6)}) == std::vector<double>{5});
  CHECK(x.slice({}).shape() == Shape{2, 3});
}

TEST_CASE("what a slice cannot do") {
  Graph g;
  const Expr x = g.input("x", f64, {2, "n"});
  CHECK(error_text([&] { x.slice({2}); }) == "shape: slice: index 2 is outside axis 0 of %x, which has extent 2");
  CHECK(error_text([&] { x.slice({-3}); }) == "shape: slice: index -3 is outside axis 0 of %x, which has extent 2");
  CHECK(error_text([&] { x.slice({0, 0, 0}); }) == "shape: slice: %x of shape [2, n] has 2 axes but 3 slices are given");
  CHECK(error_text([&] { x.slice({{0, 2, 0}}); }) == "usage: slice: the step of 0:2:0 on axis 0 of %x is 0");
  CHECK(error_text([&] { x.slice({Slice::all, {{}, 3}}); }) ==
        "unsupported: slice: stop 3 on axis 1 of %x, whose extent n is symbolic\n"
        "  count from the end with a negative number, or declare the axis with a number");
  CHECK(error_text([&] { x.slice({Slice::all, {3, {}, -1}}); }) ==
        "unsupported: slice: start 3 on axis 1 of %x, whose extent n is symbolic\n"
        "  count from the end with a negative number, or declare the axis with a number");
  CHECK(error_text([&] { Expr().slice({}); }) == "usage: slice: the operand is an empty Expr");
  CHECK(g.size() == 1);
}

TEST_CASE("flip, permute_dims, transpose, expand_dims and squeeze") {
  Graph g;
  const Expr x = g.input("x", f64, {2, 3}), u = g.input("u", f64, {1, "n", 1}), v = g.input("v", f64, {3});
  const Array a = doubles({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(values_of(flip(x), {x}, {a}) == std::vector<double>{6, 5, 4, 3, 2, 1});
  CHECK(values_of(flip(x, -1), {x}, {a}) == std::vector<double>{3, 2, 1, 6, 5, 4});
  CHECK(g.map(flip(u, 1).id(), 0)[1] == AxisRef{1, Extent("n") - 1, -1});
  CHECK(values_of(transpose(x), {x}, {a}) == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(permute_dims(u, {1, -1, 0}).shape() == Shape{"n", 1, 1});
  CHECK(matrix_transpose(u).shape() == Shape{1, 1, "n"});
  CHECK(expand_dims(x, 0).shape() == Shape{1, 2, 3});
  CHECK(expand_dims(x, -1).shape() == Shape{2, 3, 1});
  CHECK(values_of(expand_dims(x, 1), {x}, {a}) == a.to_vector<double>());
  CHECK(squeeze(u).shape() == Shape{"n"});
  CHECK(squeeze(u, 0).shape() == Shape{"n", 1});
  CHECK(values_of(squeeze(u), {u}, {doubles({7, 8}, {1, 2, 1})}) == std::vector<double>{7, 8});
  CHECK(error_text([&] { squeeze(x, 1); }) == "shape: squeeze: axis 1 of %x has extent 3, expected 1\n  slice or reduce the axis to drop it");
  CHECK(error_text([&] { expand_dims(x, 3); }) == "shape: expand_dims: axis 3 is outside %x of shape [2, 3]\n  the new axis may be at -3 to 2");
  CHECK(error_text([&] { permute_dims(x, {0}); }) == "shape: permute_dims: %x has rank 2 but 1 axes are given\n  name every axis once");
  CHECK(error_text([&] { permute_dims(x, {0, -2}); }) == "shape: permute_dims: axis 0 of %x is named twice");
  CHECK(error_text([&] { matrix_transpose(v); }) == "shape: matrix_transpose: expected rank 2 or more, got %v of rank 1");
}

TEST_CASE("ends and steps as large as numbers go") {
  constexpr Index most = std::numeric_limits<Index>::max(), least = std::numeric_limits<Index>::min();
  Graph g;
  const Expr x = g.input("x", f64, {3, 4}), y = g.input("y", f64, {"n"});
  CHECK(x.slice({Slice{{}, {}, Index{1} << 40}}).shape() == Shape{1, 4});
  CHECK(x.slice({Slice{{}, {}, -(Index{1} << 40)}}).shape() == Shape{1, 4});
  CHECK(x.slice({Slice{least + 3, most}}).shape() == Shape{3, 4});
  for (const Index step : {most, least, (Index{1} << 40) + 1}) {
    CHECK(error_text([&] { x.slice({Slice{{}, {}, step}}); }).find("is more than 1099511627776") != std::string::npos);
    CHECK(error_text([&] { y.slice({Slice{{}, {}, step}}); }).find("is more than 1099511627776") != std::string::npos);
  }
}
