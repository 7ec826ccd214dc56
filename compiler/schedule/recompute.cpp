#include "recompute.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "conditions.h"
#include "products.h"
#include "readers.h"

namespace weft {
namespace {

constexpr double dear = std::numeric_limits<double>::infinity();       // more than any array costs

class Recompute {
 public:
  Recompute(const Graph& graph, const Hints& hints, std::vector<Nest>& nests)
      : graph_(graph), hints_(hints), nests_(nests), runs_in_(graph.size()), is_output_(result_marks(graph)), asks_(conditions_on_indices(graph)), fetches_(graph.size(), 0), reads_(nests.size()), products_(nests.size()), wanted_(nests.size()) {
    for (std::size_t n = 0; n < nests.size(); ++n) {
      for (const Placed& placed : nests[n].nodes) {
        runs_in_[placed.node.value].push_back(n);
        placed_[{placed.node, n}] = placed.axes;
        if (const auto product = product_of(graph, placed.node, placed.axes, nests[n].axes, fold_slots)) products_[n].push_back(*product);
      }
      for (const Placed& placed : nests[n].nodes) count_fetches(placed.node, n, 1);
    }
    for (std::size_t n = 0; n < nests.size(); ++n) {
      std::set<NodeId> foreign;
      for (const Placed& placed : nests[n].nodes)
        for (int k = 0; k < graph.arity(placed.node); ++k)
          if (const NodeId operand = graph.operand(placed.node, k); !placed_.contains({operand, n})) foreign.insert(operand);
      for (NodeId value : foreign) {
        std::set<NodeId> arrays;
        find_arrays(value, n, 3, arrays);
        for (NodeId array : arrays) ++wanted_[n][array];
      }
    }
  }

  std::vector<Again> run() {
    for (std::size_t k = graph_.size(); k-- > 0;) consider(id_of(k));       // readers before what they read
    for (Nest& nest : nests_) nest.nodes.clear();
    for (const auto& [key, axes] : placed_) nests_[key.second].nodes.push_back({key.first, axes});
    for (std::size_t n : left_) nests_[n].roots |= roots_left(nests_[n]);
    std::erase_if(nests_, [](const Nest& nest) { return nest.nodes.empty(); });
    return std::move(compared_);
  }

 private:
  double elements(NodeId id) const {
    double count = 1;
    for (Index size : evaluate(graph_.node(id).shape(), hints_.bindings)) count *= std::max(1.0, static_cast<double>(size));
    return count;
  }
  MemoryCost cost_of_array(NodeId id) const { return memory_cost(hints_.machine, elements(id) * static_cast<double>(size_of(graph_.node(id).dtype))); }
  // Ops, and what an update writes: that is a load from where its window lies.
  bool is_simple(NodeId id) const {
    const Node& node = graph_.node(id);
    return (node.kind == Kind::update || (node.kind == Kind::apply && node.mode != Mode::accumulate)) && !is_output_[id.value];
  }

  // What it would take from memory to make a value that a nest reads.
  void find_arrays(NodeId id, std::size_t nest, int depth, std::set<NodeId>& arrays) const {
    if (placed_.contains({id, nest}) || graph_.node(id).rank() == 0) return;
    if (!is_simple(id) || depth == 0) {
      arrays.insert(id);
      return;
    }
    const int left = graph_.node(id).kind == Kind::update ? 0 : depth - 1;        // its window is an array
    for (int k = 0; k < graph_.arity(id); ++k) find_arrays(graph_.operand(id, k), nest, left, arrays);
  }
  // Values that a nest reads share what each would take from an array: nine windows of one array are read once from memory.
  double times_wanted(NodeId array, std::size_t nest) const {
    const auto wanted = wanted_[nest].find(array);
    return wanted == wanted_[nest].end() ? 1 : wanted->second;
  }

  // What an operand costs in a nest, for each 64 bytes of its reader: read, or made again if that is less.
  double cost_of_operand(NodeId id, std::size_t nest, double of_elements, int depth) const {
    if (placed_.contains({id, nest})) return 0;
    const Node& node = graph_.node(id);
    if (node.kind == Kind::extent || node.kind == Kind::iota || (node.kind == Kind::constant && node.kept == 0)) return 1;
    const double share = std::min(1.0, elements(id) / of_elements);
    const double read = share * (reads_[nest].contains(id) ? 1 : std::max(1.0, cost_of_array(id).read / times_wanted(id, nest)));
    if (!is_simple(id)) return read;
    const double from_memory = read + (is_stored(id) ? 0 : share * cost_of_array(id).write);
    return std::min(from_memory, share * cost_of_node(id, nest, depth - 1, from_memory / share));
  }
  // Anything above `limit`, or deeper, counts as dear: no more is looked at than it pays for.
  double cost_of_node(NodeId id, std::size_t nest, int depth, double limit) const {
    if (depth <= 0) return dear;
    double cost = op_cost(graph_.node(id).op);
    for (int k = 0; k < graph_.arity(id) && cost <= limit; ++k) cost += cost_of_operand(graph_.operand(id, k), nest, elements(id), depth);
    return cost > limit ? dear : cost;
  }
  // Whether a nest reads it from memory in any case, as things stand.
  bool is_stored(NodeId id) const { return !is_simple(id) || fetches_[id.value] > 0; }

  // The nest reads the operands of a node that it runs, from memory unless it makes them: once more or, with -1, once less.
  void count_fetches(NodeId id, std::size_t nest, int change) {
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId operand = graph_.operand(id, k);
      if (!placed_.contains({operand, nest})) fetches_[operand.value] += change;
      if (change > 0) reads_[nest].insert(operand);
    }
  }

  // The axes of a node in a nest with these readers of it; false if one of them takes it at another index, or if it would
  // take a root from the nest.
  bool bind(NodeId id, std::size_t n, const std::vector<NodeId>& readers, std::vector<int>& axes) const {
    const Nest& nest = nests_[n];
    axes.assign(graph_.node(id).domain.size(), -1);
    for (NodeId reader : readers)
      if (graph_.node(reader).kind != Kind::apply || !follow_reader(graph_, id, reader, placed_.at({reader, n}), axes)) return false;
    const std::uint64_t bits = bits_of(axes);
    return !is_factor_in(n, id, axes) && nest.roots != 0 && (nest.roots & bits) == nest.roots && conditions_fit(id, n, axes);
  }
  bool is_factor_in(std::size_t n, NodeId id, const std::vector<int>& axes) const {
    return std::any_of(products_[n].begin(), products_[n].end(), [&](const Product& product) { return is_factor(graph_, id, axes, nests_[n].axes, product, hints_.machine); });
  }
  // Whether the nest, where it asks the same conditions, does so along the same axes.
  bool conditions_fit(NodeId id, std::size_t n, const std::vector<int>& axes) const {
    const std::set<Asked> asked = find_asked(graph_, asks_, id, axes);
    return std::all_of(asked.begin(), asked.end(), [&](const auto& each) {
      const auto made = placed_.find({each.first, n});
      return made == placed_.end() || made->second == each.second;
    });
  }
  // A node, and the conditions that it asks unless these have arrays.
  void put(NodeId id, std::size_t n, const std::vector<int>& axes) {
    const std::size_t home = runs_in_[id.value][0];
    place(id, n, axes);
    for (const auto& [condition, along] : find_asked(graph_, asks_, id, axes))
      if (placed_.contains({condition, home}) && !placed_.contains({condition, n})) place(condition, n, along);
    count_fetches(id, n, 1);
  }
  void place(NodeId id, std::size_t n, const std::vector<int>& axes) {
    runs_in_[id.value].push_back(n);
    placed_[{id, n}] = axes;
  }

  // Conditions leave with those that asked them; one that has an array runs where nothing asks it.
  void drop_where_unasked(NodeId id) {
    const std::vector<NodeId> users = graph_.users(id);
    const auto is_made_in = [&](std::size_t n) { return placed_.contains({id, n}); };
    if (!std::all_of(users.begin(), users.end(), [&](NodeId user) { return std::all_of(runs_in_[user.value].begin(), runs_in_[user.value].end(), is_made_in); })) return;
    std::erase_if(runs_in_[id.value], [&](std::size_t n) {
      return std::none_of(users.begin(), users.end(), [&](NodeId user) { return placed_.contains({user, n}); }) && placed_.erase({id, n}) > 0;
    });
  }

  void consider(NodeId id) {
    if (asks_[id.value]) return drop_where_unasked(id);
    if (!is_simple(id) || runs_in_[id.value].empty()) return;
    const std::size_t home = runs_in_[id.value][0];
    std::map<std::size_t, std::vector<NodeId>> readers;                    // by nest
    for (NodeId user : graph_.users(id)) {
      if (graph_.node(user).kind == Kind::reshape) return;                 // read from memory
      for (std::size_t nest : runs_in_[user.value]) readers[nest].push_back(user);
    }
    const bool used_at_home = readers.erase(home) > 0;
    if (readers.empty()) return;
    const MemoryCost memory = cost_of_array(id);
    double kept = memory.write, again = 0;
    std::vector<std::vector<int>> axes;
    for (const auto& [nest, in_nest] : readers) {
      axes.emplace_back();
      if (!bind(id, nest, in_nest, axes.back())) return;
      kept += memory.read;
    }
    const double saved = used_at_home ? 0 : op_cost(graph_.node(id).op);
    for (const auto& [nest, in_nest] : readers) again += cost_of_node(id, nest, deepest_again, kept + saved);
    again -= saved;
    compared_.push_back({id, readers.size(), again, kept, again < kept});
    if (again >= kept) return;
    std::size_t next = 0;
    for (const auto& [nest, in_nest] : readers) {
      put(id, nest, axes[next++]);
      fetches_[id.value] -= static_cast<int>(in_nest.size());
    }
    if (used_at_home) return;
    left_.insert(home);
    runs_in_[id.value].erase(runs_in_[id.value].begin());
    placed_.erase({id, home});
    count_fetches(id, home, -1);
  }

  // The axes over which everything in a nest runs and along which nothing waits for a loop to end. What left it may have read a fold over an axis
  // that can be the root without it.
  std::uint64_t roots_left(const Nest& nest) const {
    if (nest.roots == 0) return 0;
    std::uint64_t roots = ~std::uint64_t{0};
    for (const Placed& placed : nest.nodes) {
      roots &= bits_of(placed.axes);
      for (int axis : carried_axes(graph_.node(placed.node)))
        if (const int own = placed.axes[static_cast<std::size_t>(axis)]; own >= 0) roots &= ~(std::uint64_t{1} << own);
      for (int k = 0; k < graph_.arity(placed.node); ++k) {
        const Placed* made = nest.find(graph_.operand(placed.node, k));
        for (std::size_t d = 0; made && d < made->axes.size(); ++d)
          if (made->axes[d] >= 0 && (d >= graph_.map(placed.node, k).size() || !reads_in_place(graph_, placed.node, k, d))) roots &= ~(std::uint64_t{1} << made->axes[d]);
      }
    }
    return roots;
  }

  const Graph& graph_;
  const Hints& hints_;
  std::vector<Nest>& nests_;
  std::set<std::size_t> left_;                         // nests that lost nodes
  std::vector<std::vector<std::size_t>> runs_in_;      // by node: its own nest first
  const std::vector<bool> is_output_, asks_;
  std::vector<int> fetches_;                           // by node: how often a nest that does not make it reads it
  std::vector<std::set<NodeId>> reads_;                // by nest: arrays and values that are at hand
  std::vector<std::vector<Product>> products_;         // by nest
  std::vector<std::unordered_map<NodeId, int>> wanted_;   // by nest
  std::map<std::pair<NodeId, std::size_t>, std::vector<int>> placed_;
  std::vector<Again> compared_;
};

}  // namespace

std::vector<Again> make_cheap_values_again(const Graph& graph, const Hints& hints, std::vector<Nest>& nests) {
  return Recompute(graph, hints, nests).run();
}

}  // namespace weft
