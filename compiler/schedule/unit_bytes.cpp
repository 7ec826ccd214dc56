#include "unit_bytes.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

#include "axis_use.h"
#include "placement.h"

namespace weft {
namespace {

// What rows_in_place.h reads from its array.
bool is_row_in_place(const Graph& graph, NodeId id) {
  const std::vector<NodeId> users = graph.users(id);
  return graph.node(id).op == Op::copy && graph.node(id).kind == Kind::apply && std::all_of(users.begin(), users.end(), [&](NodeId user) { return graph.node(user).kind == Kind::others; });
}

// Elements of the sums that a fold keeps while it runs, if these are more than a row along the vectors: all that its loops have of other axes.
double elements_of_sums(const Graph& graph, const Nest& nest, const Placement& placement, std::size_t place) {
  const Placed& placed = nest.nodes[place];
  if (graph.node(placed.node).mode != Mode::accumulate) return 0;
  double elements = 1;
  bool beside = false;
  for (int loop = placement.home[place]; loop != placement.result_home[place]; loop = placement.loops[static_cast<std::size_t>(loop)].parent) {
    const int axis = placement.loops[static_cast<std::size_t>(loop)].level->var.axis;
    const auto end = placed.axes.begin() + graph.node(placed.node).kept;
    if (std::find(placed.axes.begin(), end, axis) == end) continue;
    elements *= static_cast<double>(std::max<Index>(1, nest.axes[static_cast<std::size_t>(axis)].hint));
    beside |= axis != nest.lanes;
  }
  return beside ? elements : 0;
}

}  // namespace

// Of those that are there at once: loops number as they run.
double kept_bytes(const Graph& graph, const Schedule& schedule, const Nest& nest) {
  const Placement placement = place_values(graph, schedule, nest);
  std::vector<double> change(placement.loops.size() + 1, 0);
  for (std::size_t k = 0; k < nest.nodes.size(); ++k) {
    const Node& node = graph.node(nest.nodes[k].node);
    change[static_cast<std::size_t>(placement.result_home[k])] += elements_of_sums(graph, nest, placement, k) * static_cast<double>(size_of(node.dtype));
    if (!placement.kept[k] || is_row_in_place(graph, nest.nodes[k].node)) continue;
    const double bytes = volume_of(nest.nodes[k].axes, nest.axes, static_cast<std::size_t>(node.kept)) * static_cast<double>(size_of(node.dtype));
    change[static_cast<std::size_t>(placement.result_home[k])] += bytes, change[static_cast<std::size_t>(placement.last_read[k]) + 1] -= bytes;
  }
  double bytes = 0, most = 0;
  for (double step : change) most = std::max(most, bytes += step);
  return most / static_cast<double>(std::max<Index>(1, nest.axes[static_cast<std::size_t>(nest.lanes)].hint));
}

double bytes_across(const Graph& graph, const Hints& hints, const Nest& nest) {
  std::set<NodeId> counted;
  double bytes = 0;
  for (const Placed& placed : nest.nodes)
    for (int k = 0; k < graph.arity(placed.node); ++k) {
      const NodeId array = graph.operand(placed.node, k);
      if (nest.find(array) || !counted.insert(array).second) continue;
      const AxisMap& map = graph.map(placed.node, k);
      const Dims strides = strides_of(graph, hints, array);
      double row = static_cast<double>(size_of(graph.node(array).dtype));
      bool along = false, beside = false;
      for (std::size_t d = 0; d < map.size(); ++d) {
        const int axis = map[d].axis < 0 ? -1 : placed.axes[static_cast<std::size_t>(map[d].axis)];
        if (axis == nest.lanes) along = true;
        else if (axis >= 0) row *= static_cast<double>(std::max<Index>(1, nest.axes[static_cast<std::size_t>(axis)].hint)), beside |= std::abs(strides[d] * map[d].step) == 1;
      }
      if (along && beside) bytes += row;
    }
  return bytes;
}

double bytes_of_slots(const Graph& graph, const Nest& nest) {
  double bytes = 0;
  for (const Placed& placed : nest.nodes) {
    const Node& node = graph.node(placed.node);
    if (node.mode != Mode::accumulate) continue;
    double rows = 1;
    for (auto k = static_cast<std::size_t>(node.kept); k < placed.axes.size(); ++k)
      if (placed.axes[k] >= 0 && placed.axes[k] != nest.lanes) rows *= static_cast<double>(nest.axes[static_cast<std::size_t>(placed.axes[k])].hint);
    if (rows >= fold_slots) bytes += static_cast<double>((is_ordered(node.accumulator, node.dtype) ? fold_slots : 1) * size_of(node.dtype));
  }
  return bytes;
}

double bytes_of_strip(const Graph& graph, const Schedule& schedule, const Nest& nest) {
  std::set<NodeId> arrays;
  std::size_t widest = 1;
  for (const Placed& placed : nest.nodes) {
    widest = std::max(widest, size_of(graph.node(placed.node).dtype));
    if (schedule.stored[placed.node.value]) arrays.insert(placed.node);
    for (int k = 0; k < graph.arity(placed.node); ++k)
      if (const NodeId array = graph.operand(placed.node, k); !nest.find(array) && graph.node(array).kept > 0) arrays.insert(array);
  }
  double bytes = static_cast<double>(nest.distribution.rows) * static_cast<double>(widest);
  for (NodeId array : arrays) bytes += static_cast<double>(size_of(graph.node(array).dtype));
  return bytes;
}

}  // namespace weft
