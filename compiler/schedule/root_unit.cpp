#include "root_unit.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <vector>

#include "axis_use.h"
#include "placement.h"
#include "readers.h"

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

// What one loop keeps for another: rows, parts of arrays that are read again, sums over other axes. Of those that are there at once: loops number as they run.
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

// Of arrays whose lines lie across the vectors: the elements of a line are read one after the other, by loops outside.
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

// Of folds over many rows: their slots.
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

// What loops that were one body keep: of all arrays, which later loops read again, and of rows.
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

double elements_of(const Nest& nest) {
  double elements = 1;
  for (const NestAxis& axis : nest.axes) elements *= std::max(1.0, static_cast<double>(axis.hint));
  return elements;
}

bool scans(const Graph& graph, const Nest& nest) {
  return std::any_of(nest.nodes.begin(), nest.nodes.end(), [&](const Placed& placed) { return is_scan(graph.node(placed.node)); });
}

int instructions_of(const Graph& graph, const Nest& nest) {
  int instructions = 0;
  for (const Placed& placed : nest.nodes) instructions += node_cost(graph.node(placed.node));
  return instructions;
}

// Units begin where what stays for several elements does, and with whole vectors.
Index unit_of_staying(const Nest& nest, Index unit) {
  Index whole = 1;
  for (const Placed& placed : nest.nodes)
    for (const Repeat& repeat : placed.repeats)
      if (placed.axes[static_cast<std::size_t>(repeat.along)] == nest.lanes) whole = std::lcm(whole, std::lcm(repeat.each, Index{lane_count}));
  return std::max(whole, unit / whole * whole);
}

}  // namespace

Index unit_of_root_vectors(const Graph& graph, const Hints& hints, const Schedule& schedule, const Nest& nest, double moved) {
  const NestAxis& axis = nest.axes[static_cast<std::size_t>(nest.lanes)];
  const bool distributed = nest.distribution.loops > 0;
  const double across = bytes_across(graph, hints, nest), slots = bytes_of_slots(graph, nest);
  const double bytes = (distributed ? bytes_of_strip(graph, schedule, nest) : kept_bytes(graph, schedule, nest)) + across;
  Index unit = unit_of_vectors(bytes, axis.hint, elements_of(nest), hints.threads, instructions_of(graph, nest), distributed ? strip_share : first_level_share);
  if (scans(graph, nest)) unit = across >= long_row_across ? std::min<Index>(unit, lane_count) : unit_down_rows(hints.machine, Down::scans, unit, bytes, moved, axis.hint, hints.threads);
  else if (slots > 0 && across == 0 && !distributed) unit = unit_down_rows(hints.machine, Down::folds, unit, bytes + slots, moved, axis.hint, hints.threads);
  unit = unit_of_staying(nest, unit);
  return has_folds(graph, nest) || bytes > 0 ? unit_of_short_axis(unit, axis.known.most) : unit;
}

}  // namespace weft
