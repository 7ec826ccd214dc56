// mean(x, axis) as x - mean takes it, with an axis of extent 1, and mean(x, axis) by itself are one value: what nothing but elementwise ops and folds
// read loses such axes, so that merge_duplicates finds it.
#include <algorithm>
#include <vector>

#include <weft/passes.h>

#include "maps.h"
#include "rebuild.h"

namespace weft {
namespace {

bool is_unit(const Node& node, std::size_t axis) { return node.kind == Kind::apply && axis < static_cast<std::size_t>(node.kept) && node.domain[axis].is(1); }

// Whether the reader does without the axis of that operand: it folds nothing that only this one might mention (G7).
bool does_without(const Graph& graph, NodeId reader, NodeId read, std::size_t axis) {
  const Node& node = graph.node(reader);
  if (node.kind != Kind::apply) return false;
  for (int k = 0; k < graph.arity(reader); ++k)
    if (graph.operand(reader, k) == read && graph.map(reader, k)[axis].axis >= node.kept) return false;
  return true;
}

using Dropped = std::vector<std::vector<bool>>;       // by node, by axis of its result

Dropped dropped_axes(const Graph& graph) {
  const std::vector<bool> is_output = output_marks(graph);
  Dropped dropped(graph.size());
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const NodeId id = id_of(k);
    const Node& node = graph.node(id);
    dropped[k].assign(static_cast<std::size_t>(node.kept), false);
    if (is_output[k]) continue;
    const std::vector<NodeId> readers = graph.users(id);
    for (std::size_t axis = 0; axis < dropped[k].size(); ++axis)
      dropped[k][axis] = is_unit(node, axis) && std::all_of(readers.begin(), readers.end(), [&](NodeId reader) { return does_without(graph, reader, id, axis); });
  }
  return dropped;
}

// Without the references over axes that the operand has no longer.
AxisMap over_what_is_left(const AxisMap& map, const std::vector<bool>& dropped) {
  AxisMap left;
  for (std::size_t d = 0; d < map.size(); ++d)
    if (!dropped[d]) left.push_back(map[d]);
  return left;
}

}  // namespace

bool has_unit_axes(const Graph& graph) {
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    for (std::size_t axis = 0; axis < node.domain.size(); ++axis)
      if (is_unit(node, axis)) return true;
  }
  return false;
}

Graph drop_unit_axes(const Graph& graph) {
  const Dropped dropped = dropped_axes(graph);
  Rebuild rebuild(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    Node node = graph.node(id);
    for (std::size_t k = 0; k < operands.size(); ++k) operands[k].map = over_what_is_left(operands[k].map, dropped[graph.operand(id, static_cast<int>(k)).value]);
    for (auto axis = static_cast<int>(dropped[id.value].size()); axis-- > 0;)
      if (dropped[id.value][static_cast<std::size_t>(axis)]) drop_axis(node, operands, axis);
    return rebuild.to.add(std::move(node), std::move(operands));
  });
  return rebuild.finish();
}

}  // namespace weft
