// Values of which every reader takes the same part are made in that part only: exp(x)[::2] for every second x, exp(x)[0] for the first row, the gradient of
// padding without its edges.
#include "pipeline.h"

#include <algorithm>
#include <optional>
#include <set>

#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"
#include "schedule/schedule.h"

namespace weft {
namespace {

// Along each axis of a node: which elements are read, in terms of the first, the step and how many.
struct Taken {
  AxisMap places;                                        // reference d is over axis d
  Shape extents;
  friend bool operator==(const Taken&, const Taken&) = default;
};

// What one reader takes, which has the part `own` of its axes itself.
std::optional<Taken> taken_by(const Graph& graph, NodeId reader, int operand, const std::optional<Taken>& own) {
  const Node& node = graph.node(reader);
  if (node.kind != Kind::apply) return {};
  const AxisMap& map = graph.map(reader, operand);
  const AxisMap seen = own ? compose(map, own->places) : map;
  Taken part;
  for (std::size_t d = 0; d < seen.size(); ++d) {
    if (seen[d].axis < 0) {                              // one element
      part.extents.push_back(1);
      part.places.push_back(AxisRef{static_cast<int>(d), seen[d].start, 1});
      continue;
    }
    const auto axis = static_cast<std::size_t>(seen[d].axis);
    part.extents.push_back(own && axis < own->extents.size() ? own->extents[axis] : node.domain[axis]);
    part.places.push_back(AxisRef{static_cast<int>(d), seen[d].start, seen[d].step});
  }
  return part;
}

bool is_all(const Taken& part, const Shape& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!part.places[d].is_direct() || !(part.extents[d] == shape[d])) return false;
  return true;
}

// Whether a node can be made in part: elementwise ones, and windows of which elements in a row are left.
bool can_narrow(const Node& node, const Taken& part) {
  const bool in_a_row = std::all_of(part.places.begin(), part.places.end(), [](const AxisRef& ref) { return ref.step == 1; });
  if (node.kind == Kind::apply) return node.mode != Mode::accumulate;
  if (node.kind != Kind::update || !in_a_row) return false;
  const auto& places = std::get<AxisMap>(node.payload);
  return std::all_of(places.begin(), places.end(), [](const AxisRef& place) { return place.axis >= 0 && (place.step == 1 || place.step == -1); });
}

// Of an axis whose extent no code knows, or that is longer, a few elements: of what is made in whole next to nothing is asked.
bool is_few(const Taken& part, const Shape& shape) {
  constexpr Index few = 16;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (part.extents[d].is_number() && part.extents[d].constant() <= few && !(shape[d].is_number() && shape[d].constant() <= few * part.extents[d].constant())) return true;
  return false;
}

// Whether the ops of a node would read, at other indices, more than one value that others make too: each might need an array then.
bool parts_from_others(const Graph& graph, NodeId id) {
  std::set<NodeId> shared;
  for (int k = 0; k < graph.arity(id) && graph.node(id).kind == Kind::apply; ++k) {
    const NodeId operand = graph.operand(id, k);
    const std::vector<NodeId> users = graph.users(operand);
    if (is_scheduled(graph.node(operand)) && std::any_of(users.begin(), users.end(), [&](NodeId user) { return user != id; })) shared.insert(operand);
  }
  return shared.size() > 1;
}

std::vector<std::optional<Taken>> parts_of(const Graph& graph) {
  const std::vector<bool> is_output = output_marks(graph);
  std::vector<std::optional<Taken>> parts(graph.size());
  for (std::size_t k = graph.size(); k-- > 0;) {         // readers before what they read
    const NodeId id = id_of(k);
    const Node& node = graph.node(id);
    if (is_output[k] || graph.user_count(id) == 0 || node.kept == 0) continue;
    std::optional<Taken> all;
    bool agree = true;
    for (NodeId user : graph.users(id))
      for (int operand = 0; operand < graph.arity(user) && agree; ++operand) {
        if (graph.operand(user, operand) != id) continue;
        std::optional<Taken> part = taken_by(graph, user, operand, parts[user.value]);
        agree = part && (!all || *all == *part);
        if (agree) all = std::move(part);
      }
    if (agree && all && !is_all(*all, node.shape()) && can_narrow(node, *all) && (is_few(*all, node.shape()) || !parts_from_others(graph, id))) parts[k] = std::move(all);
  }
  return parts;
}

// A reference to an axis that the loop runs along in part.
AxisMap marked(AxisMap map, const Graph& graph, NodeId operand, const Shape& loops) {
  for (std::size_t d = 0; d < map.size(); ++d)
    map[d].part = map[d].is_direct() && !(graph.node(operand).domain[d] == loops[static_cast<std::size_t>(map[d].axis)]);
  return map;
}

}  // namespace

bool reads_in_part(const Graph& graph) {
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const NodeId id = id_of(k);
    const Node& node = graph.node(id);
    for (int operand = 0; operand < graph.arity(id) && node.kind == Kind::apply; ++operand) {
      const Node& whole = graph.node(graph.operand(id, operand));
      const AxisMap& map = graph.map(id, operand);
      for (std::size_t d = 0; d < map.size(); ++d)
        if (map[d].axis >= 0 && !(map[d].is_direct() && node.domain[static_cast<std::size_t>(map[d].axis)] == whole.domain[d])) return true;
    }
  }
  return false;
}

Graph narrow(const Graph& graph) {
  const std::vector<std::optional<Taken>> parts = parts_of(graph);
  Rebuild rebuild(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    Node node = graph.node(id);
    const std::optional<Taken>& own = parts[id.value];
    if (own) {
      node.domain = own->extents;
      if (node.kind == Kind::update) {
        AxisMap places = std::get<AxisMap>(node.payload);
        for (std::size_t k = 0; k < places.size(); ++k) places[k].start = places[k].start - own->places[k].start, places[k].part = true;
        node.payload = std::move(places);
      }
    }
    for (std::size_t k = 0; k < operands.size() && node.kind == Kind::apply; ++k) {
      AxisMap& map = operands[k].map;
      const bool is_narrow = parts[graph.operand(id, static_cast<int>(k)).value].has_value();
      if (!own && !is_narrow) continue;
      if (own) map = compose(map, own->places);
      if (is_narrow)                                     // it has what is read, and nothing else
        for (AxisRef& ref : map) ref = AxisRef{ref.axis, 0, 1};
      map = marked(std::move(map), rebuild.to, operands[k].node, node.domain);
    }
    return rebuild.to.add(std::move(node), std::move(operands));
  });
  return rebuild.finish();
}

}  // namespace weft
