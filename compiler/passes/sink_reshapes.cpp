// f(reshape(a), 2) is reshape(f(a, 2)): what is done to values after a reshape is done where they are made, and the array between them is the result's.
#include <weft/passes.h>

#include "pipeline.h"
#include "reshape_groups.h"

#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"

namespace weft {
namespace {

class Sinker {
 public:
  explicit Sinker(const Graph& graph) : graph_(graph), is_output_(output_marks(graph)), rebuild_(graph) {}

  Graph run() {
    rebuild_.each([&](NodeId id, std::vector<Operand> operands) {
      const Node& node = graph_.node(id);
      if (node.kind == Kind::apply && node.mode == Mode::broadcast)
        for (std::size_t k = 0; k < operands.size(); ++k)
          if (const auto sunk = through(id, operands, k)) return *sunk;
      return rebuild_.to.add(node, std::move(operands));
    });
    return drop_dead(rebuild_.finish());
  }

 private:
  // The axes of a node, those in a group that an operand's reshape changes as they were before it; and the node over them.
  struct Before {
    std::vector<ReshapeGroup> groups;
    Shape domain;
    bool has_others = false;                    // axes that the operand does not follow
  };

  // The node, computed of what operand k is a reshape of, and reshaped.
  std::optional<NodeId> through(NodeId id, const std::vector<Operand>& operands, std::size_t k) {
    const NodeId reshape = operands[k].node, source = source_of_reshape(rebuild_.to, reshape);
    const Node& made = rebuild_.to.node(source);
    if (reshape == source || (made.kind != Kind::apply && made.kind != Kind::recurrence) || !is_read_once(graph_.operand(id, static_cast<int>(k)))) return {};
    const Node& node = graph_.node(id);
    const auto before = before_reshape(node.domain, operands[k], made.shape());
    if (!before || (before->has_others && !ends_as_output(id))) return {};
    std::vector<Operand> read;
    for (const Operand& operand : operands) {
      auto now = before_reshape(operand, node.domain, *before);
      if (!now) return {};
      read.push_back(std::move(*now));
    }
    Node inner = node;
    inner.domain = before->domain;
    inner.kept = static_cast<int>(inner.domain.size());
    inner.order = Order::c;
    return add_reshape(rebuild_.to, rebuild_.to.add(std::move(inner), std::move(read)), node.domain);
  }

  // By this node alone, and so is what it is a reshape of: an array that is there anyway is better read twice.
  bool is_read_once(NodeId old) const {
    for (;; old = graph_.operand(old, 0)) {
      if (graph_.user_count(old) != 1 || is_output_[old.value]) return false;
      if (graph_.node(old).kind != Kind::reshape) return true;
    }
  }
  bool ends_as_output(NodeId id) const {
    while (!is_output_[id.value]) {
      if (graph_.user_count(id) != 1) return false;
      id = graph_.users(id)[0];
      if (graph_.node(id).kind != Kind::reshape && !is_pure_copy(graph_, id)) return false;
    }
    return true;
  }

  std::optional<Before> before_reshape(const Shape& domain, const Operand& reshaped, const Shape& shape) const {
    const Shape& under = rebuild_.to.node(reshaped.node).domain;
    if (!(count_of(under) == count_of(shape))) return {};            // a call checks that: the reshape stays
    const std::vector<ReshapeGroup> own = groups_of_reshape(under, shape);
    std::vector<const ReshapeGroup*> begins(domain.size(), nullptr);
    std::vector<bool> follows(domain.size(), false);
    for (const ReshapeGroup& group : own)
      for (int dim = group.first; dim < group.last; ++dim) {
        const AxisRef& ref = reshaped.map[static_cast<std::size_t>(dim)];
        if (ref.axis >= 0) follows[static_cast<std::size_t>(ref.axis)] = true;
        if (!group.changes) continue;
        const int first = reshaped.map[static_cast<std::size_t>(group.first)].axis;
        if (first < 0 || ref.axis != first + dim - group.first || !is_forward(ref, under[static_cast<std::size_t>(dim)], domain[static_cast<std::size_t>(ref.axis)])) return {};
        if (dim == group.first) begins[static_cast<std::size_t>(first)] = &group;
      }
    Before before;
    for (int axis = 0; axis < static_cast<int>(domain.size());) {
      const auto* group = begins[static_cast<std::size_t>(axis)];
      const int axes = group ? group->last - group->first : 1, to = static_cast<int>(before.domain.size());
      if (group) before.domain.insert(before.domain.end(), shape.begin() + group->to_first, shape.begin() + group->to_last);
      else before.domain.push_back(domain[static_cast<std::size_t>(axis)]);
      before.groups.push_back({axis, axis + axes, to, static_cast<int>(before.domain.size()), group != nullptr});
      axis += axes;
    }
    before.has_others = std::find(follows.begin(), follows.end(), false) != follows.end();
    return before;
  }

  // An operand of the node, over the axes before the reshape: what it is a reshape of, or an input under another shape.
  std::optional<Operand> before_reshape(const Operand& operand, const Shape& domain, const Before& before) {
    if (!changes(before.groups, operand.map)) return Operand{operand.node, renumbered(before.groups, operand.map)};
    auto now = regrouped(before.groups, domain, before.domain, rebuild_.to.node(operand.node).shape(), operand.map);
    if (!now) return {};
    const NodeId source = source_of_reshape(rebuild_.to, operand.node);
    const Node& node = rebuild_.to.node(source);
    if (node.shape() == now->shape) return Operand{source, std::move(now->map)};
    if (node.kind != Kind::input || (node.order == Order::f && node.rank() > 1)) return {};
    return Operand{add_reshape(rebuild_.to, source, std::move(now->shape)), std::move(now->map)};
  }

  const Graph& graph_;
  const std::vector<bool> is_output_;
  Rebuild rebuild_;
};

}  // namespace

Graph sink_reshapes(const Graph& graph) { return Sinker(graph).run(); }

}  // namespace weft
