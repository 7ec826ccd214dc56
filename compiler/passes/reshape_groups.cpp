#include "reshape_groups.h"

#include "../../graph/maps.h"

namespace weft {
namespace {

Extent count_in(const Shape& shape, int first, int last) {
  Extent count = 1;
  for (int axis = first; axis < last; ++axis) count = count * shape[static_cast<std::size_t>(axis)];
  return count;
}

}  // namespace

std::vector<ReshapeGroup> groups_of_reshape(const Shape& from, const Shape& to) {
  const int rank = static_cast<int>(from.size()), to_rank = static_cast<int>(to.size());
  const auto next = [&](int first, int to_first) -> std::optional<ReshapeGroup> {
    for (int axes = 2; axes <= rank - first + to_rank - to_first; ++axes)
      for (int own = std::max(1, axes - (to_rank - to_first)); own < axes && own <= rank - first; ++own) {
        const ReshapeGroup group{first, first + own, to_first, to_first + axes - own};
        if (count_in(from, group.first, group.last) == count_in(to, group.to_first, group.to_last)) return group;
      }
    return {};
  };
  std::vector<ReshapeGroup> groups;
  int axis = 0, to_axis = 0;
  while (axis < rank && to_axis < to_rank) {
    auto group = next(axis, to_axis);
    if (!group) return {{0, rank, 0, to_rank}};
    group->changes = group->last - group->first != 1 || group->to_last - group->to_first != 1;
    axis = group->last, to_axis = group->to_last;
    groups.push_back(*group);
  }
  if (axis == rank && to_axis == to_rank) return groups;
  const bool is_one = count_in(from, axis, rank).is(1) && count_in(to, to_axis, to_rank).is(1) && !groups.empty();
  if (!is_one) return {{0, rank, 0, to_rank}};
  groups.back() = {groups.back().first, rank, groups.back().to_first, to_rank};
  return groups;
}

bool changes(const std::vector<ReshapeGroup>& groups, const AxisMap& map) {
  return std::any_of(map.begin(), map.end(), [&](const AxisRef& ref) { return ref.axis >= 0 && group_of(groups, ref.axis).changes; });
}

AxisMap renumbered(const std::vector<ReshapeGroup>& groups, AxisMap map) {
  for (AxisRef& ref : map)
    if (ref.axis >= 0) ref.axis = group_of(groups, ref.axis).to_first;
  return map;
}

std::optional<RegroupedValue> regrouped(const std::vector<ReshapeGroup>& groups, const Shape& from, const Shape& to, const Shape& shape, const AxisMap& map) {
  RegroupedValue value;
  for (std::size_t dim = 0; dim < map.size();) {
    const AxisRef& ref = map[dim];
    if (ref.axis < 0 || !group_of(groups, ref.axis).changes) {
      value.map.push_back(renumbered(groups, {ref})[0]);
      value.shape.push_back(shape[dim++]);
      continue;
    }
    const ReshapeGroup& group = group_of(groups, ref.axis);
    for (int axis = group.first; axis < group.last; ++axis) {
      const Extent& extent = from[static_cast<std::size_t>(axis)];
      if (dim < map.size() && map[dim].axis == axis && is_forward(map[dim], shape[dim], extent)) ++dim;
      else if (!extent.is(1)) return {};
    }
    for (int axis = group.to_first; axis < group.to_last; ++axis) {
      value.shape.push_back(to[static_cast<std::size_t>(axis)]);
      value.map.push_back({axis, 0, 1});
    }
  }
  return value;
}

NodeId add_reshape(Graph& graph, NodeId source, Shape shape) {
  Node node;
  node.kind = Kind::reshape;
  node.dtype = graph.node(source).dtype;
  node.kept = static_cast<int>(shape.size());
  node.domain = std::move(shape);
  return graph.add(std::move(node), {Operand{source, identity_map(graph.node(source).rank())}});
}

}  // namespace weft
