#include "pipeline.h"

#include "../../graph/passes/rebuild.h"
#include "schedule/schedule.h"

namespace weft {

Graph store_reshapes(const Graph& graph) {
  const std::vector<bool> is_output = output_marks(graph);
  std::vector<bool> is_reshaped(graph.size(), false);
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (graph.node(id_of(k)).kind == Kind::reshape) is_reshaped[graph.operand(id_of(k), 0).value] = true;
  Rebuild rebuild(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    Node node = graph.node(id);
    if (is_reshaped[id.value] && is_scheduled(node) && !is_output[id.value]) node.order = Order::c;
    if (node.kind == Kind::reshape) {
      node.order = Order::c;
      const Node source = rebuild.to.node(operands[0].node);
      const bool is_stored = (is_scheduled(source) && !is_output[graph.operand(id, 0).value]) || source.kind == Kind::input || source.kind == Kind::reshape;
      if (!is_stored) operands[0].node = rebuild.to.apply(Op::copy, source.dtype, source.shape(), {Operand{operands[0].node, identity_map(source.kept)}});
    }
    return rebuild.to.add(std::move(node), std::move(operands));
  });
  return rebuild.finish();
}

}  // namespace weft
