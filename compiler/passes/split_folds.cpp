#include "pipeline.h"

#include <weft/accumulator.h>
#include <weft/error.h>

#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"

namespace weft {
namespace {

// Without folded axes of extent 1: the fold of one element is that element, to the bit.
void drop_unit_folds(Node& node, std::vector<Operand>& operands) {
  for (int axis = static_cast<int>(node.domain.size()); axis-- > node.kept;)
    if (node.domain[static_cast<std::size_t>(axis)].is(1)) drop_axis(node, operands, axis);
  if (node.kept < static_cast<int>(node.domain.size())) return;
  node.mode = Mode::broadcast;
  node.accumulator = AccumulatorId::none;
}

// The node folds its last axis and keeps the others; then a fold of each remaining axis, from the last to the first.
NodeId fold_one_by_one(Graph& to, Node node, std::vector<Operand> operands) {
  const int kept = node.kept;
  node.kept = static_cast<int>(node.domain.size()) - 1;
  NodeId id = to.add(node, std::move(operands));
  while (to.node(id).kept > kept) {
    Node next = to.node(id);
    next.domain.pop_back();
    next.op = Op::copy;
    next.kept = static_cast<int>(next.domain.size()) - 1;
    id = to.add(next, {Operand{id, identity_map(static_cast<int>(next.domain.size()))}});
  }
  return id;
}

// Products are added unrounded along the axis that is folded first. If that one goes, they are rounded as its fold would.
void round_products(Graph& to, Node& node, std::vector<Operand>& operands) {
  const int rank = static_cast<int>(node.domain.size());
  if (!adds_products(node.accumulator, node.op, node.dtype) || !node.domain.back().is(1) || rank - node.kept < 2) return;
  operands = {Operand{to.apply(std::exchange(node.op, Op::copy), node.dtype, node.domain, std::move(operands), node.order), identity_map(rank)}};
}

// What reads whole rows reads them at the index they are made at.
void add_others(Rebuild& rebuild, NodeId id, const Node& node) {
  Operand row = rebuild.operands(id)[0];
  const Node& made = rebuild.to.node(row.node);
  if (made.kind != Kind::apply || made.domain != node.domain || row.map != identity_map(node.kept)) row = Operand{rebuild.to.apply(Op::copy, node.dtype, node.domain, {row}, node.order), identity_map(node.kept)};
  rebuild.set(id, rebuild.to.add(node, {std::move(row)}));
}

}  // namespace

Graph split_folds(const Graph& graph) {
  Rebuild rebuild(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const NodeId id = id_of(k);
    const Node& node = graph.node(id);
    if (node.kind == Kind::others) {
      add_others(rebuild, id, node);
      continue;
    }
    if (node.kind != Kind::apply || node.mode == Mode::broadcast) {
      rebuild.copy(id);
      continue;
    }
    Node folded = node;
    std::vector<Operand> operands = rebuild.operands(id);
    round_products(rebuild.to, folded, operands);
    drop_unit_folds(folded, operands);
    rebuild.set(id, folded.mode == Mode::broadcast ? rebuild.to.add(std::move(folded), std::move(operands))
                                                   : fold_one_by_one(rebuild.to, std::move(folded), std::move(operands)));
  }
  return rebuild.finish();
}

}  // namespace weft
