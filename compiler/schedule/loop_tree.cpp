// Every node follows the path of its axes. Within one loop, nodes and inner loops carry a phase: a value folded by a loop is ready one phase
// after that loop, a value made inside a loop over the same axis can be used at once. Nodes choose the earliest loop that is ready and not
// full.
#include "loop_tree.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "blocks.h"
#include "cost_model.h"
#include "readers.h"
#include "running.h"

namespace weft {
namespace {

struct WorkLoop {
  LoopVar var;
  int phase = 0;
  int weight = 0;
  bool carries = false;                                         // a recurrence over the loop's own axis, element by element
  bool of_numbers = false;                                      // has no loop inside
  int direction = 0;                                            // 1: from the first index, -1: from the last, 0: any
  std::vector<std::pair<int, int>> items;                       // (phase, node >= 0 | ~loop)
  std::map<std::tuple<int, Part, bool>, std::vector<int>> inner;       // loops by variable and whether they are of numbers, in creation order
};
struct Position {
  std::vector<int> loops;                                       // from the root to the home loop
  int phase = 0;                                                // within the home loop
};

class TreeBuilder {
 public:
  TreeBuilder(const Graph& graph, const Nest& nest, const std::vector<int>& own_loops) : graph_(graph), nest_(nest), own_loops_(own_loops) {
    loops_.emplace_back();
    if (!nest.vars.empty()) loops_[0].var = nest.vars[0];
    for (std::size_t k = 0; k < nest.nodes.size(); ++k) place_[nest.nodes[k].node] = static_cast<int>(k);
    positions_.resize(nest.nodes.size());
    for (std::size_t k = 0; k < nest.nodes.size(); ++k) insert(static_cast<int>(k));
  }
  Level build() { return build(0); }

 private:
  // In the root stands everything, conditions on another index too. What reads whole rows stands outside their loops.
  std::vector<LoopVar> path_of(const Placed& placed) const {
    const Node& node = graph_.node(placed.node);
    const int row = node.kind == Kind::others ? placed.axes[static_cast<std::size_t>(carried_axes(node)[0])] : -2;
    std::vector<LoopVar> path;
    for (const LoopVar& var : nest_.vars)
      if (var.axis == row) continue;
      else if (path.empty() || var.axis < 0 || std::find(placed.axes.begin(), placed.axes.end(), var.axis) != placed.axes.end()) path.push_back(var);
    if (nest_.block > 0 && !path.empty() && follows_root_alone(nest_, placed)) path.back().part = Part::vector;
    return path;
  }
  bool folds(const Placed& placed, int axis) const {
    const Node& node = graph_.node(placed.node);
    for (std::size_t d = static_cast<std::size_t>(node.kept); d < placed.axes.size(); ++d) if (placed.axes[d] == axis) return true;
    return false;
  }
  // Whether a loop of numbers, one for each element, folds them, or makes them by long functions, where others like it have the vectors inside: it is one of
  // its own, which runs as vectors, and the others do nothing but what they have inside. Weighted means of 2048 rows of 512 floats 60 -> 43 us (Zen 5).
  // Along the root so do folds of arrays; what else rows have once goes one by one, or in blocks (blocks.h).
  bool is_of_numbers(const Placed& placed, const std::vector<LoopVar>& path, std::size_t last) const {
    const Node& node = graph_.node(placed.node);
    if (last + 1 != path.size() || last == 0 || nest_.block > 0 || path[last].axis == nest_.lanes || node.kind != Kind::apply) return false;
    const int axis = path[last].axis;
    const bool is_root = axis == nest_.vars[0].axis, is_fold = node.mode == Mode::accumulate && folds(placed, axis);
    const bool is_long = node.mode != Mode::accumulate && op_cost(node.op) >= long_function && nest_.axes[static_cast<std::size_t>(axis)].hint >= lane_count;
    return (is_fold || (is_long && !is_root)) && all_operands(placed.node, [&](NodeId id) { return is_root ? !place_.contains(id) : follows_arrays(id, axis, 0); });
  }
  template <class Is> bool all_operands(NodeId id, const Is& is) const {
    for (int k = 0; k < graph_.arity(id); ++k) if (!is(graph_.operand(id, k))) return false;
    return true;
  }
  // Whether a value is made of arrays, and of what the nest has along other axes alone: it does not wait for what loops inside one over this axis fold.
  bool follows_arrays(NodeId id, int axis, int depth) const {
    constexpr int deepest = 4;
    const auto found = place_.find(id);
    if (found == place_.end()) return true;
    const Node& node = graph_.node(id);
    const auto& axes = nest_.nodes[static_cast<std::size_t>(found->second)].axes;
    const auto end = axes.begin() + node.kept;
    if (std::find(axes.begin(), end, axis) == end) return true;
    return node.kind == Kind::apply && node.mode == Mode::broadcast && depth < deepest && all_operands(id, [&](NodeId operand) { return follows_arrays(operand, axis, depth + 1); });
  }
  // In blocks, rows that are folded end: what reads the result runs in loops of its own. All rows would wait in the middle otherwise, until their
  // lanes are one value, and a processor looks ahead by two of them at most.
  bool ends_row(const Placed& placed, const LoopVar& var) const {
    return nest_.block > 0 && var == LoopVar{nest_.vars[0].axis, Part::element} && graph_.node(placed.node).mode == Mode::accumulate && !folds(placed, var.axis);
  }
  // Whether node `k` takes an operand at another index along this axis than the one it is made at.
  bool reads_across(int k, int operand, const Placed& made, int axis) const {
    const NodeId id = nest_.nodes[static_cast<std::size_t>(k)].node;
    for (std::size_t d = 0; d < graph_.map(id, operand).size(); ++d)
      if (made.axes[d] == axis && !reads_in_place(graph_, id, operand, d)) return true;
    return false;
  }
  // The first phase of loop `current` (at this depth) in which everything `k` reads is ready.
  int ready(int k, int current, std::size_t depth, const LoopVar* next, bool numbers) const {
    int phase = 0;
    const NodeId id = nest_.nodes[static_cast<std::size_t>(k)].node;
    for (int operand = 0; operand < graph_.arity(id); ++operand) {
      auto found = place_.find(graph_.operand(id, operand));
      if (found == place_.end() || found->second >= k) continue;
      if (is_made_by_readers(nest_, nest_.nodes[static_cast<std::size_t>(found->second)])) continue;
      const Position& made = positions_[static_cast<std::size_t>(found->second)];
      if (made.loops.size() <= depth || made.loops[depth] != current) continue;
      if (made.loops.size() == depth + 1) { phase = std::max(phase, made.phase); continue; }
      const WorkLoop& inner = loops_[static_cast<std::size_t>(made.loops[depth + 1])];
      const Placed& operand_placed = nest_.nodes[static_cast<std::size_t>(found->second)];
      const bool within = next && inner.var == *next && inner.of_numbers == numbers && !ends_row(operand_placed, inner.var) && !folds(operand_placed, inner.var.axis) && !reads_across(k, operand, operand_placed, inner.var.axis);
      phase = std::max(phase, inner.phase + (within ? 0 : 1));
    }
    return phase;
  }
  // Which way the loop over this axis may run: a recurrence visits its elements in order, and what is added up, or written through a
  // window, does so from the first index.
  int direction_of(const Placed& placed, int axis) const {
    const Node& node = graph_.node(placed.node);
    const auto runs = [&](int own) { return placed.axes[static_cast<std::size_t>(own)] == axis; };
    if (node.mode == Mode::accumulate || node.kind == Kind::update) return std::find(placed.axes.begin(), placed.axes.end(), axis) != placed.axes.end() ? 1 : 0;
    const std::vector<int> carried = carried_axes(node);
    if (std::none_of(carried.begin(), carried.end(), runs)) return 0;
    return std::get<Recurring>(node.payload).backwards ? -1 : 1;
  }
  int enter(int current, const LoopVar& var, int phase, int direction, bool numbers) {
    auto& candidates = loops_[static_cast<std::size_t>(current)].inner[{var.axis, var.part, numbers}];
    int chosen = -1;
    for (auto it = candidates.rbegin(); it != candidates.rend() && it - candidates.rbegin() < loops_tried; ++it) {
      const WorkLoop& loop = loops_[static_cast<std::size_t>(*it)];
      if (loop.phase < phase) break;
      if (loop.weight < full_loop && loop.direction * direction >= 0) chosen = *it;
    }
    if (chosen >= 0) {
      if (direction != 0) loops_[static_cast<std::size_t>(chosen)].direction = direction;
      return chosen;
    }
    if (!candidates.empty()) phase = std::max(phase, loops_[static_cast<std::size_t>(candidates.back())].phase + 1);
    chosen = static_cast<int>(loops_.size());
    candidates.push_back(chosen);
    loops_[static_cast<std::size_t>(current)].items.emplace_back(phase, ~chosen);
    loops_.emplace_back();
    loops_.back().var = var;
    loops_.back().phase = phase;
    loops_.back().direction = direction;
    loops_.back().of_numbers = numbers;
    return chosen;
  }
  void insert(int k) {
    const Placed& placed = nest_.nodes[static_cast<std::size_t>(k)];
    const std::vector<LoopVar> path = path_of(placed);
    Position& position = positions_[static_cast<std::size_t>(k)];
    int current = 0;
    for (std::size_t depth = 0;; ++depth) {
      position.loops.push_back(current);
      const bool last = depth + 1 >= path.size();
      const bool numbers = is_of_numbers(placed, path, depth + 1);
      const int phase = ready(k, current, depth, last ? nullptr : &path[depth + 1], numbers);
      if (last) {
        position.phase = phase;
        loops_[static_cast<std::size_t>(current)].items.emplace_back(phase, k);
        loops_[static_cast<std::size_t>(current)].weight += node_cost(graph_.node(placed.node));
        if (running_accumulator(graph_.node(placed.node))) return;
        for (int axis : carried_axes(graph_.node(placed.node)))
          loops_[static_cast<std::size_t>(current)].carries |= !path.empty() && path.back().axis >= 0 && placed.axes[static_cast<std::size_t>(axis)] == path.back().axis;
        return;
      }
      const int own = !own_loops_.empty() && depth + 2 == path.size() ? own_loops_[static_cast<std::size_t>(k)] : 0;
      current = enter(current, path[depth + 1], std::max(phase, own), direction_of(placed, path[depth + 1].axis), numbers);
    }
  }
  Level build(int index) {
    WorkLoop& loop = loops_[static_cast<std::size_t>(index)];
    std::sort(loop.items.begin(), loop.items.end(), [](auto& a, auto& b) {
      return std::tuple(a.first, a.second < 0, std::abs(a.second)) < std::tuple(b.first, b.second < 0, std::abs(b.second));
    });
    Level level;
    level.var = loop.var;
    level.backwards = loop.direction < 0;
    bool inner = false;
    for (auto [phase, item] : loop.items) {
      if (item >= 0) level.body.emplace_back(nest_.nodes[static_cast<std::size_t>(item)].node);
      else level.body.emplace_back(build(~item)), inner = true;
    }
    level.lanes = !inner && !loop.carries && level.var.axis >= 0 && !level.var.splits() && index != 0;
    return level;
  }

  const Graph& graph_;
  const Nest& nest_;
  const std::vector<int>& own_loops_;
  std::vector<WorkLoop> loops_;
  std::unordered_map<NodeId, int> place_;
  std::vector<Position> positions_;
};

}  // namespace

Level build_tree(const Graph& graph, const Nest& nest, const std::vector<int>& loops) { return TreeBuilder(graph, nest, loops).build(); }

}  // namespace weft
