#include "distribute.h"

#include <algorithm>
#include <limits>

#include "cost_model.h"
#include "readers.h"

namespace weft {
namespace {

bool runs_along(const Placed& placed, int axis) { return std::find(placed.axes.begin(), placed.axes.end(), axis) != placed.axes.end(); }

// Of a strip: a tile of the root if that runs as vectors, else whole rows.
bool strips_are_short(const Nest& nest) {
  constexpr Index row = 1024;                    // elements
  return nest.vars[0] == LoopVar{nest.lanes, Part::tile} || nest.axes[static_cast<std::size_t>(nest.lanes)].hint <= row;
}

// Each element made from others at its own index: then nothing but the length of the body asks for several loops.
bool is_one_loop(const Graph& graph, const Nest& nest) {
  bool functions = false;
  for (const Placed& placed : nest.nodes) {
    if (!runs_along(placed, nest.lanes)) continue;
    const Node& node = graph.node(placed.node);
    functions |= node.kind == Kind::apply && op_cost(node.op) >= long_function;
    if (node.kind != Kind::apply || (node.mode == Mode::accumulate && nest.axes.size() > 1)) return false;
    for (int k = 0; k < graph.arity(placed.node); ++k)
      if (const Placed* made = nest.find(graph.operand(placed.node, k)); made && !reads_in_place(graph, placed.node, k, made->axes)) return false;
  }
  return functions;
}

// Where the loops of a body end: the cheapest way to cut the list of its nodes.
class Cutter {
 public:
  Cutter(const Graph& graph, const Schedule& schedule, const Nest& nest) : graph_(graph), nest_(nest) {
    for (std::size_t place = 0; place < nest.nodes.size(); ++place)
      if (runs_along(nest.nodes[place], nest.lanes)) places_.push_back(place);
    read_operands(schedule);
  }

  int weight() const {
    int sum = 0;
    for (std::size_t k = 0; k < places_.size(); ++k) sum += cost_of(k);
    return sum;
  }

  // By place. best[p]: of the first p nodes, with a loop that ends there.
  std::vector<int> loops() const {
    const std::size_t count = places_.size();
    std::vector<double> best(count + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> from(count + 1, 0);
    std::vector<int> ready(count, 0);              // cycles from the begin of the loop, with its operands
    best[0] = 0;
    for (std::size_t begin = 0; begin < count; ++begin) {
      int weight = 0, longest = 0;
      for (std::size_t k = begin; k < count; ++k) {
        weight += cost_of(k);
        if (k > begin && weight > full_loop) break;
        int start = 0;
        for (std::size_t operand : operands_[k])
          if (operand >= begin) start = std::max(start, ready[operand]);
        ready[k] = start + op_latency(graph_.node(node_of(k)).op);
        longest = std::max(longest, ready[k]);
        const double total = best[begin] + loop_cost(weight, longest, crossings_[begin]);
        if (total < best[k + 1]) best[k + 1] = total, from[k + 1] = begin;
      }
    }
    std::vector<std::size_t> begins;
    for (std::size_t end = count; end > 0; end = from[end]) begins.push_back(from[end]);
    std::vector<int> loops(nest_.nodes.size(), 0);
    int loop = -1;
    for (std::size_t k = 0; k < count; ++k) {
      if (begins.back() == k) {
        ++loop;
        if (begins.size() > 1) begins.pop_back();
      }
      loops[places_[k]] = loop;
    }
    return loops;
  }

  // That two neighbouring loops need at once.
  int rows(const std::vector<int>& loops) const {
    int most = 0, before = 0;
    for (std::size_t k = 1; k < places_.size(); ++k)
      if (loops[places_[k]] != loops[places_[k - 1]]) most = std::max(most, before + crossings_[k]), before = crossings_[k];
    return std::max(most, before);
  }

 private:
  NodeId node_of(std::size_t k) const { return nest_.nodes[places_[k]].node; }
  int cost_of(std::size_t k) const { return node_cost(graph_.node(node_of(k))); }

  // The number of a node in the list; its size for those that are not in it.
  std::size_t number_of(NodeId id) const {
    const auto at = std::lower_bound(places_.begin(), places_.end(), id, [&](std::size_t place, NodeId wanted) { return nest_.nodes[place].node < wanted; });
    return at != places_.end() && nest_.nodes[*at].node == id ? static_cast<std::size_t>(at - places_.begin()) : places_.size();
  }

  // crossings_[p]: values that are made before the p-th node and read by it or later ones. Cheap ones are made again.
  void read_operands(const Schedule& schedule) {
    const std::size_t count = places_.size();
    std::vector<std::size_t> last(count, 0);
    std::vector<int> again(count, 0);
    operands_.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
      again[k] = cost_of(k);
      for (int operand = 0; operand < graph_.arity(node_of(k)); ++operand) {
        const NodeId id = graph_.operand(node_of(k), operand);
        const bool literal = graph_.node(id).kind == Kind::constant && graph_.node(id).kept == 0;
        const std::size_t made = number_of(id);
        if (made < count) last[made] = k, operands_[k].push_back(made);
        again[k] = std::min(1000, again[k] + (made < count ? again[made] : literal ? 0 : 1));
      }
    }
    crossings_.assign(count + 2, 0);
    for (std::size_t k = 0; k < count; ++k)
      if (last[k] > k && (schedule.stored[node_of(k).value] || again[k] > cheap_value)) ++crossings_[k + 1], --crossings_[last[k] + 1];
    for (std::size_t k = 1; k < crossings_.size(); ++k) crossings_[k] += crossings_[k - 1];
  }

  const Graph& graph_;
  const Nest& nest_;
  std::vector<std::size_t> places_;
  std::vector<int> crossings_;
  std::vector<std::vector<std::size_t>> operands_;   // that are in the list
};

}  // namespace

std::vector<int> distribute(const Graph& graph, const Schedule& schedule, Nest& nest) {
  if (nest.lanes < 0 || nest.block > 0 || !strips_are_short(nest) || !is_one_loop(graph, nest)) return {};
  const Cutter cutter(graph, schedule, nest);
  if (cutter.weight() <= interleaved_body) return {};
  std::vector<int> loops = cutter.loops();
  const int count = *std::max_element(loops.begin(), loops.end()) + 1;
  if (count == 1) return {};
  nest.distribution = {cutter.weight(), count, cutter.rows(loops)};
  return loops;
}

}  // namespace weft
