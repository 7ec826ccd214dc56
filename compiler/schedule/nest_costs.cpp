#include "nest_costs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "readers.h"
#include "running.h"

namespace weft {
namespace {

// Others along whole vectors of a row carry nothing from one to the next.
bool fills_vectors(const Node& node) {
  return node.kind == Kind::others && node.domain[static_cast<std::size_t>(carried_axes(node)[0])].constant() >= fold_slots;
}
double elements_of(const Shape& shape, const Bindings& bindings) {
  double elements = 1;
  for (const Extent& extent : shape) elements *= static_cast<double>(extent.evaluate(bindings));
  return elements;
}
std::string index_of(const Placed& placed, const AxisMap& map) {
  std::string text;
  for (const AxisRef& ref : map) text += concat(ref.axis < 0 ? -1 : placed.axes[static_cast<std::size_t>(ref.axis)], " ", ref.step, " ", to_text(ref.start), ",");
  return text;
}
bool is_few(const Nest& nest, int axis) {
  const Extent* extent = axis < 0 ? nullptr : &nest.axes[static_cast<std::size_t>(axis)].extent;
  return extent && extent->is_number() && extent->constant() >= 2 && extent->constant() < fold_slots;
}

}  // namespace

bool folds_axis(const Graph& graph, const Nest& nest, int axis) {
  for (const Placed& placed : nest.nodes)
    for (std::size_t d = static_cast<std::size_t>(graph.node(placed.node).kept); d < placed.axes.size(); ++d)
      if (placed.axes[d] == axis) return true;
  return false;
}

NestCosts::NestCosts(const Graph& graph, const Hints& hints, const Schedule& schedule, const Nest& nest)
    : uses{std::vector<AxisUse>(nest.axes.size())}, stride(nest.axes.size()), neighbours(nest.axes.size()), apart(nest.axes.size()), carried(nest.axes.size()), volume(nest.axes.size()), shared(graph, nest) {
  const auto results = std::count_if(nest.nodes.begin(), nest.nodes.end(), [&](const Placed& placed) { return schedule.stored[placed.node.value]; });
  const bool is_long = std::all_of(nest.axes.begin(), nest.axes.end(), [](const NestAxis& axis) { return axis.hint >= shortest_in_blocks; });
  const bool in_blocks = is_long && !begin_lines(hints.stream) && results == 1 && !has_folds(graph, nest);
  std::uint64_t folded = 0;
  for (int axis = 0; axis < static_cast<int>(nest.axes.size()); ++axis) folded |= std::uint64_t{folds_axis(graph, nest, axis)} << axis;
  std::set<std::pair<NodeId, std::string>> loaded;             // what several nodes read at the same index is loaded once
  for (const Placed& placed : nest.nodes) {
    const Node& node = graph.node(placed.node);
    const double volume = volume_of(placed.axes, nest.axes, placed.axes.size());
    all += volume;
    for (int axis : placed.axes) if (axis >= 0) this->volume[static_cast<std::size_t>(axis)] += volume;
    arithmetic += op_in_loads * volume;
    std::vector<AxisUse> own(nest.axes.size());
    for (int k = 0; k < graph.arity(placed.node) && node.kind == Kind::apply; ++k) {
      const NodeId array = graph.operand(placed.node, k);
      const AxisMap& map = graph.map(placed.node, k);
      if (nest.find(array) || !loaded.emplace(array, index_of(placed, map)).second) continue;
      const Dims strides = strides_of(graph, hints, array);
      const std::vector<StrideClass> classes = classes_of(graph, hints, array);
      std::vector<Along> access;
      double elements = 1;
      for (std::size_t d = 0; d < map.size(); ++d) {
        const int axis = map[d].axis < 0 ? -1 : placed.axes[static_cast<std::size_t>(map[d].axis)];
        if (axis >= 0) elements *= static_cast<double>(std::max<Index>(1, nest.axes[static_cast<std::size_t>(axis)].hint));
        const bool turned_rows = hints.masks && map[d].step == -1 && classes[d] == StrideClass::joined;      // as good as others: program/moved_rows.h
        access.push_back({axis, strides[d] * map[d].step, turned_rows ? classes[d] : times(classes[d], map[d].step), volume, shared.rows_of(placed, map, axis)});
      }
      bytes += elements * static_cast<double>(size_of(graph.node(array).dtype));
      const auto is_prepared = [&](int axis) { return axis >= 0 && volume >= repeats_worth_preparing * elements && (nest.roots >> axis & 1) && !(folded >> axis & 1); };
      for (Along& along : access) along.is_prepared = is_prepared(along.axis);
      add(nest, access, own, hints.masks, folded);
    }
    if (node.kind == Kind::update) {
      const NodeId array = graph.operand(placed.node, 0);
      const Dims strides = strides_of(graph, hints, array);
      const std::vector<StrideClass> classes = classes_of(graph, hints, array);
      const double elements = std::min(volume, elements_of(graph.node(array).shape(), hints.bindings));
      const auto& window = std::get<AxisMap>(node.payload);
      std::vector<Along> access;
      for (std::size_t d = 0; d < window.size(); ++d) {
        if (window[d].axis < 0) continue;
        const auto dim = static_cast<std::size_t>(window[d].axis);
        access.push_back({placed.axes[d], strides[dim] * window[d].step, times(classes[dim], window[d].step), elements});
      }
      bytes += elements * static_cast<double>(size_of(node.dtype));
      add(nest, access, own, hints.masks, folded);
    }
    if (schedule.stored[placed.node.value]) {
      const Dims strides = strides_of(graph, hints, placed.node);
      const double kept = std::min(volume, volume_of(placed.axes, nest.axes, static_cast<std::size_t>(node.kept)));
      bytes += kept * static_cast<double>(size_of(node.dtype));
      std::vector<Along> access;
      const std::vector<StrideClass> classes = classes_of(graph, hints, placed.node);
      for (std::size_t d = 0; d < strides.size(); ++d)
        access.push_back({placed.axes[d], strides[d], classes[d] == StrideClass::joined ? classes[d] : StrideClass::other, strides[d] == 1 ? kept : (shared.is_product() ? result_across_product : store_in_loads(in_blocks)) * kept});
      add(nest, access, own, hints.masks, folded);
    }
    uses.add(hints.machine, placed.axes, nest.axes, folded, own);
    add_folds(node, placed.axes, nest.axes, uses);
    if (node.kind == Kind::apply && op_cost(node.op) >= long_function)
      for (int axis : placed.axes) if (axis >= 0) uses.along[static_cast<std::size_t>(axis)].functions += op_cost(node.op) * volume;
    for (int axis : carried_axes(node))
      if (const int own = placed.axes[static_cast<std::size_t>(axis)]; own >= 0 && !fills_vectors(node))
        carried[static_cast<std::size_t>(own)] += volume * (running_accumulator(node) ? running_in_loads(is_floating(node.dtype), hints.masks) : carried_in_loads * node_cost(node));
  }
}

// Whether elements of another axis lie between neighbours along this one, which are not in a tile together then.
bool NestCosts::lies_apart(const Nest& nest, const std::vector<Along>& access, const Along& along) {
  return std::any_of(access.begin(), access.end(), [&](const Along& other) {
    return other.axis >= 0 && nest.axes[static_cast<std::size_t>(other.axis)].hint > 1 && std::abs(other.step) > 1 && std::abs(other.step) < std::abs(along.step);
  });
}

void NestCosts::add(const Nest& nest, const std::vector<Along>& access, std::vector<AxisUse>& own, bool masks, std::uint64_t folded) {
  const auto few = std::find_if(access.begin(), access.end(), [&](const Along& along) { return std::abs(along.step) == 1 && is_few(nest, along.axis); });
  const bool beside_few = few != access.end();
  const Index count = beside_few ? nest.axes[static_cast<std::size_t>(few->axis)].hint : 0;
  const bool breaks_tiles = masks && (count >= lane_count / 2 || (count > 2 && folded != 0)) && !(folded >> few->axis & 1);
  for (const Along& along : access) {
    if (along.axis < 0 || along.step == 0) continue;
    const auto a = static_cast<std::size_t>(along.axis);
    const double step = std::abs(static_cast<double>(along.step));
    stride[a] += step * std::sqrt(along.volume);
    neighbours[a] = neighbours[a] || step == 1;
    const bool packs = is_known(along.known) ? along.rows >= rows_that_share : std::min(along.rows, nest.axes[a].hint) >= rows_that_share_across;
    if (packs) {
      own[a].whole += packed_in_loads(is_known(along.known), along.rows) * along.volume;
    } else if (along.is_prepared && beside_few) {
      own[a].whole += along.volume;
    } else {
      const bool is_apart = breaks_tiles && lies_apart(nest, access, along);
      apart[a] = apart[a] || is_apart;
      own[a].add(step, along.known, (is_apart ? apart_in_tiles(count) : 1) * along.volume, beside_few);
    }
  }
}

}  // namespace weft
