#include "axis_use.h"

#include <algorithm>

namespace weft {

Dims strides_of(const Graph& graph, const Hints& hints, NodeId id) {
  if (auto found = hints.arrays.find(id); found != hints.arrays.end()) return found->second.strides;
  return contiguous_strides(evaluate(graph.node(id).shape(), hints.bindings), layout_of(graph, hints.turned, id));
}

std::vector<StrideClass> classes_of(const Graph& graph, const Hints& hints, NodeId id) {
  return stride_classes(strides_of(graph, hints, id), evaluate(graph.node(id).shape(), hints.bindings));
}

double volume_of(const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, std::size_t count) {
  double volume = 1;
  for (std::size_t d = 0; d < count; ++d)
    if (axes[d] >= 0) volume *= static_cast<double>(std::max<Index>(1, nest_axes[static_cast<std::size_t>(axes[d])].hint));
  return volume;
}

void AxisUses::add(const Machine& machine, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, std::uint64_t folded, const std::vector<AxisUse>& own) {
  std::vector<std::size_t> named;
  for (int axis : axes) if (axis >= 0) named.push_back(static_cast<std::size_t>(axis));
  if (named.empty()) return;
  const auto cost = [&](std::size_t a) { return access_cost(machine, own[a]) / (folded >> a & 1 ? lanes_in_use(nest_axes[a].hint) : 1); };
  double best = cost(named[0]);
  for (std::size_t a : named) best = std::min(best, cost(a));
  least += best;
  for (std::size_t a : named) {
    along[a].whole += own[a].whole, along[a].across += own[a].across, along[a].joined += own[a].joined, along[a].near += own[a].near, along[a].jumps += own[a].jumps, along[a].far += own[a].far;
    along[a].within_lines |= own[a].within_lines;
    along[a].stride = std::max(along[a].stride, own[a].stride);
    along[a].least += best;
  }
}

bool has_folds(const Graph& graph, const Nest& nest) {
  return std::any_of(nest.nodes.begin(), nest.nodes.end(), [&](const Placed& placed) { return static_cast<std::size_t>(graph.node(placed.node).kept) < placed.axes.size(); });
}

void add_folds(const Node& node, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, AxisUses& uses) {
  const std::size_t kept = static_cast<std::size_t>(node.kept);
  for (std::size_t d = kept; d < axes.size(); ++d) {
    if (axes[d] < 0) continue;
    AxisUse& use = uses.along[static_cast<std::size_t>(axes[d])];
    use.folded = true;
    ++use.folds;
    use.kept_beside = std::max(use.kept_beside, volume_of(axes, nest_axes, kept));
  }
}

}  // namespace weft
