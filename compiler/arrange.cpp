// The order of the loops of one nest, and the tree they form.
//
// Order: the root outermost, then axes by falling stride, the axis that runs as vectors innermost. Strides, not c or f,
// decide. If the root itself is the best vector axis it is split: tiles outermost, elements innermost.
//
// Tree: every node follows the path of its axes. Within one loop, nodes and inner loops carry a phase: a value folded by
// a loop is ready one phase after that loop, a value made inside a loop over the same axis can be used at once. Nodes
// choose the earliest loop that is ready and not full.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "blocks.h"
#include "drafts.h"
#include "placement.h"
#include "root.h"

namespace weft {
namespace {

// ---------------------------------------------------------------- strides
struct Costs {
  AxisUses uses;                        // by axis
  std::vector<double> stride;           // by axis: sum of |stride| over accesses, outermost if large
  std::vector<double> carried;          // by axis: cost of recurrences along it
  double arithmetic = 0;                // of the whole nest, in contiguous loads

  Costs(const Graph& graph, const Hints& hints, const Schedule& schedule, const Nest& nest)
      : uses(nest.axes.size()), stride(nest.axes.size()), carried(nest.axes.size()) {
    std::set<std::pair<NodeId, std::string>> loaded;             // what several nodes read at the same index is loaded once
    for (const Placed& placed : nest.nodes) {
      const Node& node = graph.node(placed.node);
      const double volume = volume_of(placed.axes, nest.axes, placed.axes.size());
      arithmetic += op_in_loads * volume;
      for (int k = 0; k < graph.arity(placed.node) && node.kind == Kind::apply; ++k) {
        const NodeId array = graph.operand(placed.node, k);
        const AxisMap& map = graph.map(placed.node, k);
        if (nest.find(array) || !loaded.emplace(array, index_of(placed, map)).second) continue;
        const Dims strides = strides_of(graph, hints, array);
        const std::vector<StrideClass> classes = classes_of(graph, hints, array);
        const auto axis_at = [&](std::size_t d) { return map[d].axis < 0 ? -1 : placed.axes[static_cast<std::size_t>(map[d].axis)]; };
        bool beside_few = false;
        for (std::size_t d = 0; d < map.size(); ++d) beside_few |= std::abs(strides[d] * map[d].step) == 1 && is_few(nest, axis_at(d));
        for (std::size_t d = 0; d < map.size(); ++d) add(axis_at(d), strides[d] * map[d].step, times(classes[d], map[d].step), volume, beside_few);
      }
      if (schedule.stored[placed.node.value] && node.kept == static_cast<int>(node.domain.size())) {
        const Dims strides = strides_of(graph, hints, placed.node);
        bool beside_few = false;
        for (std::size_t d = 0; d < strides.size(); ++d) beside_few |= strides[d] == 1 && is_few(nest, placed.axes[d]);
        for (std::size_t d = 0; d < strides.size(); ++d) add(placed.axes[d], strides[d], StrideClass::other, strides[d] == 1 ? volume : store_in_loads * volume, beside_few);
      }
      add_folds(node, placed.axes, nest.axes, uses);
      if (node.kind == Kind::apply && op_cost(node.op) >= long_function)
        for (int axis : placed.axes) if (axis >= 0) uses[static_cast<std::size_t>(axis)].functions += op_cost(node.op) * volume;
      for (int axis : carried_axes(node))
        if (const int own = placed.axes[static_cast<std::size_t>(axis)]; own >= 0) carried[static_cast<std::size_t>(own)] += volume * node_cost(node);
    }
  }

 private:
  static std::string index_of(const Placed& placed, const AxisMap& map) {
    std::string text;
    for (const AxisRef& ref : map) text += concat(ref.axis < 0 ? -1 : placed.axes[static_cast<std::size_t>(ref.axis)], " ", ref.step, " ", to_text(ref.start), ",");
    return text;
  }
  static bool is_few(const Nest& nest, int axis) {
    const Extent* extent = axis < 0 ? nullptr : &nest.axes[static_cast<std::size_t>(axis)].extent;
    return extent && extent->is_number() && extent->constant() >= 2 && extent->constant() < fold_slots;
  }
  void add(int axis, Index step, StrideClass known, double volume, bool beside_few) {
    if (axis < 0 || step == 0) return;
    const auto a = static_cast<std::size_t>(axis);
    stride[a] += std::abs(static_cast<double>(step)) * std::sqrt(volume);
    uses[a].add(std::abs(static_cast<double>(step)), is_known(known), volume, beside_few);
  }
};

int choose_lanes(Nest& nest, const Costs& costs, const Machine& machine) {
  for (std::size_t axis = 0; axis < nest.axes.size(); ++axis)
    nest.compared.push_back({costs.stride[axis], vector_axis_cost(machine, costs.uses[axis], costs.carried[axis], costs.arithmetic, nest.axes[axis].hint), {}});
  int best = 0;
  for (int axis = 1; axis < static_cast<int>(nest.axes.size()); ++axis) {
    const double mine = nest.compared[static_cast<std::size_t>(axis)].vectors, other = nest.compared[static_cast<std::size_t>(best)].vectors;
    if (mine < other || (mine == other && nest.axes[static_cast<std::size_t>(axis)].hint >= nest.axes[static_cast<std::size_t>(best)].hint)) best = axis;
  }
  return best;
}

int choose_root(Nest& nest, const Costs& costs, int lanes) {
  int best = -1;
  double best_penalty = 0;
  for (int axis = 0; axis < static_cast<int>(nest.axes.size()); ++axis) {
    if (!(nest.roots >> axis & 1)) continue;
    const auto a = static_cast<std::size_t>(axis);
    nest.compared[a].root = root_cost(costs.uses[a], nest.axes[a].hint, axis == lanes && nest.axes.size() > 1);
    const double penalty = nest.compared[a].root.total();
    if (best < 0 || penalty < best_penalty || (penalty == best_penalty && costs.stride[a] > costs.stride[static_cast<std::size_t>(best)])) best = axis, best_penalty = penalty;
  }
  return best;
}

// ---------------------------------------------------------------- the tree of loops
struct WorkLoop {
  LoopVar var;
  int phase = 0;
  int weight = 0;
  bool carries = false;                                         // a recurrence over the loop's own axis
  int direction = 0;                                            // 1: from the first index, -1: from the last, 0: any
  std::vector<std::pair<int, int>> items;                       // (phase, node >= 0 | ~loop)
  std::map<std::pair<int, Part>, std::vector<int>> inner;       // loops by variable, in creation order
};
struct Position {
  std::vector<int> loops;                                       // from the root to the home loop
  int phase = 0;                                                // within the home loop
};

class TreeBuilder {
 public:
  TreeBuilder(const Graph& graph, const Nest& nest) : graph_(graph), nest_(nest) {
    loops_.emplace_back();
    if (!nest.vars.empty()) loops_[0].var = nest.vars[0];
    for (std::size_t k = 0; k < nest.nodes.size(); ++k) place_[nest.nodes[k].node] = static_cast<int>(k);
    positions_.resize(nest.nodes.size());
    for (std::size_t k = 0; k < nest.nodes.size(); ++k) insert(static_cast<int>(k));
  }
  Level build() { return build(0); }

 private:
  std::vector<LoopVar> path_of(const Placed& placed) const {
    std::vector<LoopVar> path;
    for (const LoopVar& var : nest_.vars)
      if (var.axis < 0 || std::find(placed.axes.begin(), placed.axes.end(), var.axis) != placed.axes.end()) path.push_back(var);
    if (nest_.block > 0 && !path.empty() && follows_root_alone(nest_, placed)) path.back().part = Part::vector;
    return path;
  }
  bool folds(const Placed& placed, int axis) const {
    const Node& node = graph_.node(placed.node);
    for (std::size_t d = static_cast<std::size_t>(node.kept); d < placed.axes.size(); ++d) if (placed.axes[d] == axis) return true;
    return false;
  }
  // Whether node `k` takes an operand at another index along this axis than the one it is made at.
  bool reads_across(int k, int operand, const Placed& made, int axis) const {
    const NodeId id = nest_.nodes[static_cast<std::size_t>(k)].node;
    for (std::size_t d = 0; d < graph_.map(id, operand).size(); ++d)
      if (made.axes[d] == axis && !reads_in_place(graph_, id, operand, d)) return true;
    return false;
  }
  // The first phase of loop `current` (at this depth) in which everything `k` reads is ready.
  int ready(int k, int current, std::size_t depth, const LoopVar* next) const {
    int phase = 0;
    const NodeId id = nest_.nodes[static_cast<std::size_t>(k)].node;
    for (int operand = 0; operand < graph_.arity(id); ++operand) {
      auto found = place_.find(graph_.operand(id, operand));
      if (found == place_.end() || found->second >= k) continue;
      const Position& made = positions_[static_cast<std::size_t>(found->second)];
      if (made.loops.size() <= depth || made.loops[depth] != current) continue;
      if (made.loops.size() == depth + 1) { phase = std::max(phase, made.phase); continue; }
      const WorkLoop& inner = loops_[static_cast<std::size_t>(made.loops[depth + 1])];
      const Placed& operand_placed = nest_.nodes[static_cast<std::size_t>(found->second)];
      const bool within = next && inner.var == *next && !folds(operand_placed, inner.var.axis) && !reads_across(k, operand, operand_placed, inner.var.axis);
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
  int enter(int current, const LoopVar& var, int phase, int direction) {
    auto& candidates = loops_[static_cast<std::size_t>(current)].inner[{var.axis, var.part}];
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
      const int phase = ready(k, current, depth, last ? nullptr : &path[depth + 1]);
      if (last) {
        position.phase = phase;
        loops_[static_cast<std::size_t>(current)].items.emplace_back(phase, k);
        loops_[static_cast<std::size_t>(current)].weight += node_cost(graph_.node(placed.node));
        for (int axis : carried_axes(graph_.node(placed.node)))
          loops_[static_cast<std::size_t>(current)].carries |= !path.empty() && path.back().axis >= 0 && placed.axes[static_cast<std::size_t>(axis)] == path.back().axis;
        return;
      }
      current = enter(current, path[depth + 1], phase, direction_of(placed, path[depth + 1].axis));
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
  std::vector<WorkLoop> loops_;
  std::unordered_map<NodeId, int> place_;
  std::vector<Position> positions_;
};

bool folds_axis(const Graph& graph, const Nest& nest, int axis) {
  for (const Placed& placed : nest.nodes)
    for (std::size_t d = static_cast<std::size_t>(graph.node(placed.node).kept); d < placed.axes.size(); ++d)
      if (placed.axes[d] == axis) return true;
  return false;
}

}  // namespace

namespace {

// The axes of a recurrence over several nest in visiting order: they trade places among themselves.
void keep_visiting_order(const Graph& graph, Nest& nest) {
  for (const Placed& placed : nest.nodes) {
    std::vector<int> wanted;
    for (int axis : carried_axes(graph.node(placed.node)))
      if (const int own = placed.axes[static_cast<std::size_t>(axis)]; own >= 0) wanted.push_back(own);
    std::size_t next = 0;
    for (LoopVar& var : nest.vars)
      if (std::find(wanted.begin(), wanted.end(), var.axis) != wanted.end()) var.axis = wanted[next++];
  }
  nest.lanes = nest.vars.back().axis;
}

// Bytes, for each element of the root, of what one loop keeps for another: rows, or parts of arrays that are read again.
double kept_bytes(const Graph& graph, const Schedule& schedule, const Nest& nest) {
  const Placement placement = place_values(graph, schedule, nest);
  double bytes = 0;
  for (std::size_t k = 0; k < nest.nodes.size(); ++k) {
    const Node& node = graph.node(nest.nodes[k].node);
    if (placement.kept[k]) bytes += volume_of(nest.nodes[k].axes, nest.axes, static_cast<std::size_t>(node.kept)) * static_cast<double>(size_of(node.dtype));
  }
  return bytes / static_cast<double>(std::max<Index>(1, nest.axes[static_cast<std::size_t>(nest.lanes)].hint));
}

// The same of arrays whose lines lie across the vectors: the elements of a line are read one after the other, by loops outside.
double bytes_across(const Graph& graph, const Hints& hints, const Nest& nest) {
  std::set<NodeId> counted;
  double bytes = 0;
  for (const Placed& placed : nest.nodes)
    for (int k = 0; k < graph.arity(placed.node); ++k) {
      const NodeId array = graph.operand(placed.node, k);
      if (nest.find(array) || !counted.insert(array).second) continue;
      const AxisMap& map = graph.map(placed.node, k);
      const Dims strides = strides_of(graph, hints, array);
      double row = static_cast<double>(size_of(graph.node(array).dtype));
      bool along = false, beside = false;
      for (std::size_t d = 0; d < map.size(); ++d) {
        const int axis = map[d].axis < 0 ? -1 : placed.axes[static_cast<std::size_t>(map[d].axis)];
        if (axis == nest.lanes) along = true;
        else if (axis >= 0) row *= static_cast<double>(std::max<Index>(1, nest.axes[static_cast<std::size_t>(axis)].hint)), beside |= std::abs(strides[d] * map[d].step) == 1;
      }
      if (along && beside) bytes += row;
    }
  return bytes;
}

double elements_of(const Nest& nest) {
  double elements = 1;
  for (const NestAxis& axis : nest.axes) elements *= std::max(1.0, static_cast<double>(axis.hint));
  return elements;
}

// The loop variables, outermost first. Without a root the nest runs once.
void order_loops(const Graph& graph, const Schedule& schedule, Nest& nest, const Costs& costs, int root) {
  std::vector<int> others;
  for (int axis = 0; axis < static_cast<int>(nest.axes.size()); ++axis) if (axis != root && axis != nest.lanes) others.push_back(axis);
  std::sort(others.begin(), others.end(), [&](int a, int b) { return std::pair(-costs.stride[static_cast<std::size_t>(a)], a) < std::pair(-costs.stride[static_cast<std::size_t>(b)], b); });
  if (root < 0) {
    nest.vars.push_back({-1, Part::element});
  } else {
    const bool folded = folds_axis(graph, nest, root);
    nest.vars.push_back({root, Part::tile});
    nest.block = root == nest.lanes ? 0 : choose_block(graph, schedule, nest);
    if (folded) nest.unit = fold_leaf;
    else if (nest.block > 0) nest.unit = nest.block;
    else if (root != nest.lanes) nest.vars.clear();
    if (nest.block > 0 && folded) nest.vars.push_back({root, Part::block});
    if (root != nest.lanes) nest.vars.push_back({root, Part::element});
  }
  for (int axis : others) nest.vars.push_back({axis, Part::element});
  nest.vars.push_back({nest.lanes, Part::element});
}

}  // namespace

void arrange(const Graph& graph, const Hints& hints, const Schedule& schedule, Nest& nest) {
  if (!nest.axes.empty()) {
    const Costs costs(graph, hints, schedule, nest);
    nest.lanes = choose_lanes(nest, costs, hints.machine);
    order_loops(graph, schedule, nest, costs, choose_root(nest, costs, nest.lanes));
    keep_visiting_order(graph, nest);
  }
  nest.root = TreeBuilder(graph, nest).build();
  const bool root_is_vectors = !nest.vars.empty() && nest.vars[0] == LoopVar{nest.lanes, Part::tile};
  if (root_is_vectors && !folds_axis(graph, nest, nest.lanes))
    nest.unit = unit_of_vectors(kept_bytes(graph, schedule, nest) + bytes_across(graph, hints, nest), nest.axes[static_cast<std::size_t>(nest.lanes)].hint, elements_of(nest), hints.threads);
}

}  // namespace weft
