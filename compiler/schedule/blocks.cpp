#include "blocks.h"

#include <algorithm>

#include "cost_model.h"

namespace weft {
namespace {

bool is_root(const Nest& nest, int axis) { return axis < 0 || axis == nest.vars[0].axis; }

double elements_of_row(const Nest& nest, const Placed& placed) {
  double elements = 1;
  for (int axis : placed.axes)
    if (!is_root(nest, axis)) elements *= static_cast<double>(nest.axes[static_cast<std::size_t>(axis)].hint);
  return elements;
}

bool folds_row(const Nest& nest, const Node& node, const Placed& placed) {
  return node.mode == Mode::accumulate && std::all_of(placed.axes.begin(), placed.axes.begin() + node.kept, [&](int axis) { return is_root(nest, axis); });
}

// Whether it sums up the rows to one, for which sixteen are kept.
bool sums_rows(const Nest& nest, const Node& node, const Placed& placed) {
  if (node.mode != Mode::accumulate || node.kept == 0 || !is_ordered(node.accumulator, node.dtype)) return false;
  return std::find(placed.axes.begin() + node.kept, placed.axes.end(), nest.vars[0].axis) != placed.axes.end();
}

// Whether the node, which runs along a row, reads a value of the whole row: its elements are needed again then.
bool reads_row_value(const Graph& graph, const Nest& nest, const Placed& placed) {
  for (int k = 0; k < graph.arity(placed.node); ++k)
    if (const Placed* operand = nest.find(graph.operand(placed.node, k)); operand && follows_root_alone(nest, *operand)) return true;
  return false;
}

// What its row is folded to, such as the largest of its elements, for the node itself.
bool reads_folded_row(const Graph& graph, const Nest& nest, const Placed& placed) {
  for (int k = 0; k < graph.arity(placed.node); ++k)
    if (const Placed* operand = nest.find(graph.operand(placed.node, k)); operand && folds_row(nest, graph.node(operand->node), *operand)) return true;
  return false;
}

// Whether the node divides elements by a value of their row: what a quotient needs of its divisor is found once for the row.
bool divides_by_row_value(const Graph& graph, const Nest& nest, const Placed& placed) {
  const Node& node = graph.node(placed.node);
  if (node.kind != Kind::apply || node.op != Op::divide) return false;
  const Placed* divisor = nest.find(graph.operand(placed.node, 1));
  return divisor && follows_root_alone(nest, *divisor);
}

}  // namespace

bool follows_root_alone(const Nest& nest, const Placed& placed) {
  return std::all_of(placed.axes.begin(), placed.axes.end(), [&](int axis) { return is_root(nest, axis); });
}

bool is_made_by_readers(const Nest& nest, const Placed& placed) {
  if (nest.vars.empty() || nest.vars[0].axis < 0) return false;
  return std::any_of(placed.axes.begin(), placed.axes.end(), [](int axis) { return axis >= 0; }) &&
         std::none_of(placed.axes.begin(), placed.axes.end(), [&](int axis) { return axis == nest.vars[0].axis; });
}

// Values along the root alone would run one at a time between the vector loops of the rows; in blocks they run as vectors over the block.
// Short rows that are folded and then done with gain too: several go side by side (LoopChoices::Together::rows). So do those with long functions, which
// wait for what they are folded to: other rows run meanwhile.
Index choose_block(const Graph& graph, const Hints& hints, const Schedule& schedule, bool root_folds, Nest& nest) {
  double alone = 0, rows = 0, row_bytes = 0, result_bytes = 0, folds = 0, waits = 0;
  bool only_folded = true, has_function = false, keeps_rows = false;
  const Index extent = nest.axes[static_cast<std::size_t>(nest.vars[0].axis)].hint;
  for (const Placed& placed : nest.nodes) {
    const Node& node = graph.node(placed.node);
    const double cost = node_cost(node);
    if (follows_root_alone(nest, placed)) { alone += cost; continue; }
    const double elements = elements_of_row(nest, placed);
    const double bytes = elements * static_cast<double>(size_of(node.dtype));
    const bool folds_it = folds_row(nest, node, placed);
    rows += (cost + 1) * std::max(1.0, bytes / line_bytes);
    if (divides_by_row_value(graph, nest, placed)) alone += cost;
    waits += reads_folded_row(graph, nest, placed);
    keeps_rows |= sums_rows(nest, node, placed);
    has_function |= op_cost(node.op) >= long_function;
    row_bytes = std::max(row_bytes, bytes);
    folds += folds_it && elements <= short_row(hints.machine, bytes * static_cast<double>(extent));
    if (schedule.stored[placed.node.value] && !folds_it && hints.stream != PastCaches::rows) result_bytes += bytes;
    only_folded &= (folds_it || !schedule.stored[placed.node.value]) && !reads_row_value(graph, nest, placed);
  }
  if (only_folded) alone += row_end * folds;
  if (has_function) alone += row_wait * waits;
  nest.blocks = {alone, rows};
  const Index block = rows_of_block(row_bytes, root_folds);
  nest.blocks.stay_near = blocks_stay_near(hints.machine, row_bytes, result_bytes, block, static_cast<double>(extent), keeps_rows);
  return extent >= block && nest.blocks.stay_near && blocks_pay(hints.machine, alone, rows, row_bytes * static_cast<double>(extent)) ? block : 0;
}

}  // namespace weft
