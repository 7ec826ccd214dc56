#include <weft/passes.h>

#include "maps.h"
#include "rebuild.h"

namespace weft {
namespace {

// What a copy reads, over the axes of the copy's reader.
Operand read_through(const Graph& graph, const Operand& operand) {
  return Operand{graph.operand(operand.node, 0), compose(graph.map(operand.node, 0), operand.map)};
}

}  // namespace

Graph absorb_copies(const Graph& graph) {
  Rebuild rebuild(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const NodeId id = id_of(k);
    if (rebuild.has(id)) continue;
    const Node& node = graph.node(id);
    std::vector<Operand> operands = rebuild.operands(id);
    if (node.kind == Kind::reshape) {                        // of a reshape: one reshape, or none
      NodeId source = operands[0].node;
      while (rebuild.to.node(source).kind == Kind::reshape) source = rebuild.to.operand(source, 0);
      if (rebuild.to.node(source).domain == node.domain && rebuild.to.node(source).kept == node.kept) {
        rebuild.set(id, source);
        continue;
      }
      operands[0] = Operand{source, identity_map(rebuild.to.node(source).rank())};
    }
    if (node.kind == Kind::apply || node.kind == Kind::recurrence || node.kind == Kind::others) {
      for (Operand& operand : operands) {
        while (is_pure_copy(rebuild.to, operand.node)) {
          Operand before = std::exchange(operand, read_through(rebuild.to, operand));
          const bool keeps_folds = mentions_all(operands, node.kept, static_cast<int>(node.domain.size()));
          if (keeps_folds) continue;
          operand = std::move(before);                       // the broadcast this copy makes is being folded (G7)
          break;
        }
      }
    }
    rebuild.set(id, rebuild.to.add(node, std::move(operands)));
  }
  return drop_dead(rebuild.finish());
}

}  // namespace weft
