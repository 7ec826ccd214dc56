#include "pipeline.h"

#include "../../graph/passes/rebuild.h"
#include "schedule/schedule.h"

namespace weft {

Graph store_windows(const Graph& graph) {
  Rebuild rebuild(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const NodeId id = id_of(k);
    if (graph.node(id).kind != Kind::update) {
      rebuild.copy(id);
      continue;
    }
    std::vector<Operand> operands = rebuild.operands(id);
    const Node window = rebuild.to.node(operands[0].node);
    const bool in_memory = window.kind == Kind::input || is_scheduled(window) || window.kind == Kind::reshape || std::holds_alternative<Array>(window.payload);
    if (!in_memory) operands[0].node = rebuild.to.apply(Op::copy, window.dtype, window.shape(), {Operand{operands[0].node, identity_map(window.kept)}});
    rebuild.set(id, rebuild.to.add(graph.node(id), std::move(operands)));
  }
  return rebuild.finish();
}

}  // namespace weft
