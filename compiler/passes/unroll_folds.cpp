#include <algorithm>
#include <optional>

#include <weft/accumulator.h>
#include <weft/passes.h>

#include "pipeline.h"
#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"
#include "schedule/cost_model.h"

namespace weft {
namespace {

// Over one axis of a few elements.
bool is_small_fold(const Node& node) {
  if (node.kind != Kind::apply || node.mode != Mode::accumulate || !combining_op(node.accumulator) || static_cast<int>(node.domain.size()) != node.kept + 1) return false;
  // maximum and minimum take no bool
  if (is_boolean(node.dtype) && node.accumulator != AccumulatorId::any && node.accumulator != AccumulatorId::all) return false;
  const Extent& extent = node.domain.back();
  return extent.is_number() && extent.constant() >= 2 && extent.constant() <= most_unrolled;
}

// Of rows of a few elements with a matrix as small: points that are turned, colours. Each operand is read for several sums, and a row of results is a tile.
// x[n,3] times a matrix takes .44 of the time that sums in rows of scratch take, in memory .33; times those of a batch .85 and .6, row^T matrix row .2 (Zen 4).
bool is_small_product(const Graph& graph, NodeId id) {
  constexpr Index few = 4;
  const Node& node = graph.node(id);
  if (node.accumulator != AccumulatorId::sum || node.op != Op::multiply || node.kept == 0 || node.domain.back().constant() > few) return false;
  const Extent& row = node.domain[static_cast<std::size_t>(node.kept) - 1];
  if (!row.is_number() || row.constant() < 2 || row.constant() > few) return false;
  const auto follows_all = [&](int position) {
    std::vector<bool> follows(node.domain.size());
    for (const AxisRef& ref : graph.map(id, position)) if (ref.axis >= 0) follows[static_cast<std::size_t>(ref.axis)] = true;
    return std::all_of(follows.begin(), follows.end(), [](bool is_followed) { return is_followed; });
  };
  return !follows_all(0) && !follows_all(1);
}

bool lies_in_memory(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.kind == Kind::input || node.kind == Kind::reshape || std::holds_alternative<Array>(node.payload);
}

class Unroller {
 public:
  explicit Unroller(const Graph& graph) : graph_(graph), is_output_(output_marks(graph)), rebuild_(graph) {}

  Graph run() {
    bool changed = false;
    rebuild_.each([&](NodeId id, std::vector<Operand> operands) {
      const Node& node = graph_.node(id);
      if (!is_window(id)) return rebuild_.to.add(node, std::move(operands));
      changed = true;
      domain_ = node.shape(), order_ = node.order;
      return value(id, identity_map(node.kept)).node;
    });
    return changed ? merge_duplicates(drop_dead(rebuild_.finish())) : rebuild_.finish();
  }

 private:
  // Whether the node is made for its one reader, which may as well make it.
  bool is_own(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.kind != Kind::apply || is_output_[id.value]) return false;
    const std::vector<NodeId> users = graph_.users(id);
    return std::all_of(users.begin(), users.end(), [&](NodeId user) { return user == users[0]; }) && (node.mode == Mode::broadcast || is_small_fold(node));
  }

  // The outermost of folds of folds, all over a few elements; or rows of a few sums of as few products.
  bool is_window(NodeId id) const {
    const Node& node = graph_.node(id);
    if (!is_small_fold(node)) return false;
    if (is_small_product(graph_, id)) {                  // again for each element of a row
      if (takes_long(id)) return false;
      int budget = unrolled_instructions;
      return can_make(id, identity_map(node.kept), static_cast<int>(node.domain[static_cast<std::size_t>(node.kept) - 1].constant()), budget);
    }
    if (node.op != Op::copy) return false;
    const NodeId inner = graph_.operand(id, 0);
    if (!is_small_fold(graph_.node(inner)) || !is_own(inner)) return false;
    int budget = unrolled_instructions;
    return can_make(id, identity_map(node.kept), 1, budget);
  }

  // Whether an op that is made again is more than one or two instructions.
  bool takes_long(NodeId id) const {
    if (op_cost(graph_.node(id).op) > 2) return true;
    for (int position = 0; position < graph_.arity(id); ++position)
      if (const NodeId operand = graph_.operand(id, position); is_own(operand) && takes_long(operand)) return true;
    return false;
  }

  // The reading of what the node makes its k-th element from.
  AxisMap map_at(NodeId id, int position, AxisMap map, Index k) const {
    if (graph_.node(id).mode == Mode::accumulate) map.push_back({-1, k, 1});
    return compose(graph_.map(id, position), map);
  }

  // `times`: so often, for each element of the result.
  bool can_make(NodeId id, const AxisMap& map, int times, int& budget) const {
    const Node& node = graph_.node(id);
    const bool folds = is_small_fold(node);
    const int count = folds ? static_cast<int>(node.domain.back().constant()) : 1;
    budget -= times * count * ((folds ? 1 : 0) + (node.op == Op::copy ? 0 : op_cost(node.op)));
    for (int position = 0; position < graph_.arity(id) && budget >= 0; ++position) {
      const NodeId operand = graph_.operand(id, position);
      const AxisMap read = map_at(id, position, map, 0);
      const bool is_fixed = std::any_of(read.begin(), read.end(), [](const AxisRef& ref) { return ref.axis < 0; });
      if (is_own(operand)) {
        if (!can_make(operand, read, times * count, budget)) return false;
      } else if (is_fixed && !lies_in_memory(graph_, operand)) {
        return false;
      }
    }
    return budget >= 0;
  }

  Operand value(NodeId id, const AxisMap& map) {
    const Node& node = graph_.node(id);
    if (node.mode != Mode::accumulate) return element(id, map, 0);
    // weft/accumulator.h: each element is a slot of its own, and those without one change nothing
    std::vector<Operand> slots;
    for (Index k = 0; k < node.domain.back().constant(); ++k) slots.push_back(element(id, map, k));
    for (std::size_t half = fold_slots / 2; half >= 1; half /= 2) {
      for (std::size_t s = 0; s + half < slots.size(); ++s) slots[s] = apply(*combining_op(node.accumulator), node.dtype, {slots[s], slots[s + half]});
      slots.resize(std::min(slots.size(), half));
    }
    return slots[0];
  }

  Operand element(NodeId id, const AxisMap& map, Index k) {
    const Node& node = graph_.node(id);
    std::vector<Operand> operands;
    for (int position = 0; position < graph_.arity(id); ++position) {
      const NodeId operand = graph_.operand(id, position);
      const AxisMap read = map_at(id, position, map, k);
      operands.push_back(is_own(operand) ? value(operand, read) : Operand{rebuild_[operand], read});
    }
    return node.op == Op::copy && node.mode == Mode::accumulate ? operands[0] : apply(node.op, node.dtype, std::move(operands));
  }

  Operand apply(Op op, DType dtype, std::vector<Operand> operands) {
    return {rebuild_.to.apply(op, dtype, domain_, std::move(operands), order_), identity_map(static_cast<int>(domain_.size()))};
  }

  const Graph& graph_;
  const std::vector<bool> is_output_;
  Rebuild rebuild_;
  Shape domain_;                                         // of the window that is unrolled
  Order order_ = Order::c;
};

}  // namespace

Graph unroll_folds(const Graph& graph) { return Unroller(graph).run(); }

}  // namespace weft
