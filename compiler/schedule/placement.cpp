#include "placement.h"

#include "schedule/blocks.h"
#include "schedule/readers.h"

#include <algorithm>

namespace weft {
namespace {

void number_loops(const Level& level, int parent, int depth, Placement& out) {
  const int self = static_cast<int>(out.loops.size());
  out.loops.push_back({&level, parent, depth});
  out.loop_of[&level] = self;
  for (const auto& item : level.body) {
    if (auto* inner = std::get_if<Level>(&item)) number_loops(*inner, self, depth + 1, out);
    else out.home[static_cast<std::size_t>(out.place_of.at(std::get<NodeId>(item)))] = self;
  }
}

int common_loop(const Placement& p, int a, int b) {
  while (a != b) {
    int& deeper = p.loops[static_cast<std::size_t>(a)].depth >= p.loops[static_cast<std::size_t>(b)].depth ? a : b;
    deeper = p.loops[static_cast<std::size_t>(deeper)].parent;
  }
  return a;
}

// Whether two loops lie under the same variables: a value moved from one to the other is computed as often.
bool runs_as_often(const Placement& p, int a, int b) {
  for (; a >= 0 && b >= 0; a = p.loops[static_cast<std::size_t>(a)].parent, b = p.loops[static_cast<std::size_t>(b)].parent) {
    if (a == b) return true;
    if (!(p.loops[static_cast<std::size_t>(a)].level->var == p.loops[static_cast<std::size_t>(b)].level->var)) return false;
  }
  return a == b;
}

bool runs_backwards(const Placement& p, int loop) {
  for (; loop >= 0; loop = p.loops[static_cast<std::size_t>(loop)].parent)
    if (p.loops[static_cast<std::size_t>(loop)].level->backwards) return true;
  return false;
}

// The loop in which the result of a node exists: its home, or for a fold the loop around the outermost folded one.
int loop_of_result(const Graph& graph, const Nest& nest, const Placement& p, int place) {
  const Placed& placed = nest.nodes[static_cast<std::size_t>(place)];
  const Node& node = graph.node(placed.node);
  int result = p.home[static_cast<std::size_t>(place)];
  for (int loop = result; loop >= 0; loop = p.loops[static_cast<std::size_t>(loop)].parent)
    for (std::size_t d = static_cast<std::size_t>(node.kept); d < placed.axes.size(); ++d)
      if (placed.axes[d] >= 0 && placed.axes[d] == p.loops[static_cast<std::size_t>(loop)].level->var.axis)
        result = p.loops[static_cast<std::size_t>(loop)].parent;
  return result;
}

// Decides from the last node to the first: readers say where they want a value before it is placed.
class Placer {
 public:
  Placer(const Graph& graph, const Schedule& schedule, const Nest& nest)
      : graph_(graph), schedule_(schedule), nest_(nest), cost_(nest.nodes.size(), 0), demand_(nest.nodes.size()), across_(nest.nodes.size(), false) {}

  Placement run() {
    const std::size_t count = nest_.nodes.size();
    p_.home.resize(count);
    p_.computed_in.resize(count);
    p_.kept.assign(count, false);
    for (std::size_t k = 0; k < count; ++k) p_.place_of[id_of(k)] = static_cast<int>(k);
    number_loops(nest_.root, -1, 0, p_);
    weight_.assign(p_.loops.size(), 0);
    for (std::size_t k = 0; k < count; ++k) weight_[static_cast<std::size_t>(p_.home[k])] += node_cost(graph_.node(id_of(k)));
    for (std::size_t k = 0; k < count; ++k) {
      p_.result_home.push_back(loop_of_result(graph_, nest_, p_, static_cast<int>(k)));
      cost_[k] = price(k);
    }
    p_.kept_above = p_.last_read = p_.result_home;
    for (std::size_t k = 0; k < count; ++k)                      // each lane has a row of its own
      if (const HomeLoop& home = p_.loops[static_cast<std::size_t>(p_.home[k])]; graph_.node(id_of(k)).kind == Kind::others && home.level->lanes) p_.kept_above[k] = home.parent;
    for (std::size_t k = count; k-- > 0;) {
      decide(k);
      ask_operands(k);
    }
    return std::move(p_);
  }

 private:
  NodeId id_of(std::size_t k) const { return nest_.nodes[k].node; }
  int home(std::size_t k) const { return p_.home[k]; }

  // Of making the value again, from what is in memory or in a loop outside.
  int price(std::size_t k) const {
    constexpr int most = 1000;
    const NodeId id = id_of(k);
    int cost = node_cost(graph_.node(id));
    for (int operand = 0; operand < graph_.arity(id); ++operand) {
      const NodeId made = graph_.operand(id, operand);
      const auto found = p_.place_of.find(made);
      if (found == p_.place_of.end()) {
        const bool literal = graph_.node(made).kind == Kind::constant && graph_.node(made).kept == 0;
        cost += literal ? 0 : 1;
      } else {
        cost += price_of_reading(static_cast<std::size_t>(found->second), home(k));
      }
      cost = std::min(most, cost);
    }
    return cost;
  }
  int price_of_reading(std::size_t made, int loop) const {
    const bool fold = graph_.node(id_of(made)).mode == Mode::accumulate || graph_.node(id_of(made)).kind == Kind::recurrence;
    const bool outer = p_.result_home[made] != loop && p_.encloses(p_.result_home[made], loop);
    const bool of_block = home(made) != loop && p_.loops[static_cast<std::size_t>(home(made))].level->var.part == Part::vector;      // one element for each row
    return outer || of_block ? 0 : fold ? 1 : cost_[made];
  }

  // Whether all loops that want the value make it: it is cheap, or the one there is has room for it.
  bool moves_to_readers(std::size_t k) const {
    const Node& node = graph_.node(id_of(k));
    bool same_path = true, has_room = demand_[k].size() == 1 && nest_.distribution.loops == 0;      // else its loops become one again
    for (int loop : demand_[k]) {
      has_room &= weight_[static_cast<std::size_t>(loop)] + op_cost(node.op) <= full_loop_with_moves;
      same_path &= runs_as_often(p_, loop, p_.result_home[k]);
    }
    return (same_path && (has_room || cost_[k] <= cheap_value)) || is_made_by_readers(nest_, nest_.nodes[k]);
  }
  // Loads of windows run where they are read, like ops: halves of rows that rotate each other took .21 ns an element by way of rows, .15 so (Zen 5). They run
  // forwards.
  bool reads_memory(std::size_t k) const {
    return graph_.node(id_of(k)).kind == Kind::update && !p_.place_of.contains(graph_.operand(id_of(k), 0)) &&
           std::none_of(demand_[k].begin(), demand_[k].end(), [&](int loop) { return runs_backwards(p_, loop); });
  }

  void decide(std::size_t k) {
    const Node& node = graph_.node(id_of(k));
    const bool elsewhere = std::any_of(demand_[k].begin(), demand_[k].end(), [&](int loop) { return loop != p_.result_home[k]; });
    const bool may_move = node.mode != Mode::accumulate && !across_[k] && (node.kind == Kind::apply || reads_memory(k)) && !schedule_.stored[id_of(k).value];
    if (elsewhere && may_move && moves_to_readers(k)) {
      p_.computed_in[k] = demand_[k];
      for (int loop : demand_[k]) weight_[static_cast<std::size_t>(loop)] += op_cost(node.op);
      if (!demand_[k].contains(p_.result_home[k])) weight_[static_cast<std::size_t>(p_.result_home[k])] -= op_cost(node.op);
    } else {
      p_.computed_in[k] = {home(k)};
      p_.kept[k] = elsewhere || across_[k] || node.kind == Kind::others;
      for (int loop : demand_[k]) p_.kept_above[k] = common_loop(p_, p_.kept_above[k], loop), p_.last_read[k] = std::max(p_.last_read[k], loop);
    }
  }

  void ask_operands(std::size_t k) {
    const NodeId id = id_of(k);
    for (int operand = 0; operand < graph_.arity(id); ++operand) {
      const auto found = p_.place_of.find(graph_.operand(id, operand));
      if (found == p_.place_of.end()) continue;
      const auto made = static_cast<std::size_t>(found->second);
      across_[made] = across_[made] || graph_.node(id).kind == Kind::others || !reads_in_place(graph_, id, operand, nest_.nodes[made].axes);
      for (int loop : p_.computed_in[k]) demand_[made].insert(p_.encloses(p_.result_home[made], loop) ? p_.result_home[made] : loop);
    }
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const Nest& nest_;
  Placement p_;
  std::vector<int> cost_, weight_;                               // of making a value again, by node; of what runs in a loop
  std::vector<std::set<int>> demand_;                            // by node: loops that read it
  std::vector<bool> across_;                                     // read at another index than it is made at
};

}  // namespace

bool Placement::encloses(int outer, int inner) const {
  while (inner >= 0 && loops[static_cast<std::size_t>(inner)].depth > loops[static_cast<std::size_t>(outer)].depth)
    inner = loops[static_cast<std::size_t>(inner)].parent;
  return inner == outer;
}

Placement place_values(const Graph& graph, const Schedule& schedule, const Nest& nest) { return Placer(graph, schedule, nest).run(); }

}  // namespace weft
