// update, triangles and arrays made of their index.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <weft/broadcast.h>
#include <weft/rearrange.h>

#include "axes.h"
#include "broadcast/align.h"
#include "windows.h"

namespace weft {
namespace {

// The value at the places of the window, over those axes of x that it follows, and how they lie in x.
Operand placed_value(const Expr& x, const Window& window, Expr value, const AxisMap& onto) {
  const Shape shape = x.shape();
  std::vector<int> value_axis(window.shape.size(), -1);                        // by window axis
  AxisMap kept(onto.size());
  Shape own;
  for (std::size_t k = 0; k < onto.size(); ++k) {
    if (onto[k].axis < 0 || value.shape()[k].is(1)) continue;                  // repeats
    value_axis[static_cast<std::size_t>(onto[k].axis)] = static_cast<int>(own.size());
    kept[k].axis = static_cast<int>(own.size());
    own.push_back(value.shape()[k]);
  }
  if (own.size() != onto.size()) value = copy_through(value, own, kept);
  Shape domain;
  AxisMap places, seen;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    AxisRef ref = window.map[k];
    const bool follows = ref.axis >= 0 && value_axis[static_cast<std::size_t>(ref.axis)] >= 0;
    if (!follows && (ref.axis >= 0 || ref.start.is_number())) continue;       // an index that a symbol decides is checked at the call
    if (follows) ref.axis = value_axis[static_cast<std::size_t>(ref.axis)];
    seen.push_back(AxisRef{static_cast<int>(k), 0, 1});
    places.push_back(ref);
    domain.push_back(shape[k]);
  }
  if (domain.empty()) return Operand{value.id(), {}};
  return Operand{scatter(value, domain, std::move(places)).id(), std::move(seen)};
}

// Whether an index is in the window; none if it covers x.
Expr is_written(const Expr& x, const Window& window) {
  Graph& graph = x.graph();
  const Shape shape = x.shape();
  Expr result;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const AxisRef& ref = window.map[k];
    const Extent count = ref.axis < 0 ? Extent(1) : window.shape[static_cast<std::size_t>(ref.axis)];
    if (ref.is_direct() && count == shape[k]) continue;
    Shape wide(shape.size() - k, Extent(1));
    wide[0] = shape[k];
    const Expr reached = copy_through(index_reached(graph, shape[k], ref, count), wide, identity_map(1));
    result = result.is_empty() ? reached : logical_and(result, reached);
  }
  return result;
}

}  // namespace

Expr update(const Expr& x, const std::vector<Slice>& slices, const Value& value) {
  const Window window = window_of("update", x, slices);
  Graph& graph = x.graph();
  AxisMap onto;
  if (value.is_literal()) {
    check_fill("update", value, x.dtype());
  } else {
    const Expr& expr = value.expr();
    check_one_graph("update", {x, expr});
    WEFT_REQUIRE(holds(x.dtype(), expr.dtype()), dtype, "update: the value ", expr.name(), " is ", expr.dtype(), " and does not fit ", x.name(),
                 ", which is ", x.dtype(), "\n  cast it");
    onto = align_onto("update", expr, window.shape);
  }
  const Expr given = value.is_literal() ? fill_of(graph, value, x.dtype()) : cast(value.expr(), x.dtype());
  const Operand placed = placed_value(x, window, given, onto);
  const Expr written = is_written(x, window);
  if (written.is_empty()) return Expr(graph, graph.apply(Op::copy, x.dtype(), x.shape(), {placed}));
  AxisMap map = identity_map(x.rank());                                        // aligned at the last axes
  const Shape condition = written.shape();
  AxisMap seen(condition.size());
  for (std::size_t k = 0; k < condition.size(); ++k)
    if (!condition[k].is(1)) seen[k].axis = x.rank() - static_cast<int>(condition.size() - k);
  return Expr(graph, graph.apply(Op::where, x.dtype(), x.shape(), {Operand{written.id(), std::move(seen)}, placed, Operand{x.id(), std::move(map)}}));
}

namespace {

// column - row compared with k, of shape [rows, columns].
Expr beside_diagonal(Graph& graph, Op op, const Extent& rows, const Extent& columns, Index k) {
  const Expr column = iota(graph, columns), row = expand_dims(iota(graph, rows), 1);
  return elementwise(op, {subtract(column, row), k});
}

Expr triangle(std::string_view what, const Expr& x, Op op, Index k) {
  WEFT_REQUIRE(!x.is_empty(), usage, what, ": the operand is an empty Expr");
  const Shape shape = x.shape();
  WEFT_REQUIRE(shape.size() >= 2, shape, what, ": expected rank 2 or more, got ", x.name(), " of rank ", shape.size());
  const Expr keep = beside_diagonal(x.graph(), op, shape[shape.size() - 2], shape[shape.size() - 1], k);
  return where(keep, x, x.graph().constant(Scalar::of(x.dtype(), std::int64_t{0})));
}

}  // namespace

Expr tril(const Expr& x, Index k) { return triangle("tril", x, Op::less_equal, k); }
Expr triu(const Expr& x, Index k) { return triangle("triu", x, Op::greater_equal, k); }

Expr full(Graph& graph, DType dtype, const Shape& shape, const Value& value) {
  check_fill("full", value, dtype);
  if (!value.is_literal())
    WEFT_REQUIRE(&value.expr().graph() == &graph, usage, "full: ", value.expr().name(), " is in graph \"", value.expr().graph().name, "\", not in \"",
                 graph.name, "\"");
  for (const Extent& extent : shape) WEFT_REQUIRE(!extent.is_number() || extent.constant() >= 0, shape, "full: an axis cannot have extent ", extent, " in ", to_text(shape));
  return Expr(graph, graph.apply(Op::copy, dtype, shape, {Operand{fill_of(graph, value, dtype).id(), {}}}));
}
Expr zeros(Graph& graph, DType dtype, const Shape& shape) { return full(graph, dtype, shape, is_boolean(dtype) ? Value(false) : Value(0)); }
Expr ones(Graph& graph, DType dtype, const Shape& shape) { return full(graph, dtype, shape, is_boolean(dtype) ? Value(true) : Value(1)); }

Expr eye(Graph& graph, DType dtype, const Extent& rows, const Extent& columns, Index k) {
  return cast(beside_diagonal(graph, Op::equal, rows, columns, k), dtype);
}

Expr arange(Graph& graph, const Extent& start, const Extent& stop, Index step, DType dtype) {
  WEFT_REQUIRE(step != 0, usage, "arange: the step from ", start, " to ", stop, " is 0");
  WEFT_REQUIRE(!is_boolean(dtype), dtype, "arange: expected a numeric dtype, got bool");
  const Extent distance = step > 0 ? stop - start : start - stop;
  Extent count = floor_div(distance + (std::abs(step) - 1), std::abs(step));
  if (count.is_number() && count.constant() < 0) count = 0;
  Expr values = iota(graph, count);
  if (step != 1) values = values * step;
  if (!start.is_number()) values = values + Expr(graph, graph.extent(start).id());
  else if (!start.is(0)) values = values + start.constant();
  return cast(values, dtype);
}

Expr arange_of_doubles(Graph& graph, double start, double stop, double step, DType dtype) {
  WEFT_REQUIRE(is_floating(dtype), dtype, "arange: bounds that are not integers make a floating dtype, got ", dtype);
  const double count = std::ceil((stop - start) / step);
  WEFT_REQUIRE(std::isfinite(count) && count < 9e15, usage, "arange: from ", start, " to ", stop, " in steps of ", step, " is not a finite number of elements");
  const Expr index = iota(graph, static_cast<Index>(std::max(count, 0.0)), f64);
  return cast(index * step + start, dtype);
}

Expr linspace(Graph& graph, DType dtype, double start, double stop, Index count, bool endpoint) {
  WEFT_REQUIRE(is_floating(dtype), dtype, "linspace: expected a floating dtype, got ", dtype);
  WEFT_REQUIRE(count >= 0, usage, "linspace: expected a count of 0 or more, got ", count);
  const Index steps = endpoint ? count - 1 : count;
  const Expr index = iota(graph, count, f64);
  Expr values = index * (steps > 0 ? (stop - start) / static_cast<double>(steps) : 0.0) + start;
  if (endpoint && count > 1) values = where(equal(index, static_cast<double>(count - 1)), stop, values);
  return cast(values, dtype);
}

}  // namespace weft
