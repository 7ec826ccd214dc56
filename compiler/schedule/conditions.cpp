#include "conditions.h"

#include <algorithm>
#include <map>

#include "readers.h"
#include "size_facts.h"

namespace weft {
namespace {

// Whether it asks indices, or is an index moved by others and extents, and by nothing else.
bool asks_indices(const Graph& graph, NodeId id, const std::vector<bool>& asks) {
  const Node& node = graph.node(id);
  if (node.kind != Kind::apply || node.mode == Mode::accumulate) return false;
  if (node.dtype != DType::bool_ && (node.dtype != DType::i64 || (node.op != Op::add && node.op != Op::subtract))) return false;
  bool some = false;
  for (int k = 0; k < graph.arity(id); ++k) {
    const NodeId operand = graph.operand(id, k);
    const Node& made = graph.node(operand);
    const bool here = made.kind == Kind::iota || asks[operand.value];
    if (!here && made.kind != Kind::extent && (made.kind != Kind::constant || made.kept > 0)) return false;
    some |= here;
  }
  return some && std::any_of(node.domain.begin(), node.domain.end(), [](const Extent& extent) { return !extent.is(1); });
}

bool is_asked_in_place(const Graph& graph, NodeId id) {
  const std::vector<NodeId> users = graph.users(id);
  return std::all_of(users.begin(), users.end(), [&](NodeId user) {
    std::vector<int> own(graph.node(user).domain.size()), axes(graph.node(id).domain.size(), -1);
    for (std::size_t d = 0; d < own.size(); ++d) own[d] = static_cast<int>(d);
    return graph.node(user).kind == Kind::apply && follow_reader(graph, id, user, own, axes);
  });
}

class WhereAsked {
 public:
  WhereAsked(const Graph& graph, const Hints& hints, std::vector<Nest>& nests) : graph_(graph), hints_(hints), nests_(nests), runs_in_(graph.size()) {
    for (std::size_t n = 0; n < nests.size(); ++n)
      for (const Placed& placed : nests[n].nodes) add(placed, n);
  }

  void run() {
    const std::vector<bool> asks = conditions_on_indices(graph_);
    const std::size_t others = nests_.size();
    for (std::size_t k = graph_.size(); k-- > 0;)                           // readers before what they read
      if (asks[k]) place(id_of(k));
    for (Nest& nest : nests_)
      std::sort(nest.nodes.begin(), nest.nodes.end(), [](const Placed& a, const Placed& b) { return a.node < b.node; });
    std::reverse(nests_.begin() + static_cast<std::ptrdiff_t>(others), nests_.end());
    std::rotate(nests_.begin(), nests_.begin() + static_cast<std::ptrdiff_t>(others), nests_.end());
  }

 private:
  void add(const Placed& placed, std::size_t nest) {
    runs_in_[placed.node.value].push_back(nest);
    axes_[{placed.node, nest}] = placed.axes;
  }
  void put(Placed placed, std::size_t nest) {
    add(placed, nest);
    nests_[nest].nodes.push_back(std::move(placed));
  }
  void place(NodeId id) {
    std::map<std::size_t, std::vector<int>> asked_in;                       // by nest: its axes there
    for (NodeId user : graph_.users(id))
      for (std::size_t nest : runs_in_[user.value]) {
        const auto [at, is_new] = asked_in.try_emplace(nest, graph_.node(id).domain.size(), -1);
        if (!follow_reader(graph_, id, user, axes_.at({user, nest}), at->second)) return put_apart(id);
      }
    for (auto& [nest, axes] : asked_in) put({id, std::move(axes)}, nest);
  }
  void put_apart(NodeId id) {
    Nest nest;
    Placed placed{id, {}};
    for (const Extent& extent : graph_.node(id).domain) {
      placed.axes.push_back(extent.is(1) ? -1 : static_cast<int>(nest.axes.size()));
      if (!extent.is(1)) nest.axes.push_back({extent, extent.evaluate(hints_.bindings), facts_of(extent, hints_.facts)});
    }
    nest.roots = bits_of(placed.axes);
    nests_.push_back(std::move(nest));
    put(std::move(placed), nests_.size() - 1);
  }

  const Graph& graph_;
  const Hints& hints_;
  std::vector<Nest>& nests_;
  std::vector<std::vector<std::size_t>> runs_in_;      // by node
  std::map<std::pair<NodeId, std::size_t>, std::vector<int>> axes_;
};

}  // namespace

std::vector<bool> conditions_on_indices(const Graph& graph) {
  const std::vector<bool> is_output = result_marks(graph);
  std::vector<bool> asks(graph.size(), false);
  for (std::size_t k = 0; k < graph.size(); ++k) asks[k] = asks_indices(graph, id_of(k), asks) && !is_output[k] && is_asked_in_place(graph, id_of(k));
  return asks;
}

std::set<Asked> find_asked(const Graph& graph, const std::vector<bool>& asks, NodeId id, const std::vector<int>& axes, const std::function<bool(const Asked&)>& is_known) {
  std::set<Asked> found;
  std::vector<Asked> due{{id, axes}};
  while (!due.empty()) {
    const Asked reader = std::move(due.back());
    due.pop_back();
    for (int k = 0; k < graph.arity(reader.first); ++k) {
      if (!asks[graph.operand(reader.first, k).value]) continue;
      Asked each{graph.operand(reader.first, k), axes_of_operand(graph, reader.first, k, reader.second)};
      if (!is_known(each) && found.insert(each).second) due.push_back(std::move(each));
    }
  }
  return found;
}

void make_conditions(const Graph& graph, const Hints& hints, std::vector<Nest>& nests) { WhereAsked(graph, hints, nests).run(); }

}  // namespace weft
