#include "shared_operands.h"

#include <algorithm>

#include "cost_model.h"

namespace weft {

namespace {

bool has(const std::vector<int>& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

std::vector<int> bound(std::vector<int> axes) {
  std::erase(axes, -1);
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace

SharedOperands::SharedOperands(const Graph& graph, const Nest& nest) : axes_(nest.axes) {
  int sums = -1, instructions = 0;
  for (const Placed& placed : nest.nodes) {
    const Node& node = graph.node(placed.node);
    if (node.kind != Kind::apply) return;
    const auto end_of_kept = placed.axes.begin() + node.kept;
    const std::vector<int> kept = bound({placed.axes.begin(), end_of_kept}), folded = bound({end_of_kept, placed.axes.end()});
    if (folded.empty() || kept.size() < 2) continue;
    const bool fits = is_ordered(node.accumulator, node.dtype) && (node.dtype == f32 || node.dtype == f64) && folded.size() == 1 && nest.axes[static_cast<std::size_t>(folded[0])].hint >= fold_slots;
    if (!fits || (sums >= 0 && (folded[0] != sums || kept != kept_))) return;
    sums = folded[0];
    kept_ = kept;
  }
  if (sums < 0) return;
  for (const Placed& placed : nest.nodes)
    if (has(placed.axes, sums)) instructions += node_cost(graph.node(placed.node)) + static_cast<int>(graph.arity(placed.node));
  if (instructions <= small_body) sums_ = sums;
}

// The axis of the rows that share the operand, if it is one; else -1.
int SharedOperands::rows_for(const Placed& placed, const AxisMap& map, int lanes) const {
  if (sums_ < 0 || !has(kept_, lanes)) return -1;
  std::vector<int> axes;
  for (const AxisRef& ref : map)
    if (ref.axis >= 0) axes.push_back(placed.axes[static_cast<std::size_t>(ref.axis)]);
  if (!has(axes, lanes) || !has(axes, sums_)) return -1;
  int rows = -1;
  for (int axis : kept_)
    if (axis != lanes && !has(axes, axis) && has(placed.axes, axis) && axes_[static_cast<std::size_t>(axis)].hint >= rows_that_share) rows = axis;
  return rows;
}

Index SharedOperands::rows_of(const Placed& placed, const AxisMap& map, int lanes) const {
  const int rows = rows_for(placed, map, lanes);
  return rows < 0 ? 0 : axes_[static_cast<std::size_t>(rows)].hint;
}

SharedOperands::Loops SharedOperands::loops(const Graph& graph, const Nest& nest, int lanes) const {
  Loops found;
  for (const Placed& placed : nest.nodes)
    for (int k = 0; k < graph.arity(placed.node); ++k) {
      if (nest.find(graph.operand(placed.node, k))) continue;
      if (const int rows = rows_for(placed, graph.map(placed.node, k), lanes); rows >= 0) found = {rows, sums_};
    }
  return found;
}

}  // namespace weft
