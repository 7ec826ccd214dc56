#include "root.h"

#include <algorithm>
#include <cmath>

namespace weft {

RootPreference::RootPreference(const Graph& graph, const Hints& hints) : graph_(graph), hints_(hints), strides_(graph.size()) {
  for (std::size_t index = 0; index < graph.size(); ++index) {
    const NodeId id = id_of(index);
    const Node& node = graph.node(id);
    if (!is_scheduled(node)) continue;
    std::vector<double>& own = strides_[index];
    own.assign(node.domain.size(), 0);
    for (int k = 0; k < graph.arity(id) && node.kind == Kind::apply; ++k) {
      const NodeId operand = graph.operand(id, k);
      const AxisMap& map = graph.map(id, k);
      const bool computed = graph.node(operand).kind == Kind::apply;
      const Dims memory = computed ? Dims() : strides_of(graph, hints, operand);
      for (std::size_t d = 0; d < map.size(); ++d) {
        if (map[d].axis < 0) continue;
        const double stride = computed ? strides_[operand.value][d] : std::abs(static_cast<double>(memory[d]));
        double& mine = own[static_cast<std::size_t>(map[d].axis)];
        mine = std::max(mine, stride * std::abs(static_cast<double>(map[d].step)));
      }
    }
    if (std::any_of(own.begin(), own.end(), [](double stride) { return stride > 0; })) continue;
    const Dims stored = contiguous_strides(evaluate(node.domain, hints.bindings), Order::c);      // nothing is read along any axis
    for (std::size_t axis = 0; axis < own.size(); ++axis) own[axis] = static_cast<double>(stored[axis]);
  }
}

void RootPreference::add(NodeId id, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, AxisUses& uses) const {
  const std::vector<double>& strides = strides_[id.value];
  const double volume = volume_of(axes, nest_axes, axes.size());
  uses.along.resize(std::max(uses.along.size(), nest_axes.size()));
  std::vector<AxisUse> own(nest_axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d] < 0 || strides[d] == 0) continue;
    own[static_cast<std::size_t>(axes[d])].add(strides[d], StrideClass::other, volume);
  }
  add_folds(graph_.node(id), axes, nest_axes, uses);
  std::uint64_t folded = 0;
  for (std::size_t axis = 0; axis < uses.along.size(); ++axis) folded |= std::uint64_t{uses.along[axis].folded} << axis;
  uses.add(hints_.machine, axes, nest_axes, folded, own);
}

RootPreference::Choice RootPreference::best(const Side& side) const {
  const AxisUses& uses = side.uses;
  std::size_t lanes = 0;
  const auto cost = [&](std::size_t axis) { return uses.cost(hints_.machine, axis); };
  for (std::size_t axis = 1; axis < uses.along.size(); ++axis) if (cost(axis) <= cost(lanes)) lanes = axis;
  Choice choice;
  for (std::size_t axis = 0; axis < uses.along.size(); ++axis) {
    if (!(side.roots >> axis & 1)) continue;
    const bool is_lanes = axis == lanes && uses.along.size() > 1;
    const RootCost cost_as_root = root_cost(uses.along[axis], side.axes[axis].hint, is_lanes, hints_.threads);
    const double penalty = cost_as_root.total();
    if (choice.axis < 0 || penalty < choice.penalty) choice = {static_cast<int>(axis), lanes, penalty, is_lanes, cost_as_root.shared_lines > 0, cost_as_root.large_results > 0};
  }
  return choice;
}

// Whether threads for which the nest has work would have none.
bool RootPreference::wastes_threads(const Side& side, const Choice& root, double bytes) const {
  if (root.axis < 0 || bytes < worth_waking) return false;
  const auto axis = static_cast<std::size_t>(root.axis);
  return idles_threads(side.uses.along[axis], side.axes[axis].hint, root.lanes, hints_.threads);
}

// Whether the root of both leaves runs of a few lines, far apart, to a nest that has a root along which memory moves farther.
bool RootPreference::shortens_runs(const Side& nest, const Side& joined, const Choice& root, double bytes) const {
  if (root.axis < 0) return false;
  const std::vector<AxisUse>& along = joined.uses.along;
  const double own = along[static_cast<std::size_t>(root.axis)].stride;
  double run = 1;
  bool has_longer = false;
  for (std::size_t axis = 0; axis < along.size(); ++axis) {
    if (along[axis].stride < own) run *= std::max(1.0, static_cast<double>(joined.axes[axis].hint));
    has_longer |= axis != root.vectors && along[axis].stride > own && (nest.roots >> axis & 1) && joined.axes[axis].hint >= many_runs;
  }
  return has_longer && !root.lanes && are_short_runs(hints_.machine, run, bytes);
}

// Whether all that a nest has passes through its vectors once for each of a few elements of the root, which lie side by side.
// x - max(x) of 52428 x 5 floats 198 -> 53 us, of 320 x 5 1.05 -> .36, of 20 x 5 .16 -> .11; softmax down the columns 275 -> 104, 1.61 -> 1.56, .33 -> .29;
// but its gradient, whose nests store columns for each other, .42 -> .50 of 20 x 5, 2.98 -> 4.36 of 400 x 5 (Zen 4).
// Axes of a few elements may be of samples: deviations from a mean of each channel of 32 x 226 pixels of 8, .80 -> .19 ns an element (Zen 4).
bool RootPreference::crosses_lines(const Side& joined, const Choice& root) {
  const auto is_few = [](const NestAxis& axis) { return axis.hint < lane_count; };
  const auto few = std::count_if(joined.axes.begin(), joined.axes.end(), is_few), all = static_cast<std::ptrdiff_t>(joined.axes.size());
  return is_few(joined.axes[static_cast<std::size_t>(root.axis)]) && all - few < joined.rank && joined.rank <= all;
}

// Whether the node sums up the root of the nest to a row, where by itself it would run along columns, whose parts stay in registers.
bool RootPreference::folds_to_rows(const Side& alone, const Side& nest, const Side& joined, const Choice& together, Index element_size, double bytes) const {
  if (together.axis < 0 || !(alone.summed >> together.axis & 1) || alone.kept < 2 || alone.rank != nest.rank) return false;
  if (alone.uses.along[static_cast<std::size_t>(best(alone).axis)].folded) return false;
  return columns_before_rows(hints_.machine, joined.axes[static_cast<std::size_t>(together.axis)].hint, alone.kept * static_cast<double>(element_size), bytes, alone.reads_nest);
}

bool RootPreference::should_part(const Side& alone, const Side& nest, const Side& joined, Index element_size) const {
  const Choice together = best(joined);
  const double by_itself = best(alone).penalty, without = best(nest).penalty;
  double bytes = static_cast<double>(element_size);
  for (const NestAxis& axis : joined.axes) bytes *= std::max(1.0, static_cast<double>(axis.hint));
  if (folds_to_rows(alone, nest, joined, together, element_size, bytes)) return true;
  if (alone.is_ready && alone.rank < nest.rank && shortens_runs(nest, joined, together, bytes)) return true;
  if (alone.rank < nest.rank && wastes_threads(joined, together, bytes)) return together.penalty > without;
  if (together.large_results && alone.rank == nest.rank && alone.rank > 2) return together.penalty > std::max(by_itself, without);
  if (!together.lanes && !together.shares_lines && !(together.large_results && alone.rank != nest.rank)) return false;
  if (alone.rank != nest.rank) return together.penalty > (alone.rank > nest.rank ? by_itself : without);
  if (together.penalty <= std::min(by_itself, without)) return false;
  const bool carries_on = alone.follows_scan && bytes <= hints_.machine.first_level_bytes;          // what a scan has made is in registers
  if (!carries_on && crosses_lines(joined, together) && together.penalty > by_itself) return true;
  const bool reads_once = alone.follows_scan && std::none_of(joined.uses.along.begin(), joined.uses.along.end(), [](const AxisUse& use) { return use.folded; });
  return tiles_lose(hints_.machine, bytes, joined.axes[static_cast<std::size_t>(together.axis)].hint, reads_once, hints_.threads);
}

}  // namespace weft
