// Products of all other elements: where the row that they read and the one that they write lie, and the fold that comes with them.
#include <set>

#include "lowering.h"

namespace weft {

void Lowering::run_others(int place) {
  const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
  const NodeId operand = graph_.operand(placed.node, 0);
  Others item;
  item.axis = placed.axes[static_cast<std::size_t>(carried_axes(graph_.node(placed.node))[0])];
  const auto found = placement_.place_of.find(operand);
  if (found == placement_.place_of.end() || schedule_.stored[operand.value]) item.from = buffer_of(operand), item.from_at = subscripts(placed, 0);
  else item.from = kept_row(found->second), item.from_at = row_subscripts(placed, 0, found->second, item.from);
  if (schedule_.stored[placed.node.value]) item.to = buffer_of(placed.node), item.to_at = own_subscripts(placed);
  else item.to = kept_row(place), item.to_at = follow(program_.buffer(item.to).axes);
  const auto total = totals_.find(place);
  if (total != totals_.end()) item.total = new_value(graph_.node(placed.node).dtype);
  const Arg product{item.total, {}};
  frames_.back().loop.body.emplace_back(std::move(item));
  frames_.back().loop.weight += frames_.back().loop.mark == Mark::lanes ? others_across : others_along;
  if (total != totals_.end()) store_or_keep(total->second, product);
}

// The fold of the same elements by the same product, if nothing in the nest reads it: both have one order (weft/accumulator.h). -1: none.
int Lowering::total_of(int place) const {
  const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
  const Node& node = graph_.node(placed.node);
  const int axis = placed.axes[static_cast<std::size_t>(carried_axes(node)[0])];
  const auto same_elements = [&](const Placed& fold, const Placed& row, Op op) {
    if (graph_.node(fold.node).op != op || graph_.arity(fold.node) != graph_.arity(row.node)) return false;
    for (int k = 0; k < graph_.arity(row.node); ++k)
      if (graph_.operand(fold.node, k) != graph_.operand(row.node, k) || subscripts(fold, k) != subscripts(row, k)) return false;
    return true;
  };
  const Placed* row = nest_.find(graph_.operand(placed.node, 0));
  if (!row || graph_.node(row->node).kind != Kind::apply) return -1;
  for (std::size_t k = 0; k < nest_.nodes.size(); ++k) {
    const NodeId fold = nest_.nodes[k].node;
    const Node& other = graph_.node(fold);
    if (other.kind != Kind::apply || other.accumulator != AccumulatorId::prod || other.dtype != node.dtype || other.domain.size() != node.domain.size() || nest_.nodes[k].axes.back() != axis) continue;
    if (std::set(nest_.nodes[k].axes.begin(), nest_.nodes[k].axes.end()) != std::set(placed.axes.begin(), placed.axes.end())) continue;
    const bool same = same_elements(nest_.nodes[k], *row, graph_.node(row->node).op);
    const std::vector<NodeId> users = graph_.users(fold);
    if (same && std::none_of(users.begin(), users.end(), [&](NodeId user) { return nest_.find(user); })) return static_cast<int>(k);
  }
  return -1;
}

}  // namespace weft
