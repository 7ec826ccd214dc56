// Which nodes share a nest. One pass over the nodes in id order; each joins the first nest that can run it.
//
// A nest keeps the set of axes that could still be its root: every node must run over the root, and a value folded over
// the root exists only after the nest. A node joins if its axes can be bound to axes of the nest such that values made in
// the nest are read at the index they are made at, and the set of possible roots stays non-empty.
#include <algorithm>
#include <cstdint>
#include <map>

#include "schedule.h"

namespace weft {
namespace {

struct Draft {
  Nest nest;
  std::uint64_t roots = 0;                             // bit a: axis a can be the root
  std::map<std::pair<NodeId, int>, int> array_axes;    // (array, dimension) -> nest axis, from the first access
};

constexpr std::size_t max_axes = 48;

class Grouper {
 public:
  Grouper(const Graph& graph, const Hints& hints, std::vector<int>& nest_of)
      : graph_(graph), hints_(hints), nest_of_(nest_of), place_of_(graph.size()) {
    nest_of_.assign(graph.size(), -1);
  }

  std::vector<Nest> run() {
    for (std::size_t index = 0; index < graph_.size(); ++index)
      if (is_scheduled(graph_.node(id_of(index)))) place(id_of(index));
    std::vector<Nest> nests;
    for (Draft& draft : drafts_) nests.push_back(std::move(draft.nest));
    return nests;
  }

 private:
  // Whether `user` can read operand `position` from registers, given that it was made in the same nest.
  bool reads_in_place(NodeId user, int position) const {
    const NodeId made = graph_.operand(user, position);
    const AxisMap& map = graph_.map(user, position);
    if (graph_.node(user).kind == Kind::update) return false;
    const Placed& placed = drafts_[static_cast<std::size_t>(nest_of_[made.value])].nest.nodes[place_of_[made.value]];
    const Node& from = graph_.node(made);
    const Node& to = graph_.node(user);
    for (std::size_t k = 0; k < map.size(); ++k)
      if (placed.axes[k] >= 0 && !(map[k].is_identity() && to.domain[static_cast<std::size_t>(map[k].axis)] == from.domain[k])) return false;
    return true;
  }

  int earliest_nest(NodeId id) const {
    int first = 0;
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId made = graph_.operand(id, k);
      const int nest = nest_of_[made.value];
      if (nest >= 0) first = std::max(first, nest + (reads_in_place(id, k) ? 0 : 1));
    }
    return first;
  }

  void place(NodeId id) {
    constexpr int tries = 6;
    const int first = earliest_nest(id), count = static_cast<int>(drafts_.size());
    for (int nest = first; nest < std::min(first + tries, count); ++nest)
      if (join(id, nest)) return;
    if (count - 1 >= first + tries && join(id, count - 1)) return;
    drafts_.emplace_back();
    WEFT_ASSERT(join(id, count), "a node must fit an empty nest: %", id.value);
  }

  // The axes of `id` that values made in this nest fix; false if they contradict each other.
  bool bind_made(NodeId id, int nest, std::vector<int>& axes, std::uint64_t& folded) const {
    const Draft& draft = drafts_[static_cast<std::size_t>(nest)];
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId made = graph_.operand(id, k);
      if (nest_of_[made.value] != nest) continue;
      const Placed& placed = draft.nest.nodes[place_of_[made.value]];
      const AxisMap& map = graph_.map(id, k);
      for (std::size_t d = 0; d < placed.axes.size(); ++d) {
        if (placed.axes[d] < 0) continue;
        if (d >= map.size()) { folded |= std::uint64_t{1} << placed.axes[d]; continue; }
        int& bound = axes[static_cast<std::size_t>(map[d].axis)];
        if (bound >= 0 && bound != placed.axes[d]) return false;
        bound = placed.axes[d];
      }
    }
    return true;
  }

  // Prefers the axes along which the nest already reads the same arrays.
  void bind_shared_arrays(NodeId id, const Draft& draft, std::vector<int>& axes) const {
    const Node& node = graph_.node(id);
    for (int k = 0; k < graph_.arity(id); ++k) {
      const AxisMap& map = graph_.map(id, k);
      for (std::size_t d = 0; d < map.size(); ++d) {
        if (map[d].axis < 0 || axes[static_cast<std::size_t>(map[d].axis)] >= 0) continue;
        auto found = draft.array_axes.find({graph_.operand(id, k), static_cast<int>(d)});
        if (found == draft.array_axes.end() || std::find(axes.begin(), axes.end(), found->second) != axes.end()) continue;
        const auto axis = static_cast<std::size_t>(map[d].axis);
        if (draft.nest.axes[static_cast<std::size_t>(found->second)].extent == node.domain[axis] && !node.domain[axis].is(1)) axes[axis] = found->second;
      }
    }
  }

  // Binds what is left to free axes of equal extent, then to new axes.
  bool bind_rest(const Node& node, Draft& draft, std::vector<int>& axes, bool may_add) const {
    for (std::size_t d = 0; d < axes.size(); ++d) {
      if (node.domain[d].is(1) || axes[d] >= 0) continue;
      for (std::size_t a = 0; a < draft.nest.axes.size() && axes[d] < 0; ++a)
        if (draft.nest.axes[a].extent == node.domain[d] && std::find(axes.begin(), axes.end(), static_cast<int>(a)) == axes.end())
          axes[d] = static_cast<int>(a);
      if (axes[d] >= 0) continue;
      if (!may_add || draft.nest.axes.size() >= max_axes) return false;
      axes[d] = static_cast<int>(draft.nest.axes.size());
      draft.nest.axes.push_back({node.domain[d], node.domain[d].evaluate(hints_.bindings)});
    }
    return true;
  }

  bool join(NodeId id, int nest) {
    Draft& draft = drafts_[static_cast<std::size_t>(nest)];
    const Node& node = graph_.node(id);
    const bool fresh = draft.nest.nodes.empty();
    const bool has_axes = std::any_of(node.domain.begin(), node.domain.end(), [](const Extent& e) { return !e.is(1); });
    if (!fresh && has_axes == draft.nest.axes.empty()) return false;
    std::vector<int> axes(node.domain.size(), -1);
    std::uint64_t folded = 0;
    if (!bind_made(id, nest, axes, folded)) return false;
    bind_shared_arrays(id, draft, axes);
    const bool related = std::any_of(axes.begin(), axes.end(), [](int axis) { return axis >= 0; });
    const std::size_t axes_before = draft.nest.axes.size();
    const bool bound = bind_rest(node, draft, axes, fresh || related);
    std::uint64_t mine = 0;
    for (int axis : axes) if (axis >= 0) mine |= std::uint64_t{1} << axis;
    const std::uint64_t roots = (fresh ? mine : draft.roots & mine) & ~folded;
    if (!bound || (has_axes && roots == 0)) {
      draft.nest.axes.resize(axes_before);
      return false;
    }
    draft.roots = roots;
    for (int k = 0; k < graph_.arity(id); ++k) {
      const AxisMap& map = graph_.map(id, k);
      for (std::size_t d = 0; d < map.size(); ++d)
        if (map[d].axis >= 0) draft.array_axes.emplace(std::pair(graph_.operand(id, k), static_cast<int>(d)), axes[static_cast<std::size_t>(map[d].axis)]);
    }
    nest_of_[id.value] = nest;
    place_of_[id.value] = draft.nest.nodes.size();
    draft.nest.nodes.push_back({id, std::move(axes)});
    draft.nest.roots = roots;
    return true;
  }

  const Graph& graph_;
  const Hints& hints_;
  std::vector<int>& nest_of_;
  std::vector<std::size_t> place_of_;
  std::vector<Draft> drafts_;
};

}  // namespace

std::vector<Nest> group_nests(const Graph& graph, const Hints& hints, std::vector<int>& nest_of) {
  return Grouper(graph, hints, nest_of).run();
}

}  // namespace weft
