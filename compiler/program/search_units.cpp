#include "search_units.h"

#include <algorithm>
#include <map>

#include <weft/accumulator.h>

#include "../../graph/node_parts.h"
#include "visit.h"

namespace weft {
namespace {

bool folds_extreme(const Node& node) {
  return node.kind == Kind::apply && node.mode == Mode::accumulate && node.op == Op::copy && (node.accumulator == AccumulatorId::max || node.accumulator == AccumulatorId::min);
}

// A condition of elements of v, as wide as v.
bool reads_whole(const Graph& graph, NodeId id, int position) {
  return graph.map(id, position) == identity_map(graph.node(id).kept) && graph.node(graph.operand(id, position)).shape() == graph.node(id).shape();
}

struct Hit {
  NodeId value, extreme;
  AxisMap of_extreme;
};

// v == m
std::optional<Hit> equality(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op != Op::equal || node.mode != Mode::broadcast) return {};
  for (const int of_extreme : {1, 0})
    if (folds_extreme(graph.node(graph.operand(id, of_extreme))) && reads_whole(graph, id, 1 - of_extreme))
      if (const NodeId extreme = graph.operand(id, of_extreme), value = graph.operand(id, 1 - of_extreme); graph.operand(extreme, 0) == value)
        return Hit{value, extreme, graph.map(id, of_extreme)};
  return {};
}

// Of which v is a NaN, which equals nothing.
bool asks_for_nan(const Graph& graph, NodeId id, NodeId value) {
  const Node& node = graph.node(id);
  return node.op == Op::isnan && node.mode == Mode::broadcast && graph.operand(id, 0) == value && reads_whole(graph, id, 0);
}

std::optional<Hit> hit_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.op != Op::bitwise_or || node.mode != Mode::broadcast) return equality(graph, id);
  if (!reads_whole(graph, id, 0) || !reads_whole(graph, id, 1)) return {};
  for (const int other : {1, 0})
    if (const auto hit = equality(graph, graph.operand(id, 1 - other)); hit && asks_for_nan(graph, graph.operand(id, other), hit->value)) return hit;
  return {};
}

// The node that selects what a fold takes: itself, or what it reads.
std::optional<NodeId> choice_of(const Graph& graph, NodeId fold) {
  const Node& node = graph.node(fold);
  if (node.kind != Kind::apply || node.mode != Mode::accumulate || node.accumulator != AccumulatorId::min) return {};
  if (node.op == Op::where) return fold;
  const NodeId read = graph.operand(fold, 0);
  const Node& choice = graph.node(read);
  const bool is_whole = choice.kind == Kind::apply && choice.mode == Mode::broadcast && choice.op == Op::where && reads_whole(graph, read, 0);
  return node.op == Op::copy && is_whole ? std::optional(read) : std::nullopt;
}

struct Extremes {
  const Program* program;
  int partial;                                           // its buffer
};
using Places = std::map<NodeId, Extremes>;               // of folds that leave one row a unit

const Fold* merged_fold(const Program& program, int buffer) {
  for (const Fold& fold : program.folds) if (fold.partial >= 0 && fold.partial == buffer) return &fold;
  return nullptr;
}

bool has_same_units(const Program& one, const Program& other) {
  return one.unit == other.unit && one.axis(one.root.var.axis).extent == other.axis(other.root.var.axis).extent;
}

// What a program looks for, if it does nothing else.
std::vector<NodeId> sought(const Program& program, const Graph& graph, const Places& places) {
  std::vector<NodeId> extremes;
  bool does_more = false;
  each_item(program.root, [&](const Item& item, const Loop&) {
    each_access(item, [&](int buffer, const std::vector<Subscript>&, bool is_written) {
      if (!is_written || program.buffer(buffer).place == Place::row) return;
      const Fold* fold = merged_fold(program, buffer);
      const auto extreme = fold ? extreme_sought(graph, fold->node) : std::nullopt;
      const auto place = extreme ? places.find(*extreme) : places.end();
      does_more |= place == places.end() || !has_same_units(*place->second.program, program);
      if (!does_more && std::find(extremes.begin(), extremes.end(), *extreme) == extremes.end()) extremes.push_back(*extreme);
    });
  });
  return does_more ? std::vector<NodeId>{} : extremes;
}

}  // namespace

std::optional<NodeId> extreme_sought(const Graph& graph, NodeId id) {
  const Node& search = graph.node(id);
  const auto choice = choice_of(graph, id);
  if (!choice) return {};
  const Scalar* none = scalar_of(graph.node(graph.operand(*choice, 2)));
  if (!none || !(*none == unit(search.accumulator, search.dtype))) return {};
  const auto hit = hit_of(graph, graph.operand(*choice, 0));
  if (!hit) return {};
  const Node& extreme = graph.node(hit->extreme);
  const AxisMap& along = graph.map(id, 0);
  if (extreme.domain != search.domain || extreme.kept != search.kept || graph.map(hit->extreme, 0) != along) return {};
  for (std::size_t k = 0; k < hit->of_extreme.size(); ++k) {         // the extreme of the elements that it is compared with
    const AxisRef& ref = hit->of_extreme[k];
    if (!ref.is_identity() || along[static_cast<std::size_t>(ref.axis)] != AxisRef{static_cast<int>(k), 0, 1}) return {};
  }
  return hit->extreme;
}

void search_units(std::vector<Program>& programs, const Graph& graph) {
  Places places;
  for (Program& program : programs) {
    if (program.root.mark != Mark::units) continue;
    for (NodeId extreme : sought(program, graph, places)) {
      const auto& [before, partial] = places.at(extreme);
      program.searched.push_back(static_cast<int>(program.buffers.size()));
      program.buffers.push_back(before->buffer(partial));
      program.buffers.back().axes.clear();                           // which are those of the other program
    }
    for (const Fold& fold : program.folds) if (fold.partial >= 0) places.emplace(fold.node, Extremes{&program, fold.partial});
  }
}

}  // namespace weft
