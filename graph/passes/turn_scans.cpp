// A suffix product, the gradient of a running sum: scans from the last element are built as flip(scan(flip(x))). Turned round they
// read and are read at the index they stand at, so that loops can share them with their readers.
#include <weft/passes.h>

#include "maps.h"
#include "rebuild.h"
#include "storage.h"

namespace weft {
namespace {

// All elements of an axis, from the last: 1; from the first: -1; else 0.
int backwards(const AxisRef& ref, const Extent& extent, const Extent& loop) {
  if (extent.is(0) || extent.is(1)) return 0;
  return is_backward(ref, extent, loop) ? 1 : is_forward(ref, extent, loop) ? -1 : 0;
}

AxisMap flip_of(const Node& scan) { return reversed_map(scan.domain, std::get<Recurring>(scan.payload).axes); }

bool is_carried(const Node& scan, int axis) {
  const std::vector<int>& axes = std::get<Recurring>(scan.payload).axes;
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// Reversed readings less others, along the axes that carry: what the scan reads, and what reads it. Below 0 if it cannot turn.
int surplus(const Graph& graph, NodeId id, const Graph& to, const std::vector<Operand>& operands) {
  const Node& scan = graph.node(id);
  int votes = 0;
  for (const Operand& operand : operands)
    for (std::size_t d = 0; d < operand.map.size(); ++d)
      if (const AxisRef& ref = operand.map[d]; ref.axis >= 0 && is_carried(scan, ref.axis))
        votes += backwards(ref, to.node(operand.node).domain[d], scan.domain[static_cast<std::size_t>(ref.axis)]);
  for (auto [edge, end] = boost::out_edges(id.value, graph.storage().list); edge != end; ++edge) {
    const Node& reader = graph.node(id_of(boost::target(*edge, graph.storage().list)));
    if (reader.kind != Kind::apply && reader.kind != Kind::recurrence && reader.kind != Kind::others) return -1;        // names its memory
    const AxisMap& map = graph.storage().list[*edge].map;
    for (std::size_t d = 0; d < map.size(); ++d)
      if (map[d].axis >= 0 && is_carried(scan, static_cast<int>(d))) votes += backwards(map[d], scan.domain[d], reader.domain[static_cast<std::size_t>(map[d].axis)]);
  }
  return votes;
}

}  // namespace

Graph turn_scans(const Graph& graph) {
  const std::vector<bool> is_output = output_marks(graph);
  std::vector<bool> turned(graph.size(), false);
  Rebuild rebuild(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    Node node = graph.node(id);
    const auto read_through = [&](Operand& operand, const AxisMap& inner, const AxisMap& outer) {
      operand.map = compose(inner, outer);
      settle_parts(rebuild.to, operand, node.domain);
    };
    for (int p = 0; p < graph.arity(id); ++p)
      if (const NodeId read = graph.operand(id, p); turned[read.value]) {
        Operand& operand = operands[static_cast<std::size_t>(p)];
        read_through(operand, flip_of(graph.node(read)), operand.map);
      }
    if (node.kind == Kind::recurrence && node.mode == Mode::scan && !is_output[id.value] && surplus(graph, id, rebuild.to, operands) > 0) {
      const AxisMap flip = flip_of(node);
      for (Operand& operand : operands) read_through(operand, operand.map, flip);
      bool& backwards = std::get<Recurring>(node.payload).backwards;
      backwards = !backwards;
      turned[id.value] = true;
    }
    return rebuild.to.add(std::move(node), std::move(operands));
  });
  return rebuild.finish();
}

}  // namespace weft
