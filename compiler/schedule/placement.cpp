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

}  // namespace

bool Placement::encloses(int outer, int inner) const {
  while (inner >= 0 && loops[static_cast<std::size_t>(inner)].depth > loops[static_cast<std::size_t>(outer)].depth)
    inner = loops[static_cast<std::size_t>(inner)].parent;
  return inner == outer;
}

Placement place_values(const Graph& graph, const Schedule& schedule, const Nest& nest) {
  Placement p;
  const std::size_t count = nest.nodes.size();
  p.home.resize(count);
  p.computed_in.resize(count);
  p.kept.assign(count, false);
  for (std::size_t k = 0; k < count; ++k) p.place_of[nest.nodes[k].node] = static_cast<int>(k);
  number_loops(nest.root, -1, 0, p);
  std::vector<int> cost(count, 0), weight(p.loops.size(), 0);
  for (std::size_t k = 0; k < count; ++k) weight[static_cast<std::size_t>(p.home[k])] += node_cost(graph.node(nest.nodes[k].node));
  std::vector<std::set<int>> demand(count);
  for (std::size_t k = 0; k < count; ++k) {
    p.result_home.push_back(loop_of_result(graph, nest, p, static_cast<int>(k)));
    const NodeId id = nest.nodes[k].node;
    cost[k] = node_cost(graph.node(id));
    for (int operand = 0; operand < graph.arity(id); ++operand) {
      const NodeId made = graph.operand(id, operand);
      auto found = p.place_of.find(made);
      const bool in_nest = found != p.place_of.end();
      const bool fold = in_nest && (graph.node(made).mode == Mode::accumulate || graph.node(made).kind == Kind::recurrence);
      const bool literal = graph.node(made).kind == Kind::constant && graph.node(made).kept == 0;
      const bool outer = in_nest && p.result_home[static_cast<std::size_t>(found->second)] != p.home[k] &&
                         p.encloses(p.result_home[static_cast<std::size_t>(found->second)], p.home[k]);
      const bool of_block = in_nest && p.home[static_cast<std::size_t>(found->second)] != p.home[k] &&         // one element for each row
                            p.loops[static_cast<std::size_t>(p.home[static_cast<std::size_t>(found->second)])].level->var.part == Part::vector;
      cost[k] = std::min(1000, cost[k] + (literal || outer || of_block ? 0 : !in_nest || fold ? 1 : cost[static_cast<std::size_t>(found->second)]));
    }
  }
  p.kept_above = p.last_read = p.result_home;
  for (std::size_t k = 0; k < count; ++k)                        // each lane has a row of its own
    if (const HomeLoop& home = p.loops[static_cast<std::size_t>(p.home[k])]; graph.node(nest.nodes[k].node).kind == Kind::others && home.level->lanes) p.kept_above[k] = home.parent;
  std::vector<bool> across(count, false);                        // read at another index than it is made at
  for (std::size_t k = count; k-- > 0;) {
    const NodeId id = nest.nodes[k].node;
    const Node& node = graph.node(id);
    const int home = p.result_home[k];
    const bool fold = node.mode == Mode::accumulate;
    bool elsewhere = false, same_path = true, moves = demand[k].size() == 1 && nest.distribution.loops == 0;      // else its loops become one again
    for (int loop : demand[k]) {
      elsewhere |= loop != home;
      moves &= weight[static_cast<std::size_t>(loop)] + op_cost(node.op) <= full_loop_with_moves;
      same_path &= runs_as_often(p, loop, home);
    }
    const bool moves_there = (same_path && (moves || cost[k] <= cheap_value)) || is_made_by_readers(nest, nest.nodes[k]);
    // Loads of windows run where they are read, like ops: halves of rows that rotate each other took .21 ns an element by way of rows, .15 so (Zen 5). They run
    // forwards.
    const bool reads_memory = node.kind == Kind::update && !p.place_of.contains(graph.operand(id, 0)) && std::none_of(demand[k].begin(), demand[k].end(), [&](int loop) { return runs_backwards(p, loop); });
    if (elsewhere && !fold && !across[k] && (node.kind == Kind::apply || reads_memory) && !schedule.stored[id.value] && moves_there) {
      p.computed_in[k] = demand[k];
      for (int loop : demand[k]) weight[static_cast<std::size_t>(loop)] += op_cost(node.op);
      if (!demand[k].contains(home)) weight[static_cast<std::size_t>(home)] -= op_cost(node.op);
    } else {
      p.computed_in[k] = {p.home[k]};
      p.kept[k] = elsewhere || across[k] || node.kind == Kind::others;
      for (int loop : demand[k]) p.kept_above[k] = common_loop(p, p.kept_above[k], loop), p.last_read[k] = std::max(p.last_read[k], loop);
    }
    for (int operand = 0; operand < graph.arity(id); ++operand) {
      auto found = p.place_of.find(graph.operand(id, operand));
      if (found == p.place_of.end()) continue;
      const auto made = static_cast<std::size_t>(found->second);
      across[made] = across[made] || node.kind == Kind::others || !reads_in_place(graph, id, operand, nest.nodes[made].axes);
      for (int loop : p.computed_in[k]) demand[made].insert(p.encloses(p.result_home[made], loop) ? p.result_home[made] : loop);
    }
  }
  return p;
}

}  // namespace weft
