#include "root.h"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

constexpr double cache = 1 << 20;                      // bytes of a tile that its second reading finds in the second level
constexpr double large = 1 << 18;                      // bytes of work that threads are worth waking for

}  // namespace

double root_penalty(const RootCandidate& candidate) {
  double penalty = 0;
  if (candidate.lanes) penalty += candidate.extent >= 4096 ? 2.5 : 4;
  if (candidate.folded) penalty += 2 + (candidate.kept_beside > 8192 ? 10 : 0) + (candidate.extent < 4 * fold_leaf ? 4 : 0);
  if (candidate.extent < 16) penalty += 3;
  return penalty;
}

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
      const Dims memory = computed ? Dims() : memory_strides(operand);
      for (std::size_t d = 0; d < map.size(); ++d) {
        if (map[d].axis < 0) continue;
        const double stride = computed ? strides_[operand.value][d] : std::abs(static_cast<double>(memory[d]));
        double& mine = own[static_cast<std::size_t>(map[d].axis)];
        mine = std::max(mine, stride * std::abs(static_cast<double>(map[d].step)));
      }
    }
    if (std::any_of(own.begin(), own.end(), [](double stride) { return stride > 0; })) continue;
    double stride = 1;                                 // nothing is read along any axis: as it would be stored
    for (std::size_t axis = own.size(); axis-- > 0;) own[axis] = stride, stride *= std::max(1.0, static_cast<double>(extent(node, axis)));
  }
}

Dims RootPreference::memory_strides(NodeId id) const {
  if (auto found = hints_.arrays.find(id); found != hints_.arrays.end()) return found->second.strides;
  Dims dims;
  for (const Extent& extent : graph_.node(id).shape()) dims.push_back(extent.evaluate(hints_.bindings));
  return contiguous_strides(dims, graph_.node(id).order);
}

void RootPreference::add(NodeId id, const std::vector<int>& axes, AxisUses& uses) const {
  const Node& node = graph_.node(id);
  const std::vector<double>& strides = strides_[id.value];
  double volume = 1, kept = 1;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d] < 0) continue;
    if (static_cast<std::size_t>(axes[d]) >= uses.size()) uses.resize(static_cast<std::size_t>(axes[d]) + 1);
    volume *= std::max(1.0, static_cast<double>(extent(node, d)));
    if (d < static_cast<std::size_t>(node.kept)) kept *= static_cast<double>(extent(node, d));
  }
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d] < 0) continue;
    AxisUse& use = uses[static_cast<std::size_t>(axes[d])];
    if (strides[d] > 0) (strides[d] == 1 ? use.contiguous : use.jumps) += volume;
    if (d < static_cast<std::size_t>(node.kept)) continue;
    use.folded = true;
    use.kept_beside = std::max(use.kept_beside, kept);
  }
}

RootPreference::Choice RootPreference::best(const Side& side) {
  const AxisUses& uses = side.uses;
  const auto cost = [&](std::size_t axis) { return uses[axis].contiguous + 8 * uses[axis].jumps; };       // as in choose_lanes
  std::size_t lanes = 0;
  for (std::size_t axis = 1; axis < uses.size(); ++axis) if (cost(axis) <= cost(lanes)) lanes = axis;
  Choice choice;
  for (std::size_t axis = 0; axis < uses.size(); ++axis) {
    if (!(side.roots >> axis & 1)) continue;
    const RootCandidate candidate{side.axes[axis].hint, axis == lanes && uses.size() > 1, uses[axis].folded, uses[axis].kept_beside};
    const double penalty = root_penalty(candidate);
    if (choice.axis < 0 || penalty < choice.penalty) choice = {static_cast<int>(axis), penalty, candidate.lanes};
  }
  return choice;
}

bool RootPreference::should_part(const Side& alone, const Side& nest, const Side& joined, Index element_size) const {
  const Choice together = best(joined);
  if (!together.lanes) return false;
  const double by_itself = best(alone).penalty, without = best(nest).penalty;
  if (alone.rank != nest.rank) return together.penalty > (alone.rank > nest.rank ? by_itself : without);
  if (together.penalty <= std::min(by_itself, without)) return false;
  double bytes = static_cast<double>(element_size);
  for (const NestAxis& axis : joined.axes) bytes *= std::max(1.0, static_cast<double>(axis.hint));
  const double columns = static_cast<double>(joined.axes[static_cast<std::size_t>(together.axis)].hint);
  return bytes >= large && (std::ceil(columns / fold_leaf) < hints_.threads || bytes / columns * std::min<double>(columns, fold_leaf) > cache);
}

}  // namespace weft
