#include "pipeline.h"

#include <weft/accumulator.h>
#include <weft/error.h>

#include "../graph/rebuild.h"

namespace weft {
namespace {

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

}  // namespace

Graph split_folds(const Graph& graph) {
  Rebuild rebuild(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const NodeId id = id_of(k);
    const Node& node = graph.node(id);
    if (node.kept + 1 < static_cast<int>(node.domain.size())) rebuild.set(id, fold_one_by_one(rebuild.to, node, rebuild.operands(id)));
    else rebuild.copy(id);
  }
  return rebuild.finish();
}

}  // namespace weft
