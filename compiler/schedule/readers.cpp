#include "readers.h"

namespace weft {

bool are_distinct(const std::vector<int>& axes) {
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) if (axes[a] >= 0 && axes[a] == axes[b]) return false;
  return true;
}

bool reads_in_place(const Graph& graph, NodeId reader, int operand, std::size_t dimension) {
  const AxisRef& ref = graph.map(reader, operand)[dimension];
  return ref.is_identity() && graph.node(reader).domain[static_cast<std::size_t>(ref.axis)] == graph.node(graph.operand(reader, operand)).domain[dimension];
}

bool reads_in_place(const Graph& graph, NodeId reader, int operand, const std::vector<int>& axes) {
  for (std::size_t d = 0; d < graph.map(reader, operand).size(); ++d)
    if (axes[d] >= 0 && !reads_in_place(graph, reader, operand, d)) return false;
  return true;
}

std::vector<int> axes_of_operand(const Graph& graph, NodeId reader, int operand, const std::vector<int>& reader_axes) {
  const AxisMap& map = graph.map(reader, operand);
  const auto& domain = graph.node(graph.operand(reader, operand)).domain;
  std::vector<int> axes(domain.size(), -1);
  for (std::size_t d = 0; d < map.size(); ++d)
    if (!domain[d].is(1) && map[d].axis >= 0) axes[d] = reader_axes[static_cast<std::size_t>(map[d].axis)];
  return axes;
}

bool follow_reader(const Graph& graph, NodeId id, NodeId reader, const std::vector<int>& reader_axes, std::vector<int>& axes, bool elsewhere) {
  if (graph.node(reader).kind == Kind::update) return false;
  const Node& node = graph.node(id);
  for (int k = 0; k < graph.arity(reader); ++k) {
    if (graph.operand(reader, k) != id) continue;
    const AxisMap& map = graph.map(reader, k);
    for (std::size_t d = 0; d < map.size(); ++d) {
      if (node.domain[d].is(1)) continue;
      if (!reads_in_place(graph, reader, k, d)) {
        if (!elsewhere) return false;
        continue;
      }
      const int axis = reader_axes[static_cast<std::size_t>(map[d].axis)];
      if (axes[d] >= 0 && axes[d] != axis) return false;
      axes[d] = axis;
    }
  }
  return are_distinct(axes);
}

}  // namespace weft
