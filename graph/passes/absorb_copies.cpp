#include <weft/passes.h>

#include "maps.h"
#include "rebuild.h"

namespace weft {
namespace {

// A window that is a slice, step 1, of an array whose other elements would all land outside of the result: the array itself, within.
// False, and nothing changed, for any other.
bool write_through(const Graph& graph, Node& node, Operand& window) {
  if (!is_pure_copy(graph, window.node)) return false;
  const NodeId source = graph.operand(window.node, 0);
  const AxisMap& map = graph.map(window.node, 0);
  const Shape slice = graph.node(window.node).shape(), all = graph.node(source).shape();
  AxisMap places = std::get<AxisMap>(node.payload);
  if (all.size() != slice.size() || places.size() != slice.size()) return false;
  bool whole = !are_within(places);
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (places[k].axis < 0 || places[k].step != 1) return false;
    const auto axis = static_cast<std::size_t>(places[k].axis);
    const AxisRef& ref = map[axis];
    if (ref.axis < 0 ? !slice[axis].is(1) : ref.axis != places[k].axis || ref.step != 1) return false;
    const Extent &from = ref.start, &to = places[k].start, end = from + slice[axis];
    const bool before = from.is(0) || to.is(0), after = end == all[axis] || to + slice[axis] == node.domain[k];
    if (!before || !after) return false;
    whole &= from.is(0) && end == all[axis];
    places[k].start = to - from;
  }
  for (AxisRef& place : places) place.part = !whole;
  node.payload = std::move(places);
  window.node = source;
  return true;
}

}  // namespace

Graph absorb_copies(const Graph& graph) {
  Rebuild rebuild(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    Node node = graph.node(id);
    while (node.kind == Kind::update && write_through(rebuild.to, node, operands[0])) {}
    if (node.kind == Kind::reshape) {                        // of a reshape: one reshape, or none
      const NodeId source = source_of_reshape(rebuild.to, operands[0].node);
      if (rebuild.to.node(source).domain == node.domain && rebuild.to.node(source).kept == node.kept) return source;
      operands[0] = Operand{source, identity_map(rebuild.to.node(source).rank())};
    }
    if (node.kind == Kind::apply || node.kind == Kind::recurrence || node.kind == Kind::others) {
      for (Operand& operand : operands) {
        while (is_pure_copy(rebuild.to, operand.node)) {
          Operand before = std::exchange(operand, operand_of(rebuild.to, operand, 0));
          const bool keeps_folds = mentions_all(operands, node.kept, static_cast<int>(node.domain.size()));
          if (keeps_folds) continue;
          operand = std::move(before);                       // the broadcast this copy makes is being folded (G7)
          break;
        }
      }
    }
    return rebuild.to.add(std::move(node), std::move(operands));
  });
  return drop_dead(rebuild.finish());
}

}  // namespace weft
