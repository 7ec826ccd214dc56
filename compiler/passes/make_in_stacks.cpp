// stack({a, b}, -1) = where(k < 1, a, b), whose last axis k of a few elements neither a nor b has -> a and b over that axis too: they are made where they are
// stored, side by side, and not as rows that are put together afterwards. What a copy of the loop does not choose it does not make. Pairs that rotate each other,
// 64 MiB of floats, 2.6 -> 1.6 ms, 16 KiB .17 -> .08 us (Zen 5).
#include "pipeline.h"

#include <algorithm>
#include <set>

#include <weft/passes.h>

#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"
#include "schedule/cost_model.h"

namespace weft {
namespace {

class Stacks {
 public:
  explicit Stacks(const Graph& graph) : graph_(graph), is_output_(output_marks(graph)), is_part_(graph.size(), false), is_made_(graph.size(), false), rebuild_(graph) {
    for (std::size_t k = graph.size(); k-- > 0;)       // stacks before what they are made of
      if (const NodeId id = id_of(k); !is_part_[k] && chooses(id)) take(id);
  }

  Graph run() {
    rebuild_.each([&](NodeId id, std::vector<Operand> operands) {
      const Node& node = graph_.node(id);
      made_.clear();
      for (int k = 1; k < graph_.arity(id) && is_part_[id.value]; ++k)
        if (is_made_[graph_.operand(id, k).value]) operands[static_cast<std::size_t>(k)] = made(graph_.operand(id, k), graph_.map(id, k), node);
      return rebuild_.to.add(node, std::move(operands));
    });
    const bool changed = std::find(is_made_.begin(), is_made_.end(), true) != is_made_.end();
    return changed ? merge_duplicates(drop_dead(rebuild_.finish())) : rebuild_.finish();
  }

 private:
  int last_axis(NodeId id) const { return static_cast<int>(graph_.node(id).domain.size()) - 1; }
  static bool mentions(const AxisMap& map, int axis) {
    return std::any_of(map.begin(), map.end(), [&](const AxisRef& ref) { return ref.axis == axis; });
  }
  // Whether it chooses by the index along a last axis of a few elements.
  bool chooses(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.kind != Kind::apply || node.mode != Mode::broadcast || node.op != Op::where || node.domain.size() < 2) return false;
    const Extent& few = node.domain.back();
    const AxisMap& asked = graph_.map(id, 0);
    return few.is_number() && few.constant() >= 2 && few.constant() <= most_stacked && asked.size() == 1 && asked[0].axis == last_axis(id);
  }

  // The choices of one stack, and the values that only they read, if making these for each element costs little.
  void take(NodeId stack) {
    std::set<NodeId> choices{stack}, values;
    std::vector<NodeId> due{stack};
    while (!due.empty()) {
      const NodeId id = due.back();
      due.pop_back();
      for (int k = 1; k <= 2; ++k) {
        const NodeId operand = graph_.operand(id, k);
        const bool goes_on = !is_output_[operand.value] && chooses(operand) && graph_.node(operand).domain == graph_.node(id).domain && graph_.map(id, k) == identity_map(last_axis(id) + 1) &&
                             graph_.users(operand).size() == 1;
        if (goes_on && choices.insert(operand).second) due.push_back(operand);
      }
    }
    for (NodeId id : choices) is_part_[id.value] = true;
    std::vector<NodeId> candidates;
    for (NodeId id : choices)
      for (int k = 1; k <= 2; ++k)
        if (!mentions(graph_.map(id, k), last_axis(id))) candidates.push_back(graph_.operand(id, k));
    std::sort(candidates.begin(), candidates.end());
    int cost = 0;
    std::set<NodeId> waiting(candidates.begin(), candidates.end());
    while (!waiting.empty()) {                           // readers before what they read
      const NodeId id = *waiting.rbegin();
      waiting.erase(id);
      if (!is_simple(id) || !is_read_by(id, choices, values)) continue;
      values.insert(id);
      cost += op_cost(graph_.node(id).op);
      if (cost > made_in_stack) return;
      for (int k = 0; k < graph_.arity(id); ++k) waiting.insert(graph_.operand(id, k));
    }
    for (NodeId id : values) is_made_[id.value] = true;
  }
  bool is_simple(NodeId id) const {
    const Node& node = graph_.node(id);
    return node.kind == Kind::apply && node.mode == Mode::broadcast && node.kept > 0 && !is_output_[id.value] && op_cost(node.op) < long_function;
  }
  bool is_read_by(NodeId id, const std::set<NodeId>& choices, const std::set<NodeId>& values) const {
    const std::vector<NodeId> users = graph_.users(id);
    return std::all_of(users.begin(), users.end(), [&](NodeId user) { return choices.contains(user) || values.contains(user); });
  }

  // The value over the loops of the choice that reads it.
  Operand made(NodeId id, const AxisMap& map, const Node& reader) {
    const auto before = std::find_if(made_.begin(), made_.end(), [&](const Made& each) { return each.id == id && each.map == map; });
    if (before != made_.end()) return before->operand;
    const Node& node = graph_.node(id);
    std::vector<Operand> operands;
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId operand = graph_.operand(id, k);
      const AxisMap read = compose(graph_.map(id, k), map);
      operands.push_back(is_made_[operand.value] ? made(operand, read, reader) : Operand{rebuild_[operand], read});
    }
    const NodeId now = rebuild_.to.apply(node.op, node.dtype, reader.domain, std::move(operands), reader.order);
    return made_.emplace_back(Made{id, map, Operand{now, identity_map(static_cast<int>(reader.domain.size()))}}).operand;
  }

  const Graph& graph_;
  const std::vector<bool> is_output_;
  std::vector<bool> is_part_;                   // by node: chooses for a stack
  std::vector<bool> is_made_;                   // by node: over the last axis of the stack that reads it
  struct Made {
    NodeId id;
    AxisMap map;
    Operand operand;
  };
  std::vector<Made> made_;                      // for the choice at hand
  Rebuild rebuild_;
};

}  // namespace

bool stacks_last(const Graph& graph) {
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (const Node& node = graph.node(id_of(k)); node.kind == Kind::apply && node.op == Op::where && node.domain.size() > 1 && node.domain.back().is_number()) return true;
  return false;
}

Graph make_in_stacks(const Graph& graph) { return Stacks(graph).run(); }

}  // namespace weft
