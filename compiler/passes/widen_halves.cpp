#include "pipeline.h"
#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"

namespace weft {
namespace {

// The element in its own dtype, as every node; a fold in f32 of these; one rounding.
NodeId fold_in_f32(Graph& to, Node node, std::vector<Operand> operands) {
  const DType half = node.dtype;
  if (node.op != Op::copy) operands = {apply_over_mentioned(to, node.op, half, node.domain, std::move(operands), node.order)};
  node.op = Op::cast;
  node.dtype = f32;
  const NodeId folded = to.add(node, std::move(operands));
  return to.apply(Op::cast, half, node.shape(), {Operand{folded, identity_map(node.kept)}}, node.order);
}

}  // namespace

Graph widen_folds(const Graph& graph) {
  Rebuild rebuild(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const NodeId id = id_of(k);
    const Node& node = graph.node(id);
    if (node.kind == Kind::apply && node.mode != Mode::broadcast && is_half(node.dtype)) rebuild.set(id, fold_in_f32(rebuild.to, node, rebuild.operands(id)));
    else rebuild.copy(id);
  }
  return rebuild.finish();
}

}  // namespace weft
