// update(f(x, y)) -> where(the index is in the window, f(x there, y there), 0), where "there" is what an update reads: memory, zero beside it.
// A slice of an update of memory is such an update itself: stencils over padded arrays read the arrays.
#include "pipeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <weft/passes.h>
#include <weft/text.h>

#include "../../graph/expr/windows.h"
#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"
#include "schedule/cost_model.h"
#include "schedule/schedule.h"

namespace weft {
namespace {

// Whether an index of an operand's axis is there for every index of the loops.
bool is_inside(const AxisRef& ref, const Extent& extent, const Shape& loops) {
  if (ref.axis < 0) return true;                         // checked where the op was made
  const Extent last = ref.start + Extent(ref.step) * (loops[static_cast<std::size_t>(ref.axis)] - 1);
  const Extent &lowest = ref.step > 0 ? ref.start : last, beyond = extent - 1 - (ref.step > 0 ? last : ref.start);
  return lowest.is_number() && lowest.constant() >= 0 && beyond.is_number() && beyond.constant() >= 0;
}
bool all_inside(const AxisMap& map, const Shape& shape, const Shape& loops) {
  for (std::size_t d = 0; d < map.size(); ++d) if (!is_inside(map[d], shape[d], loops)) return false;
  return true;
}
bool has_fixed(const AxisMap& map) {
  return std::any_of(map.begin(), map.end(), [](const AxisRef& ref) { return ref.axis < 0; });
}
bool goes_by_steps(const AxisMap& map) {
  return std::any_of(map.begin(), map.end(), [](const AxisRef& ref) { return ref.axis >= 0 && ref.step != 1 && ref.step != -1; });
}

// The axes of what an update writes, from the axes of its result.
AxisMap seen_from_result(const AxisMap& places, std::size_t window_rank) {
  AxisMap seen(window_rank);
  for (std::size_t k = 0; k < places.size(); ++k)
    if (places[k].axis >= 0) seen[static_cast<std::size_t>(places[k].axis)] = AxisRef{static_cast<int>(k), Extent(-places[k].step) * places[k].start, places[k].step};
  return seen;
}

// What the map, of steps 1 and -1, reads of an array where it has that, and zero where not: itself along axes where it has all.
Operand placed(Graph& graph, NodeId id, const AxisMap& map, const Shape& loops) {
  const Node array = graph.node(id);
  AxisMap places, seen;
  Shape domain;
  for (std::size_t d = 0; d < map.size(); ++d) {
    const AxisRef& ref = map[d];
    const bool inside = is_inside(ref, array.domain[d], loops);
    domain.push_back(inside ? array.domain[d] : loops[static_cast<std::size_t>(ref.axis)]);
    places.push_back(inside ? AxisRef{static_cast<int>(d), 0, 1, true} : AxisRef{static_cast<int>(d), Extent(-ref.step) * ref.start, ref.step, true});
    seen.push_back(inside ? ref : AxisRef{ref.axis, 0, 1});
    seen.back().part = seen.back().is_direct() && !(domain[d] == loops[static_cast<std::size_t>(ref.axis)]);
  }
  if (all_inside(map, array.domain, loops)) return Operand{id, std::move(seen)};
  Node node;
  node.kind = Kind::update;
  node.dtype = array.dtype;
  node.kept = static_cast<int>(domain.size());
  node.domain = std::move(domain);
  node.payload = std::move(places);
  return Operand{graph.add(std::move(node), {Operand{id, identity_map(array.kept)}}), std::move(seen)};
}

// Of one window: what it holds, as values over the axes of the result.
class Inliner {
 public:
  // By node of the new graph, as far as it had been rebuilt before this window.
  struct Known {
    std::vector<bool> may_inline;                        // one of the old, no output, and no long function of others
    std::vector<bool> is_array;                          // an update, a reshape or a caller reads it
    std::vector<int> readers;
    void resize(std::size_t size) { may_inline.resize(size, false), is_array.resize(size, false), readers.resize(size, 0); }
  };
  Inliner(Graph& graph, Known& known, const Node& update, NodeId window)
      : graph_(graph), known_(known), update_(update), window_(window), chosen_{made_in_window} {}

  // The node in place of the update, or none: nothing was added then that anything reads.
  std::optional<NodeId> run() {
    const auto& places = std::get<AxisMap>(update_.payload);
    const AxisMap seen = seen_from_result(places, graph_.node(window_).shape().size());
    if (goes_by_steps(places) || !is_op(window_) || !can_make_operands(window_, seen)) return {};
    return select(make(window_, seen));
  }

 private:
  using Place = std::pair<NodeId, std::string>;          // a node, and the map through which it is read

  bool is_known(NodeId id) const { return id.value < known_.readers.size(); }
  bool is_op(NodeId id) const {
    const Node& node = graph_.node(id);
    return node.kind == Kind::apply && node.mode != Mode::accumulate && is_known(id) && known_.may_inline[id.value];
  }
  bool is_scalar(NodeId id) const { return graph_.node(id).kind == Kind::extent || (graph_.node(id).kind == Kind::constant && graph_.node(id).kept == 0); }

  // Whether what is read through the map can be had, within the budget: beside what is inside everywhere, from memory, or from one array that is
  // stored instead of the window's, as others read it too: the gradient of a stencil stores one array then, and not one for each of its points.
  bool can_make(NodeId id, const AxisMap& map) {
    const Place place{id, key_of(map)};
    if (is_scalar(id) || !chosen_.seen.insert(place).second) return true;
    if (is_op(id)) {
      const Choice before = chosen_;
      if (can_make_operands(id, map)) return true;
      chosen_ = before;
      chosen_.kept.insert(place);
    }
    const Node& node = graph_.node(id);
    if (all_inside(map, node.shape(), update_.domain)) return node.kind != Kind::iota;
    if (goes_by_steps(map)) return false;
    if (is_given(graph_, id) || (is_known(id) && known_.is_array[id.value])) return true;
    const bool is_shared = is_scheduled(node) && is_known(id) && known_.readers[id.value] > 1 && size_of(node.dtype) <= size_of(update_.dtype);
    if (!is_shared || (chosen_.stored.value != NodeId().value && chosen_.stored != id)) return false;
    chosen_.stored = id;
    return true;
  }
  bool can_make_operands(NodeId id, const AxisMap& map) {
    if (known_.readers[id.value] > 1) chosen_.budget = std::min(chosen_.budget, made_again_in_window);
    if ((chosen_.budget -= op_cost(graph_.node(id).op)) < 0) return false;
    for (int k = 0; k < graph_.arity(id); ++k)
      if (!can_make(graph_.operand(id, k), compose(graph_.map(id, k), map))) return false;
    return true;
  }

  Operand make(NodeId id, const AxisMap& map) {
    if (is_scalar(id)) return Operand{id, {}};
    const Place place{id, key_of(map)};
    if (!is_op(id) || chosen_.kept.contains(place)) {
      const Operand there = placed(graph_, id, map, update_.domain);
      if (there.node != id && is_known(id)) known_.is_array[id.value] = is_scheduled(graph_.node(id));
      return there;
    }
    auto [made, fresh] = made_.emplace(place, NodeId{});
    if (fresh) {
      const Node node = graph_.node(id);
      std::vector<Operand> operands;
      for (int k = 0; k < graph_.arity(id); ++k) operands.push_back(make(graph_.operand(id, k), compose(graph_.map(id, k), map)));
      made->second = graph_.apply(node.op, node.dtype, update_.domain, std::move(operands), update_.order);
    }
    return Operand{made->second, identity_map(static_cast<int>(update_.domain.size()))};
  }

  // The value inside the window and zero outside, axis after axis; one of its own if it is inside everywhere.
  NodeId select(Operand value) {
    const auto& places = std::get<AxisMap>(update_.payload);
    const Shape window = graph_.node(window_).shape();
    const AxisMap all = identity_map(static_cast<int>(update_.domain.size()));
    const NodeId zero = graph_.constant(Scalar::of(update_.dtype, std::int64_t{0})).id();
    for (std::size_t k = places.size(); k-- > 0;) {
      const Extent& extent = update_.domain[k];
      const Extent count = places[k].axis < 0 ? Extent(1) : window[static_cast<std::size_t>(places[k].axis)];
      const Extent begin = places[k].axis >= 0 && places[k].step < 0 ? places[k].start + 1 - count : places[k].start, beyond = begin + count - extent;
      Expr inside;
      if (!begin.is_number() || begin.constant() > 0) inside = greater_equal(iota(graph_, extent), graph_.extent(begin));
      if (!beyond.is_number() || beyond.constant() < 0) {
        const Expr below = index_below(graph_, extent, begin + count);
        inside = inside.is_empty() ? below : logical_and(inside, below);
      }
      if (!inside.is_empty()) value = Operand{graph_.apply(Op::where, update_.dtype, update_.domain, {Operand{inside.id(), AxisMap{AxisRef{static_cast<int>(k), 0, 1}}}, value, Operand{zero, {}}}, update_.order), all};
    }
    return value.node;
  }

  static std::string key_of(const AxisMap& map) {
    std::string key;
    for (const AxisRef& ref : map) key += std::to_string(ref.axis) + "," + to_text(ref.start) + "," + std::to_string(ref.step) + ";";
    return key;
  }

  Graph& graph_;
  Known& known_;
  const Node& update_;
  const NodeId window_;
  struct Choice {
    int budget;
    NodeId stored = {};                                  // instead of the window
    std::set<Place> kept = {};                           // ops that are not made again
    std::set<Place> seen = {};
  } chosen_;
  std::map<Place, NodeId> made_;
};

bool is_read_by_others(const Graph& graph, NodeId id, NodeId reader) {
  const std::vector<NodeId> users = graph.users(id);
  return std::any_of(users.begin(), users.end(), [&](NodeId user) { return user != reader; });
}

// Whether it is an update that its readers can do without: they are ops, some of which take it at other indices.
bool is_read_through(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto& places = std::get<AxisMap>(node.payload);
  if (goes_by_steps(places) || has_fixed(places)) return false;
  bool elsewhere = false;
  for (NodeId user : graph.users(id)) {
    const Node& reader = graph.node(user);
    if (reader.kind != Kind::apply || reader.mode == Mode::accumulate) return false;
    for (int k = 0; k < graph.arity(user); ++k) {
      if (graph.operand(user, k) != id) continue;
      const AxisMap& map = graph.map(user, k);
      if (goes_by_steps(map) || has_fixed(map)) return false;
      elsewhere |= map != identity_map(node.kept);
    }
  }
  return elsewhere;
}

}  // namespace

namespace {

template <class Lies> Graph read_through(const Graph& graph, Lies lies) {
  const std::vector<bool> is_output = output_marks(graph);
  std::vector<bool> is_through(graph.size(), false);
  for (std::size_t k = 0; k < graph.size(); ++k)
    is_through[k] = graph.node(id_of(k)).kind == Kind::update && !is_output[k] && lies(id_of(k), graph.operand(id_of(k), 0)) && is_read_through(graph, id_of(k));
  const bool changed = std::find(is_through.begin(), is_through.end(), true) != is_through.end();
  Rebuild rebuild(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    for (std::size_t k = 0; k < operands.size() && changed; ++k) {
      const NodeId update = graph.operand(id, static_cast<int>(k));
      if (!is_through[update.value]) continue;
      const NodeId window = rebuild.to.operand(operands[k].node, 0);
      const AxisMap seen = seen_from_result(std::get<AxisMap>(graph.node(update).payload), rebuild.to.node(window).shape().size());
      operands[k] = placed(rebuild.to, window, compose(seen, operands[k].map), graph.node(id).domain);
    }
    return rebuild.to.add(graph.node(id), std::move(operands));
  });
  return changed ? merge_duplicates(drop_dead(rebuild.finish())) : rebuild.finish();
}

}  // namespace

// A value that others read too is no cheaper where the update writes it.
Graph read_through_windows(const Graph& graph) {
  return read_through(graph, [&](NodeId update, NodeId window) {
    return is_given(graph, window) || (is_scheduled(graph.node(window)) && is_read_by_others(graph, window, update));
  });
}

Graph read_through_values(const Graph& graph) {
  return read_through(graph, [&](NodeId, NodeId window) { return is_scheduled(graph.node(window)); });
}

Graph inline_windows(const Graph& graph) {
  const std::vector<bool> is_output = output_marks(graph);
  bool updates = false, changed = false;
  for (std::size_t k = 0; k < graph.size(); ++k) updates |= graph.node(id_of(k)).kind == Kind::update;
  Rebuild rebuild(graph);
  Inliner::Known known;
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    const Node& node = graph.node(id);
    if (!updates) return rebuild.to.add(node, std::move(operands));
    known.resize(rebuild.to.size());
    if (node.kind == Kind::update) {
      if (const std::optional<NodeId> made = Inliner(rebuild.to, known, node, operands[0].node).run()) {
        changed = true;
        return *made;
      }
    }
    const NodeId now = rebuild.to.add(node, std::move(operands));
    known.resize(rebuild.to.size());
    const std::vector<NodeId> users = graph.users(id);
    known.readers[now.value] = static_cast<int>(std::set<NodeId>(users.begin(), users.end()).size());
    known.may_inline[now.value] = node.kind == Kind::apply && !is_output[id.value] && (op_cost(node.op) < long_function || known.readers[now.value] == 1);
    known.is_array[now.value] = is_scheduled(node) && (is_output[id.value] || std::any_of(users.begin(), users.end(), [&](NodeId user) {
      return graph.node(user).kind == Kind::update || graph.node(user).kind == Kind::reshape;
    }));
    return now;
  });
  return changed ? merge_duplicates(drop_dead(rebuild.finish())) : rebuild.finish();
}

}  // namespace weft
