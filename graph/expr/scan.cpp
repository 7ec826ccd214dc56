#include <algorithm>

#include <weft/rearrange.h>
#include <weft/recurrence.h>

#include "axes.h"
#include "broadcast/align.h"
#include "maps.h"

namespace weft {
namespace {

void check_operands(std::string_view what, const std::vector<Expr>& xs) {
  WEFT_REQUIRE(!xs.empty(), usage, what, ": expected at least one operand");
  for (const Expr& x : xs) {
    WEFT_REQUIRE(!x.is_empty(), usage, what, ": an operand is an empty Expr");
    check_same_graph(what, xs[0], x);
  }
}

std::vector<DType> dtypes_of(const std::vector<Expr>& xs) {
  std::vector<DType> dtypes;
  for (const Expr& x : xs) dtypes.push_back(x.dtype());
  return dtypes;
}

// The xs over their common domain.
Alignment align(std::string_view what, const std::vector<Expr>& xs) {
  std::vector<Shape> shapes;
  for (const Expr& x : xs) shapes.push_back(x.shape());
  return align_array_api(what, shapes, [&](std::size_t k) { return xs[k].name(); });
}

int axis_of_domain(std::string_view what, const Shape& domain, int axis) {
  const int rank = static_cast<int>(domain.size());
  WEFT_REQUIRE(axis >= -rank && axis < rank, shape, what, ": axis ", axis, " is outside the shape ", to_text(domain));
  return axis < 0 ? axis + rank : axis;
}

std::vector<int> axes_of_domain(std::string_view what, const Shape& domain, const Axes& axes) {
  std::vector<int> positions;
  if (axes.is_all())
    for (std::size_t k = 0; k < domain.size(); ++k) positions.push_back(static_cast<int>(k));
  else
    for (int axis : axes.list()) positions.push_back(axis_of_domain(what, domain, axis));
  std::sort(positions.begin(), positions.end());
  const auto twice = std::adjacent_find(positions.begin(), positions.end());
  WEFT_REQUIRE(twice == positions.end(), shape, what, ": axis ", *twice, " is named twice");
  return positions;
}

std::vector<Operand> operands_of(const std::vector<Expr>& xs, const std::vector<AxisMap>& maps) {
  std::vector<Operand> operands;
  for (std::size_t k = 0; k < xs.size(); ++k) operands.push_back({xs[k].id(), maps[k]});
  return operands;
}

}  // namespace

Expr recur_fold(Graph& graph, std::shared_ptr<const Recurrence> what, int output, Shape domain, int kept, std::vector<Operand> operands, Order order) {
  Node node;
  node.kind = Kind::recurrence;
  node.mode = Mode::accumulate;
  node.dtype = what->finish.node(what->finish.outputs[static_cast<std::size_t>(output)]).dtype;
  node.domain = std::move(domain);
  node.kept = kept;
  node.order = order;
  node.payload = Recurring{std::move(what), output, {}, false};
  return Expr(graph, graph.add(std::move(node), std::move(operands)));
}

Expr recur_scan(Graph& graph, std::shared_ptr<const Recurrence> what, int output, Shape domain, std::vector<int> axes, std::vector<Operand> operands, Order order, bool backwards) {
  Node node;
  node.kind = Kind::recurrence;
  node.mode = Mode::scan;
  node.dtype = what->step.node(what->step.outputs[what->states() + static_cast<std::size_t>(output)]).dtype;
  node.kept = static_cast<int>(domain.size());
  node.domain = std::move(domain);
  node.order = order;
  node.payload = Recurring{std::move(what), output, std::move(axes), backwards};
  return Expr(graph, graph.add(std::move(node), std::move(operands)));
}

std::vector<Expr> reduce_all(const std::vector<Expr>& xs, const Accumulator& acc, const Axes& axes, bool keepdims, Order order) {
  check_operands(acc.name(), xs);
  const Alignment aligned = align(acc.name(), xs);
  std::vector<int> folded = axes_of_domain(acc.name(), aligned.domain, axes);
  const auto what = acc.recurrence(dtypes_of(xs));
  if (order == Order::f) std::reverse(folded.begin(), folded.end());
  Folding folding = folding_of(aligned.domain, folded, keepdims);
  if (folded.empty()) folding.domain.push_back(1);             // one step: a fold of single elements
  std::vector<Operand> operands = operands_of(xs, aligned.maps);
  for (Operand& operand : operands) operand.map = compose(operand.map, folding.map);
  std::vector<Expr> results;
  for (std::size_t k = 0; k < what->finish.outputs.size(); ++k)
    results.push_back(recur_fold(xs[0].graph(), what, static_cast<int>(k), folding.domain, folding.kept, operands, order));
  return results;
}
Expr reduce(const std::vector<Expr>& xs, const Accumulator& acc, const Axes& axes, bool keepdims, Order order) {
  return reduce_all(xs, acc, axes, keepdims, order)[0];
}
Expr reduce(const Expr& x, const Accumulator& acc, const Axes& axes, bool keepdims, Order order) {
  return reduce(std::vector<Expr>{x}, acc, axes, keepdims, order);
}

std::vector<Expr> scan_all(const std::vector<Expr>& xs, const Accumulator& acc, int axis) {
  check_operands(acc.name(), xs);
  const Alignment aligned = align(acc.name(), xs);
  const int along = axis_of_domain(acc.name(), aligned.domain, axis);
  const auto what = acc.recurrence(dtypes_of(xs));
  std::vector<Expr> results;
  for (std::size_t k = 0; k < what->finish.outputs.size(); ++k)
    results.push_back(recur_scan(xs[0].graph(), what, static_cast<int>(k), aligned.domain, {along}, operands_of(xs, aligned.maps)));
  return results;
}
Expr scan(const std::vector<Expr>& xs, const Accumulator& acc, int axis) { return scan_all(xs, acc, axis)[0]; }
Expr scan(const Expr& x, const Accumulator& acc, int axis) { return scan(std::vector<Expr>{x}, acc, axis); }

namespace {

Expr cumulative(const char* what, const Expr& x, AccumulatorId acc, std::optional<int> axis, const ScanOptions& options) {
  WEFT_REQUIRE(!x.is_empty(), usage, what, ": the operand is an empty Expr");
  WEFT_REQUIRE(axis || x.rank() == 1, usage, what, ": ", x.name(), " has rank ", x.rank(), "\n  name the axis");
  const int along = normalize_axis(what, x, axis.value_or(0));
  const bool widens = acc == AccumulatorId::sum || acc == AccumulatorId::prod;
  WEFT_REQUIRE(widens || !options.include_initial, usage, what, ": has no initial value\n  concatenate one");
  WEFT_REQUIRE(widens || !options.dtype, usage, what, ": keeps the dtype of ", x.name(), "\n  cast the result");
  const DType least = reduced_dtype(x, acc), dtype = options.dtype.value_or(least);
  check_accumulation(what, x, least, dtype);
  const Expr from = options.reverse ? flip(x, along) : x;
  Node node;
  node.kind = Kind::recurrence;
  node.mode = Mode::scan;
  node.dtype = dtype;
  node.domain = x.shape();
  node.kept = x.rank();
  node.accumulator = acc;
  node.payload = Recurring{builtin_scan(acc, x.dtype(), dtype), 0, {along}, false};
  const Expr result(x.graph(), x.graph().add(std::move(node), {{from.id(), identity_map(x.rank())}}));
  const Expr scanned = options.reverse ? flip(result, along) : result;
  if (!options.include_initial) return scanned;
  Shape one = x.shape();
  one[static_cast<std::size_t>(along)] = 1;
  const Expr initial = full(x.graph(), dtype, one, acc == AccumulatorId::sum ? 0 : 1);
  return options.reverse ? concat({scanned, initial}, along) : concat({initial, scanned}, along);
}

}  // namespace

Expr cumulative_sum(const Expr& x, std::optional<int> axis, ScanOptions options) { return cumulative("cumulative_sum", x, AccumulatorId::sum, axis, options); }
Expr cumulative_prod(const Expr& x, std::optional<int> axis, ScanOptions options) { return cumulative("cumulative_prod", x, AccumulatorId::prod, axis, options); }
Expr cumulative_max(const Expr& x, std::optional<int> axis, ScanOptions options) { return cumulative("cumulative_max", x, AccumulatorId::max, axis, options); }
Expr cumulative_min(const Expr& x, std::optional<int> axis, ScanOptions options) { return cumulative("cumulative_min", x, AccumulatorId::min, axis, options); }

}  // namespace weft
