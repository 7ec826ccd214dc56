// Which nodes share a nest. One pass over the nodes in id order; each joins the first nest that can run it.
//
// A nest keeps the set of axes that could still be its root: every node must run over the root, and a value folded over
// the root exists only after the nest. A node joins if its axes can be bound to axes of the nest such that values made in
// the nest are read at the index they are made at, and the set of possible roots stays non-empty.
#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>
#include <map>
#include <queue>
#include <set>

#include "root.h"

namespace weft {
namespace {

struct Draft {
  Nest nest;
  std::uint64_t roots = 0;                             // bit a: axis a can be the root
  bool runs_once = false;                              // recurrences carry every axis
  int rank = 0;                                        // the most axes of a node
  AxisUses uses;                                       // by axis
  std::set<std::pair<int, int>> nested;                // (a, b): a runs outside b, for a recurrence over both
  std::map<std::pair<NodeId, int>, int> array_axes;    // (array, dimension) -> nest axis, from the first access
};

constexpr std::size_t max_axes = 48;

// Two axes of a node cannot run over one loop: x[i] + x[j] reads x twice.
bool are_distinct(const std::vector<int>& axes) {
  for (std::size_t a = 0; a < axes.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) if (axes[a] >= 0 && axes[a] == axes[b]) return false;
  return true;
}

class Grouper {
 public:
  Grouper(const Graph& graph, const Hints& hints)
      : graph_(graph), hints_(hints), preference_(graph, hints), nest_of_(graph.size(), -1), waiting_(graph.size(), false), known_(graph.size(), false), is_output_(graph.size(), false), place_of_(graph.size()) {
    for (NodeId output : graph.outputs) is_output_[output.value] = true;
  }

  std::vector<Nest> run() {
    for (std::size_t index = 0; index < graph_.size(); ++index)
      if (is_scheduled(graph_.node(id_of(index)))) {
        if ((known_[index] = is_known_before(id_of(index)))) place_before_all(id_of(index));
        else if (!(waiting_[index] = waits(id_of(index)))) place_with_operands(id_of(index));
      }
    return finish();
  }

 private:
  // Whether `user` can read operand `position` from registers, given that it was made in the same nest.
  bool reads_in_place(NodeId user, int position) const {
    const NodeId made = graph_.operand(user, position);
    const AxisMap& map = graph_.map(user, position);
    if (graph_.node(user).kind == Kind::update || graph_.node(made).kind == Kind::reshape) return false;
    const Placed& placed = drafts_[static_cast<std::size_t>(nest_of_[made.value])].nest.nodes[place_of_[made.value]];
    const Node& from = graph_.node(made);
    const Node& to = graph_.node(user);
    for (std::size_t k = 0; k < map.size(); ++k)
      if (placed.axes[k] >= 0 && !(map[k].is_identity() && to.domain[static_cast<std::size_t>(map[k].axis)] == from.domain[k])) return false;
    return true;
  }

  int earliest_nest(NodeId id) const {
    int first = behind_all_known();
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId made = memory_of(graph_, graph_.operand(id, k));
      const int nest = nest_of_[made.value];
      if (nest >= 0) first = std::max(first, position_[static_cast<std::size_t>(nest)] + (reads_in_place(id, k) ? 0 : 1));
    }
    return first;
  }

  // Into one of the nests at positions below `limit`, or a fresh one.
  void place(NodeId id, int limit = INT_MAX) {
    constexpr int tries = 6;
    const int first = earliest_nest(id), size = static_cast<int>(order_.size()), count = std::min(size, limit);
    for (int at = first; at < std::min(first + tries, count); ++at)
      if (join(id, order_[static_cast<std::size_t>(at)])) return;
    if (count - 1 >= first + tries && join(id, order_[static_cast<std::size_t>(count - 1)])) return;
    int behind = behind_all_known();                   // and behind the nests of all operands
    for (int k = 0; k < graph_.arity(id); ++k)
      if (const int nest = nest_of_[memory_of(graph_, graph_.operand(id, k)).value]; nest >= 0) behind = std::max(behind, position_[static_cast<std::size_t>(nest)] + 1);
    WEFT_ASSERT(join(id, open_nest(behind)), "a node must fit an empty nest: %", id.value);
  }
  int behind_all_known() const { return before_all_ < 0 ? 0 : 1; }
  int open_nest(int at) {
    const int fresh = static_cast<int>(drafts_.size());
    drafts_.emplace_back();
    order_.insert(order_.begin() + at, fresh);
    position_.push_back(0);
    for (std::size_t k = static_cast<std::size_t>(at); k < order_.size(); ++k) position_[static_cast<std::size_t>(order_[k])] = static_cast<int>(k);
    return fresh;
  }

  // ---- scalars of inputs and extents: one nest before all others makes them, and they are there for everyone like inputs.
  bool is_known_before(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.kind != Kind::apply || !std::all_of(node.domain.begin(), node.domain.end(), [](const Extent& e) { return e.is(1); })) return false;
    for (int k = 0; k < graph_.arity(id); ++k)
      if (const NodeId made = memory_of(graph_, graph_.operand(id, k)); is_scheduled(graph_.node(made)) && !known_[made.value]) return false;
    return true;
  }
  void place_before_all(NodeId id) {
    if (before_all_ < 0) before_all_ = open_nest(0);
    WEFT_ASSERT(join(id, before_all_), "a scalar must fit a nest of scalars: %", id.value);
  }

  // ---- waiting nodes: elementwise over inputs only. They are ready anywhere, so they go where they are first read.
  bool is_waiting(NodeId id) const { return waiting_[id.value] && nest_of_[id.value] < 0; }
  bool waits(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.kind != Kind::apply || node.mode == Mode::accumulate || is_output_[id.value]) return false;
    for (NodeId user : graph_.users(id)) if (graph_.node(user).kind == Kind::reshape) return false;         // read from memory
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId made = memory_of(graph_, graph_.operand(id, k));
      if (is_scheduled(graph_.node(made)) && !known_[made.value] && !is_waiting(made)) return false;
    }
    return true;
  }
  // The axes of a waiting operand in the nest of its reader; false if it is not read in place there.
  bool bind_to_reader(NodeId id, NodeId reader, int nest, std::vector<int>& axes) const {
    if (graph_.node(reader).kind == Kind::update) return false;
    const Node& node = graph_.node(id);
    const Placed& placed = drafts_[static_cast<std::size_t>(nest)].nest.nodes[place_of_[reader.value]];
    for (int k = 0; k < graph_.arity(reader); ++k) {
      if (graph_.operand(reader, k) != id) continue;
      const AxisMap& map = graph_.map(reader, k);
      for (std::size_t d = 0; d < map.size(); ++d) {
        if (node.domain[d].is(1)) continue;
        if (!map[d].is_identity() || !(graph_.node(reader).domain[static_cast<std::size_t>(map[d].axis)] == node.domain[d])) return false;
        const int axis = placed.axes[static_cast<std::size_t>(map[d].axis)];
        if (axes[d] >= 0 && axes[d] != axis) return false;
        axes[d] = axis;
      }
    }
    return are_distinct(axes);
  }
  // The readers of a waiting node that have a place, in the first of their nests.
  std::vector<NodeId> first_readers(NodeId id) const {
    std::vector<NodeId> first;
    for (NodeId user : graph_.users(id)) {
      if (nest_of_[user.value] < 0) continue;
      const int position = position_of(user), best = first.empty() ? position : position_of(first[0]);
      if (position < best) first.clear();
      if (position <= best && (first.empty() || first.back() != user)) first.push_back(user);
    }
    return first;
  }
  int position_of(NodeId placed) const { return position_[static_cast<std::size_t>(nest_of_[placed.value])]; }
  bool join_readers(NodeId id, const std::vector<NodeId>& readers) {
    const int nest = nest_of_[readers[0].value];
    Draft& draft = drafts_[static_cast<std::size_t>(nest)];
    std::vector<int> axes(graph_.node(id).domain.size(), -1);
    for (NodeId reader : readers) if (!bind_to_reader(id, reader, nest, axes)) return false;
    const std::uint64_t mine = bits_of(axes);
    if (draft.nest.axes.empty() ? mine != 0 : draft.runs_once ? mine == 0 : (draft.roots & mine) == 0) return false;
    if (!draft.nest.axes.empty() && !draft.runs_once && costs_a_root(draft, id, axes, mine, draft.roots & mine)) return false;
    admit(id, nest, std::move(axes), draft.nest.axes.empty() ? 0 : draft.roots & mine);
    return true;
  }
  // A node and the waiting nodes it reads, readers before what they read. Other readers of those have waited in vain: they
  // get their places at once, so that nothing that waits ever reads what has a place.
  void place_with_operands(NodeId id) {
    std::set<NodeId> due{id};
    const auto add_readers = [&](NodeId placed) {
      for (NodeId user : graph_.users(placed)) if (user < id && is_waiting(user)) due.insert(user);
    };
    while (!due.empty()) {
      const NodeId first = *due.begin();
      due.erase(due.begin());
      if (nest_of_[first.value] >= 0) continue;
      place(first);
      add_readers(first);
      std::priority_queue<NodeId> operands;
      push_waiting_operands(first, operands);
      while (!operands.empty()) {
        const NodeId operand = operands.top();
        operands.pop();
        if (!is_waiting(operand)) continue;
        const std::vector<NodeId> readers = first_readers(operand);
        if (!join_readers(operand, readers)) place(operand, position_of(readers[0]));
        add_readers(operand);
        push_waiting_operands(operand, operands);
      }
    }
  }
  void push_waiting_operands(NodeId reader, std::priority_queue<NodeId>& operands) const {
    for (int k = 0; k < graph_.arity(reader); ++k)
      if (const NodeId operand = graph_.operand(reader, k); is_waiting(operand)) operands.push(operand);
  }
  void admit(NodeId id, int nest, std::vector<int> axes, std::uint64_t roots) {
    Draft& draft = drafts_[static_cast<std::size_t>(nest)];
    for (int k = 0; k < graph_.arity(id); ++k) {
      const AxisMap& map = graph_.map(id, k);
      for (std::size_t d = 0; d < map.size() && graph_.node(id).kind == Kind::apply; ++d)
        if (map[d].axis >= 0) draft.array_axes.emplace(std::pair(graph_.operand(id, k), static_cast<int>(d)), axes[static_cast<std::size_t>(map[d].axis)]);
    }
    nest_of_[id.value] = nest;
    place_of_[id.value] = draft.nest.nodes.size();
    draft.rank = std::max(draft.rank, std::popcount(bits_of(axes)));
    preference_.add(id, axes, draft.uses);
    draft.nest.nodes.push_back({id, std::move(axes)});
    draft.roots = draft.nest.roots = roots;
  }

  // Nests in execution order, nodes in id order.
  std::vector<Nest> finish() {
    std::vector<Nest> nests;
    for (int draft : order_) {
      Nest& nest = drafts_[static_cast<std::size_t>(draft)].nest;
      std::sort(nest.nodes.begin(), nest.nodes.end(), [](const Placed& a, const Placed& b) { return a.node < b.node; });
      nests.push_back(std::move(nest));
    }
    return nests;
  }

  // The axes of `id` that values made in this nest fix; false if they contradict each other.
  bool bind_made(NodeId id, int nest, std::vector<int>& axes, std::uint64_t& folded) const {
    const Draft& draft = drafts_[static_cast<std::size_t>(nest)];
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId made = graph_.operand(id, k);
      if (nest_of_[made.value] != nest) continue;
      const Placed& placed = draft.nest.nodes[place_of_[made.value]];
      const AxisMap& map = graph_.map(id, k);
      for (std::size_t d = 0; d < placed.axes.size(); ++d) {
        if (placed.axes[d] < 0) continue;
        if (d >= map.size()) { folded |= std::uint64_t{1} << placed.axes[d]; continue; }
        int& bound = axes[static_cast<std::size_t>(map[d].axis)];
        if (bound >= 0 && bound != placed.axes[d]) return false;
        bound = placed.axes[d];
      }
    }
    return are_distinct(axes);
  }

  // Prefers the axes along which the nest already reads the same arrays.
  void bind_shared_arrays(NodeId id, const Draft& draft, std::vector<int>& axes) const {
    const Node& node = graph_.node(id);
    for (int k = 0; k < graph_.arity(id); ++k) {
      const AxisMap& map = graph_.map(id, k);
      for (std::size_t d = 0; d < map.size(); ++d) {
        if (map[d].axis < 0 || axes[static_cast<std::size_t>(map[d].axis)] >= 0) continue;
        auto found = draft.array_axes.find({graph_.operand(id, k), static_cast<int>(d)});
        if (found == draft.array_axes.end() || std::find(axes.begin(), axes.end(), found->second) != axes.end()) continue;
        const auto axis = static_cast<std::size_t>(map[d].axis);
        if (draft.nest.axes[static_cast<std::size_t>(found->second)].extent == node.domain[axis] && !node.domain[axis].is(1)) axes[axis] = found->second;
      }
    }
  }

  // Binds what is left to free axes of equal extent, then to new axes.
  bool bind_rest(const Node& node, Draft& draft, std::vector<int>& axes, bool may_add) const {
    for (std::size_t d = 0; d < axes.size(); ++d) {
      if (node.domain[d].is(1) || axes[d] >= 0) continue;
      for (std::size_t a = 0; a < draft.nest.axes.size() && axes[d] < 0; ++a)
        if (draft.nest.axes[a].extent == node.domain[d] && std::find(axes.begin(), axes.end(), static_cast<int>(a)) == axes.end())
          axes[d] = static_cast<int>(a);
      if (axes[d] >= 0) continue;
      if (!may_add || draft.nest.axes.size() >= max_axes) return false;
      axes[d] = static_cast<int>(draft.nest.axes.size());
      draft.nest.axes.push_back({node.domain[d], node.domain[d].evaluate(hints_.bindings)});
    }
    return true;
  }

  bool join(NodeId id, int nest) {
    Draft& draft = drafts_[static_cast<std::size_t>(nest)];
    const Node& node = graph_.node(id);
    const bool fresh = draft.nest.nodes.empty();
    const bool has_axes = std::any_of(node.domain.begin(), node.domain.end(), [](const Extent& e) { return !e.is(1); });
    if (!fresh && has_axes == draft.nest.axes.empty()) return false;
    std::vector<int> axes(node.domain.size(), -1);
    std::uint64_t folded = 0;
    if (!bind_made(id, nest, axes, folded)) return false;
    bind_shared_arrays(id, draft, axes);
    const bool related = std::any_of(axes.begin(), axes.end(), [](int axis) { return axis >= 0; });
    const std::size_t axes_before = draft.nest.axes.size();
    const bool bound = bind_rest(node, draft, axes, fresh || related);
    const std::uint64_t mine = bits_of(axes);
    std::uint64_t carried = 0;
    std::vector<int> order;
    for (int axis : carried_axes(node))
      if (const int own = axes[static_cast<std::size_t>(axis)]; own >= 0) carried |= std::uint64_t{1} << own, order.push_back(own);
    const std::uint64_t roots = (fresh ? mine : draft.roots & mine) & ~folded & ~carried;
    const bool once = fresh ? carried != 0 && roots == 0 : draft.runs_once && related;
    const bool fits = bound && nests_in(draft, order) && (!has_axes || (draft.runs_once ? once : roots != 0 || once));
    if (!fits || (!fresh && has_axes && !once && costs_a_root(draft, id, axes, mine & ~carried, roots))) {
      draft.nest.axes.resize(axes_before);
      return false;
    }
    draft.runs_once = once;
    for (std::size_t b = 0; b < order.size(); ++b)
      for (std::size_t a = 0; a < b; ++a) draft.nested.emplace(order[a], order[b]);
    admit(id, nest, std::move(axes), roots);
    return true;
  }
  static std::uint64_t bits_of(const std::vector<int>& axes) {
    std::uint64_t bits = 0;
    for (int axis : axes) if (axis >= 0) bits |= std::uint64_t{1} << axis;
    return bits;
  }
  // Whether sharing these roots would cost the node, or those that are there, a better one.
  bool costs_a_root(const Draft& draft, NodeId id, const std::vector<int>& axes, std::uint64_t mine, std::uint64_t roots) const {
    if (roots == draft.roots && roots == mine) return false;
    AxisUses own, joined = draft.uses;
    std::vector<int> numbers(axes.size(), -1);          // the node's own axes, as a nest of its own
    std::vector<NestAxis> own_axes;
    std::uint64_t own_roots = 0;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      if (axes[d] < 0) continue;
      numbers[d] = static_cast<int>(own_axes.size());
      if (mine >> axes[d] & 1) own_roots |= std::uint64_t{1} << own_axes.size();
      own_axes.push_back(draft.nest.axes[static_cast<std::size_t>(axes[d])]);
    }
    preference_.add(id, numbers, own);
    preference_.add(id, axes, joined);
    return preference_.should_part({own, own_roots, own_axes, static_cast<int>(own_axes.size())}, {draft.uses, draft.roots, draft.nest.axes, draft.rank},
                                   {joined, roots, draft.nest.axes, draft.rank}, size_of(graph_.node(id).dtype));
  }
  // Whether loops over these axes can nest in this order: no recurrence of the nest wants another one.
  static bool nests_in(const Draft& draft, const std::vector<int>& order) {
    if (order.size() < 2 || draft.nested.empty()) return true;
    for (const auto& [outer, inner] : draft.nested)
      if (std::find(order.begin(), order.end(), outer) == order.end() && std::find(order.begin(), order.end(), inner) == order.end()) continue;
      else {
        const auto a = std::find(order.begin(), order.end(), outer), b = std::find(order.begin(), order.end(), inner);
        if (a == order.end() || b == order.end() || a > b) return false;
      }
    return true;
  }

  const Graph& graph_;
  const Hints& hints_;
  const RootPreference preference_;
  std::vector<int> nest_of_;                           // by node: its draft
  std::vector<bool> waiting_, known_, is_output_;
  std::vector<std::size_t> place_of_;                  // index into the nodes of its draft
  std::vector<Draft> drafts_;                          // in order of creation
  int before_all_ = -1;                                // the draft of scalars that are known before
  std::vector<int> order_, position_;                  // drafts in execution order, and where each stands
};

}  // namespace

std::vector<Nest> group_nests(const Graph& graph, const Hints& hints) { return Grouper(graph, hints).run(); }

}  // namespace weft
