// reshape(f(x, 2)) is f(reshape(x), 2): what an input names costs nothing, so values in between need no array to be read in another shape.
#include <algorithm>

#include <weft/passes.h>

#include "pipeline.h"

#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"

namespace weft {
namespace {

// Axes [first, last) of a shape, and those of another that have as many elements and stand in their place.
struct Group {
  int first, last, to_first, to_last;
  bool changes = true;
};

Extent count_in(const Shape& shape, int first, int last) {
  Extent count = 1;
  for (int axis = first; axis < last; ++axis) count = count * shape[static_cast<std::size_t>(axis)];
  return count;
}

// The smallest groups in which a reshape changes a shape; all in one where that is not known.
std::vector<Group> groups_of(const Shape& from, const Shape& to) {
  const int rank = static_cast<int>(from.size()), to_rank = static_cast<int>(to.size());
  const auto next = [&](int first, int to_first) -> std::optional<Group> {
    for (int axes = 2; axes <= rank - first + to_rank - to_first; ++axes)
      for (int own = std::max(1, axes - (to_rank - to_first)); own < axes && own <= rank - first; ++own) {
        const Group group{first, first + own, to_first, to_first + axes - own};
        if (count_in(from, group.first, group.last) == count_in(to, group.to_first, group.to_last)) return group;
      }
    return {};
  };
  std::vector<Group> groups;
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

class Lifter {
 public:
  explicit Lifter(const Graph& graph) : graph_(graph), is_output_(output_marks(graph)), rebuild_(graph) {}

  struct Result {
    Graph graph;
    bool changed;
  };
  Result run() {
    bool changed = false;
    rebuild_.each([&](NodeId id, std::vector<Operand> operands) {
      const auto lifted = graph_.node(id).kind == Kind::reshape ? lifted_reshape(id) : std::nullopt;
      changed |= lifted.has_value();
      return lifted ? *lifted : rebuild_.to.add(graph_.node(id), std::move(operands));
    });
    return {drop_dead(rebuild_.finish()), changed};
  }

 private:
  std::optional<NodeId> lifted_reshape(NodeId id) {
    const NodeId value = graph_.operand(id, 0);
    if (!is_made_for_one(value)) return {};
    const Shape &from = graph_.node(value).domain, &to = graph_.node(id).domain;
    groups_ = groups_of(from, to);
    from_ = &from, to_ = &to;
    made_ = 0;
    const auto lifted = lift({value, identity_map(static_cast<int>(from.size()))}, 0);
    if (!lifted || made_ == 0) return {};
    if (is_whole(rebuild_.to, *lifted, to)) return lifted->node;
    return rebuild_.to.apply(Op::copy, graph_.node(id).dtype, to, {*lifted});
  }

  // Elementwise, and read by nothing else.
  bool is_made_for_one(NodeId id) const {
    const Node& node = graph_.node(id);
    return node.kind == Kind::apply && node.mode == Mode::broadcast && graph_.user_count(id) == 1 && !is_output_[id.value];
  }

  // A value of the graph as it was, read over the axes that were reshaped: of the new graph, over those that they became.
  std::optional<Operand> lift(const Operand& value, int depth) {
    constexpr int deepest = 200;
    if (!changes(value.map)) return Operand{rebuild_[value.node], renumbered(value.map)};
    const Node& node = graph_.node(value.node);
    if (is_made_for_one(value.node) && depth < deepest) {
      std::vector<Operand> operands;
      for (int k = 0; k < graph_.arity(value.node); ++k) {
        auto operand = lift(operand_of(graph_, value, k), depth + 1);
        if (!operand) return {};
        operands.push_back(std::move(*operand));
      }
      return apply_over_mentioned(rebuild_.to, node.op, node.dtype, *to_, std::move(operands), node.order);
    }
    NodeId source = value.node;
    while (graph_.node(source).kind == Kind::reshape) source = graph_.operand(source, 0);
    const Node& input = graph_.node(source);
    if (input.kind != Kind::input || (input.order == Order::f && input.rank() > 1)) return {};       // that would be copied before each call
    return reshaped(value, source);
  }

  bool changes(const AxisMap& map) const {
    return std::any_of(map.begin(), map.end(), [&](const AxisRef& ref) { return ref.axis >= 0 && group_of(ref.axis).changes; });
  }
  const Group& group_of(int axis) const {
    return *std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return axis >= group.first && axis < group.last; });
  }
  AxisRef renumbered(AxisRef ref) const {
    if (ref.axis >= 0) ref.axis = group_of(ref.axis).to_first;
    return ref;
  }
  AxisMap renumbered(AxisMap map) const {
    for (AxisRef& ref : map) ref = renumbered(ref);
    return map;
  }

  // An array whose dimensions follow all axes of each group that changes, one after the other: with those that they became.
  std::optional<Operand> reshaped(const Operand& value, NodeId source) {
    const Node& array = graph_.node(value.node);
    Node node;
    node.kind = Kind::reshape;
    node.dtype = array.dtype;
    AxisMap map;
    for (std::size_t dim = 0; dim < value.map.size();) {
      const AxisRef& ref = value.map[dim];
      if (ref.axis < 0 || !group_of(ref.axis).changes) {
        node.domain.push_back(array.shape()[dim++]);
        map.push_back(renumbered(ref));
        continue;
      }
      const Group& group = group_of(ref.axis);
      for (int axis = group.first; axis < group.last; ++axis) {
        const Extent& extent = (*from_)[static_cast<std::size_t>(axis)];
        if (dim < value.map.size() && value.map[dim].axis == axis && is_forward(value.map[dim], array.shape()[dim], extent)) ++dim;
        else if (!extent.is(1)) return {};
      }
      for (int axis = group.to_first; axis < group.to_last; ++axis) {
        node.domain.push_back((*to_)[static_cast<std::size_t>(axis)]);
        map.push_back({axis, 0, 1});
      }
    }
    node.kept = static_cast<int>(node.domain.size());
    ++made_;
    return Operand{rebuild_.to.add(std::move(node), {Operand{rebuild_[source], identity_map(graph_.node(source).rank())}}), std::move(map)};
  }
  const Graph& graph_;
  const std::vector<bool> is_output_;
  Rebuild rebuild_;
  std::vector<Group> groups_;
  const Shape *from_ = nullptr, *to_ = nullptr;
  int made_ = 0;                                // reshapes of inputs
};

}  // namespace

// Once more for reshapes of what was computed of others.
Graph lift_reshapes(const Graph& graph) {
  constexpr int most = 8;
  Lifter::Result lifted = Lifter(graph).run();
  for (int k = 1; lifted.changed && k < most; ++k) lifted = Lifter(Graph(std::move(lifted.graph))).run();
  return std::move(lifted.graph);
}

}  // namespace weft
