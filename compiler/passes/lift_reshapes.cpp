// reshape(f(x, 2)) is f(reshape(x), 2): what an input names costs nothing, so values in between need no array to be read in another shape.
#include <weft/passes.h>

#include "pipeline.h"
#include "reshape_groups.h"

#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"

namespace weft {
namespace {

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
    groups_ = groups_of_reshape(from, to);
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
    if (!changes(groups_, value.map)) return Operand{rebuild_[value.node], renumbered(groups_, value.map)};
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
    const NodeId source = source_of_reshape(graph_, value.node);
    const Node& input = graph_.node(source);
    if (input.kind != Kind::input || (input.order == Order::f && input.rank() > 1)) return {};       // that would be copied before each call
    return reshaped(value, source);
  }

  std::optional<Operand> reshaped(const Operand& value, NodeId source) {
    const Node& array = graph_.node(value.node);
    auto now = regrouped(groups_, *from_, *to_, array.shape(), value.map);
    if (!now) return {};
    ++made_;
    return Operand{add_reshape(rebuild_.to, rebuild_[source], std::move(now->shape)), std::move(now->map)};
  }

  const Graph& graph_;
  const std::vector<bool> is_output_;
  Rebuild rebuild_;
  std::vector<ReshapeGroup> groups_;
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
