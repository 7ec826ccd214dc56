// Which nodes share a nest. One pass over the nodes in id order; each joins the first nest that can run it (drafts.h).
//
// A nest keeps the set of axes that could still be its root: every node must run over the root, and a value folded over
// the root exists only after the nest. Expressions of inputs alone wait for their first reader; conditions on
// indices are left to conditions.h.
#include <algorithm>
#include <climits>
#include <queue>
#include <set>

#include <weft/text.h>

#include "conditions.h"
#include "drafts.h"

namespace weft {
namespace {

class Grouper {
 public:
  Grouper(const Graph& graph, const Hints& hints)
      : graph_(graph), drafts_(graph, hints), waiting_(graph.size(), false), known_(graph.size(), false), is_output_(result_marks(graph)), asks_(conditions_on_indices(graph)) {}

  std::vector<Nest> run() {
    for (std::size_t index = 0; index < graph_.size(); ++index)
      if (is_scheduled(graph_.node(id_of(index))) && !asks_[index]) {
        check_axes(id_of(index));
        if ((known_[index] = is_known_before(id_of(index)))) place_before_all(id_of(index));
        else if (!(waiting_[index] = waits(id_of(index)))) place_with_operands(id_of(index));
      }
    return finish();
  }
  const std::vector<Parting>& partings() const { return drafts_.partings(); }

 private:
  bool has_place(NodeId id) const { return drafts_.of(id) >= 0; }
  int position_of(NodeId placed) const { return position_[static_cast<std::size_t>(drafts_.of(placed))]; }

  // Whether `user` can read operand `position` in the nest that makes it.
  bool needs_no_array(NodeId user, int position) const {
    return graph_.node(user).kind != Kind::update && graph_.node(graph_.operand(user, position)).kind != Kind::reshape;
  }

  // The first nest that could run a node, and the first in which all it reads is in memory.
  struct Positions {
    int earliest, behind;
  };
  Positions positions_for(NodeId id) const {
    Positions at{before_all_ < 0 ? 0 : 1, before_all_ < 0 ? 0 : 1};
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId made = memory_of(graph_, graph_.operand(id, k));
      if (!has_place(made)) continue;
      at.behind = std::max(at.behind, position_of(made) + 1);
      at.earliest = std::max(at.earliest, position_of(made) + (needs_no_array(id, k) ? 0 : 1));
    }
    return at;
  }

  void check_axes(NodeId id) const {
    const Shape& domain = graph_.node(id).domain;
    const auto loops = static_cast<std::size_t>(std::count_if(domain.begin(), domain.end(), [](const Extent& extent) { return !extent.is(1); }));
    WEFT_REQUIRE(loops <= max_axes, unsupported, name_of(graph_, id), " runs over ", loops, " axes, and loops nest at most ", max_axes, " deep\n  ", line_of(graph_, id),
                 "\n  reshape axes that stay together into one");
  }

  // Into one of the nests at positions below `limit`, or a fresh one.
  void place(NodeId id, int limit = INT_MAX) {
    const auto [first, behind] = positions_for(id);
    const int count = std::min(static_cast<int>(order_.size()), limit);
    for (int at = first; at < std::min(first + nests_tried, count); ++at)
      if (drafts_.join(id, order_[static_cast<std::size_t>(at)])) return;
    if (count - 1 >= first + nests_tried && drafts_.join(id, order_[static_cast<std::size_t>(count - 1)])) return;
    WEFT_ASSERT(drafts_.join(id, open_nest(behind)), "a node must fit an empty nest: %", id.value);
  }
  int open_nest(int at) {
    const int fresh = drafts_.add();
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
    WEFT_ASSERT(drafts_.join(id, before_all_), "a scalar must fit a nest of scalars: %", id.value);
  }

  // ---- waiting nodes: elementwise over inputs only, and parts of inputs. They are ready anywhere, so they go where they are first read.
  bool is_waiting(NodeId id) const { return waiting_[id.value] && !has_place(id); }
  bool waits(NodeId id) const {
    const Node& node = graph_.node(id);
    if ((node.kind != Kind::apply && node.kind != Kind::update) || node.mode == Mode::accumulate || is_output_[id.value]) return false;
    for (NodeId user : graph_.users(id)) if (graph_.node(user).kind == Kind::reshape) return false;         // read from memory
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId made = memory_of(graph_, graph_.operand(id, k));
      if (is_scheduled(graph_.node(made)) && !known_[made.value] && !asks_[made.value] && !is_waiting(made)) return false;
    }
    return true;
  }
  // The readers of a waiting node that have a place, in the first of their nests.
  std::vector<NodeId> first_readers(NodeId id) const {
    std::vector<NodeId> first;
    for (NodeId user : graph_.users(id)) {
      if (!has_place(user)) continue;
      const int position = position_of(user), best = first.empty() ? position : position_of(first[0]);
      if (position < best) first.clear();
      if (position <= best && (first.empty() || first.back() != user)) first.push_back(user);
    }
    return first;
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
      if (has_place(first)) continue;
      place(first);
      add_readers(first);
      std::priority_queue<NodeId> operands;
      push_waiting_operands(first, operands);
      while (!operands.empty()) {
        const NodeId operand = operands.top();
        operands.pop();
        if (!is_waiting(operand)) continue;
        const std::vector<NodeId> readers = first_readers(operand);
        if (!drafts_.join_readers(operand, readers)) place(operand, position_of(readers[0]));
        add_readers(operand);
        push_waiting_operands(operand, operands);
      }
    }
  }
  void push_waiting_operands(NodeId reader, std::priority_queue<NodeId>& operands) const {
    for (int k = 0; k < graph_.arity(reader); ++k)
      if (const NodeId operand = graph_.operand(reader, k); is_waiting(operand)) operands.push(operand);
  }
  // Nests in execution order, nodes in id order.
  std::vector<Nest> finish() {
    std::vector<Nest> nests;
    for (int draft : order_) nests.push_back(drafts_.take(draft));
    return nests;
  }

  const Graph& graph_;
  Drafts drafts_;
  std::vector<bool> waiting_, known_;
  const std::vector<bool> is_output_, asks_;
  int before_all_ = -1;                                // the draft of scalars that are known before
  std::vector<int> order_, position_;                  // drafts in execution order, and where each stands
};

}  // namespace

std::vector<Nest> group_nests(const Graph& graph, const Hints& hints, std::vector<Parting>& partings) {
  Grouper grouper(graph, hints);
  auto nests = grouper.run();
  partings = grouper.partings();
  return nests;
}

}  // namespace weft
