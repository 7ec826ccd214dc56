// argmax and argmin: along an axis the extreme, then the smallest index at which it stands. Several axes go from the last to
// the first: the rows' extremes fold on, and an index is what stands before its row plus the index within it.
#include <algorithm>
#include <limits>

#include "axes.h"

namespace weft {
namespace {

Expr index_along(Graph& graph, const Extent& extent, const Extent& stride) {
  const Expr index = iota(graph, extent);
  return stride.is(1) ? index : index * graph.extent(stride);
}

// The map of a value that lacks `axis`.
AxisMap without(int axis, int rank) {
  AxisMap map;
  for (int k = 0; k < rank; ++k)
    if (k != axis) map.push_back(AxisRef{k, 0, 1});
  return map;
}

// Extremes and their indices; `index` is empty while no axis has been folded.
struct State {
  Expr extreme, index;
};

State fold_one_axis(const State& before, AccumulatorId acc, int axis, const Extent& stride) {
  const Expr& x = before.extreme;
  Graph& graph = x.graph();
  const Shape shape = x.shape();
  const AxisMap along{AxisRef{axis, 0, 1}};
  State after;
  after.extreme = fold_axes(x, acc, {axis}, false, x.dtype());
  Expr hit(graph, graph.apply(Op::equal, bool_, shape, {{x.id(), identity_map(x.rank())}, {after.extreme.id(), without(axis, x.rank())}}));
  if (is_floating(x.dtype())) hit = hit | isnan(x);          // a NaN is the extreme, and equals nothing
  Operand index{index_along(graph, shape[static_cast<std::size_t>(axis)], stride).id(), along};
  if (!before.index.is_empty())
    index = {graph.apply(Op::add, i64, shape, {std::move(index), {before.index.id(), identity_map(x.rank())}}), identity_map(x.rank())};
  Folding folding = folding_of(shape, {axis}, false);
  for (AxisRef& ref : index.map) ref = folding.map[static_cast<std::size_t>(ref.axis)];
  const Expr none = graph.constant(std::numeric_limits<std::int64_t>::max());
  std::vector<Operand> operands{{hit.id(), std::move(folding.map)}, std::move(index), {none.id(), {}}};
  after.index = Expr(graph, graph.fold(AccumulatorId::min, Op::where, i64, std::move(folding.domain), folding.kept, std::move(operands)));
  return after;
}

Expr argument(std::string_view what, AccumulatorId acc, const Expr& x, const Axes& axes, bool keepdims) {
  const std::vector<int> positions = normalize_axes(what, x, axes);
  const Shape shape = x.shape();
  State state{x, {}};
  Extent stride = 1;
  for (std::size_t k = positions.size(); k-- > 0;) {
    state = fold_one_axis(state, acc, positions[k], stride);
    stride = stride * shape[static_cast<std::size_t>(positions[k])];
  }
  if (positions.empty()) {                                   // every element is its own extreme
    const Expr zero = x.graph().constant(std::int64_t{0});
    return Expr(x.graph(), x.graph().apply(Op::where, i64, shape, {{isnan(x).id(), identity_map(x.rank())}, {zero.id(), {}}, {zero.id(), {}}}));
  }
  if (!keepdims) return state.index;
  Shape domain = shape;
  for (int axis : positions) domain[static_cast<std::size_t>(axis)] = 1;
  AxisMap map;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (!std::binary_search(positions.begin(), positions.end(), axis)) map.push_back(AxisRef{axis, 0, 1});
  return copy_through(state.index, std::move(domain), std::move(map));
}

}  // namespace

Expr argmax(const Expr& x, const Axes& axes, bool keepdims) { return argument("argmax", AccumulatorId::max, x, axes, keepdims); }
Expr argmin(const Expr& x, const Axes& axes, bool keepdims) { return argument("argmin", AccumulatorId::min, x, axes, keepdims); }

}  // namespace weft
