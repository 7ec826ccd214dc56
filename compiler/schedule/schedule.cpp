#include "schedule.h"

#include <algorithm>

#include <weft/recurrence.h>

#include "blocks.h"
#include "conditions.h"
#include "folds_apart.h"
#include "recompute.h"
#include "scalars.h"

namespace weft {

std::vector<int> carried_axes(const Node& node) {
  if (node.kind == Kind::others) return {std::get<Along>(node.payload).axis};
  if (node.kind != Kind::recurrence) return {};
  if (node.mode == Mode::scan) return std::get<Recurring>(node.payload).axes;
  std::vector<int> axes;
  for (int axis = node.kept; axis < static_cast<int>(node.domain.size()); ++axis) axes.push_back(axis);
  return axes;
}

const Placed* Nest::find(NodeId id) const {
  const auto at = std::lower_bound(nodes.begin(), nodes.end(), id, [](const Placed& placed, NodeId wanted) { return placed.node < wanted; });
  return at != nodes.end() && at->node == id ? &*at : nullptr;
}

std::vector<NodeId> results_of(const Graph& graph) {
  std::vector<NodeId> results;
  for (NodeId output : graph.outputs) results.push_back(memory_of(graph, output));
  return results;
}

std::vector<bool> result_marks(const Graph& graph) {
  std::vector<bool> marks(graph.size(), false);
  for (NodeId result : results_of(graph)) marks[result.value] = true;
  return marks;
}

Schedule make_schedule(const Graph& graph, const Hints& hints) {
  Schedule schedule;
  schedule.turned = hints.turned;
  schedule.nests = group_nests(graph, hints, schedule.partings);
  set_folds_apart(graph, hints, schedule.nests, schedule.partings);
  make_conditions(graph, hints, schedule.nests);
  if (schedule.nests.size() > 1) schedule.again = make_cheap_values_again(graph, hints, schedule.nests);
  make_scalars_where_read(graph, schedule.nests);
  schedule.stored.assign(graph.size(), false);
  for (NodeId result : results_of(graph)) schedule.stored[result.value] = true;
  for (const Nest& nest : schedule.nests)
    for (const Placed& placed : nest.nodes)
      for (int k = 0; k < graph.arity(placed.node); ++k)
        if (const NodeId made = memory_of(graph, graph.operand(placed.node, k)); is_scheduled(graph.node(made)) && !nest.find(made)) schedule.stored[made.value] = true;
  for (Nest& nest : schedule.nests) {
    collapse_axes(graph, hints, schedule, nest);
    arrange(graph, hints, schedule, nest);
  }
  return schedule;
}

namespace {

void collect(const Level& level, std::vector<NodeId>& out) {
  for (const auto& item : level.body) {
    if (auto* inner = std::get_if<Level>(&item)) collect(*inner, out);
    else out.push_back(std::get<NodeId>(item));
  }
}

void print(const Graph& graph, const Nest& nest, const Level& level, int depth, std::string& out) {
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  std::string mark = depth == 1 ? "parallel" : level.lanes ? "lanes" : "serial";
  if (level.var.axis < 0) out += indent + "once {";
  else {
    const auto& axis = nest.axes[static_cast<std::size_t>(level.var.axis)];
    out += indent + mark + " " + axis_letter(level.var.axis) + ":" + to_text(axis.extent);
    if (level.var.part == Part::tile) out += " by " + std::to_string(nest.unit);
    if (level.var.part == Part::block) out += " by " + std::to_string(nest.block);
    out += level.backwards ? " backwards {" : " {";
  }
  bool nested = false;
  for (const auto& item : level.body) nested |= std::holds_alternative<Level>(item);
  for (const auto& item : level.body) {
    if (auto* inner = std::get_if<Level>(&item)) {
      out += "\n";
      print(graph, nest, *inner, depth + 1, out);
    } else {
      const std::string name = Expr(const_cast<Graph&>(graph), std::get<NodeId>(item)).name();
      out += nested ? "\n" + indent + "  " + name : " " + name;
    }
  }
  out += nested ? "\n" + indent + "}" : " }";
}

}  // namespace

std::string to_text(const Graph& graph, const Schedule& schedule) {
  std::string out = "schedule " + graph.name + " {\n";
  for (const Nest& nest : schedule.nests) {
    print(graph, nest, nest.root, 1, out);
    out += "\n";
  }
  std::string stored;
  const std::vector<bool> is_result = result_marks(graph);
  for (std::size_t index = 0; index < graph.size(); ++index)
    if (schedule.stored[index] && !is_result[index])
      stored += " " + Expr(const_cast<Graph&>(graph), id_of(index)).name() + (layout_of(graph, schedule.turned, id_of(index)) == Order::f ? " f" : "");
  if (!stored.empty()) out += "  arrays" + stored + "\n";
  return out + "}\n";
}

void verify(const Graph& graph, const Schedule& schedule) {
  std::vector<std::size_t> made_in(graph.size(), 0);           // 1 + the last nest that ran the node
  for (std::size_t n = 0; n < schedule.nests.size(); ++n) {
    const Nest& nest = schedule.nests[n];
    std::vector<NodeId> order;
    collect(nest.root, order);
    WEFT_ASSERT(order.size() == nest.nodes.size(), "S1: nest ", n, " runs ", order.size(), " nodes of ", nest.nodes.size());
    for (NodeId id : order) {
      WEFT_ASSERT(nest.find(id) && (made_in[id.value] == 0 || (made_in[id.value] <= n && !schedule.stored[id.value])), "S1: %", id.value, " runs twice or in a foreign nest");
      for (int k = 0; k < graph.arity(id); ++k) {
        const NodeId made = memory_of(graph, graph.operand(id, k));
        if (!is_scheduled(graph.node(made))) continue;
        const Placed* here = nest.find(made);
        WEFT_ASSERT(here ? made_in[made.value] == n + 1 || is_made_by_readers(nest, *here) : made_in[made.value] != 0 && schedule.stored[made.value],
                    "S3: %", id.value, " reads %", made.value, " before it is made");
      }
      made_in[id.value] = n + 1;
    }
  }
  for (std::size_t index = 0; index < graph.size(); ++index)
    WEFT_ASSERT(made_in[index] != 0 || !is_scheduled(graph.node(id_of(index))), "S1: %", index, " is not scheduled");
}

}  // namespace weft
