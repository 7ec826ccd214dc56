#include <algorithm>

#include "pipeline.h"

#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"
#include "schedule/schedule.h"

namespace weft {
namespace {

// The reshape that an output is a copy of, if the array it names can be the output's own: it is made here, for this output, and nothing reads it
// under another shape.
std::optional<NodeId> reshape_of(const Graph& graph, NodeId output) {
  const Node& node = graph.node(output);
  if (node.kind != Kind::apply || node.op != Op::copy || node.mode != Mode::broadcast || (node.rank() > 1 && node.order != Order::c) || graph.user_count(output) > 0) return {};
  const Operand operand{graph.operand(output, 0), graph.map(output, 0)};
  const NodeId memory = memory_of(graph, operand.node);
  if (graph.node(operand.node).kind != Kind::reshape || !is_scheduled(graph.node(memory)) || !is_whole(graph, operand, node.domain)) return {};
  for (NodeId named = operand.node; named != memory; named = graph.operand(named, 0))
    if (graph.users(named).size() != 1) return {};
  const auto names = [&](NodeId user) { return graph.node(user).kind == Kind::reshape; };
  const std::vector<NodeId> users = graph.users(memory);
  return std::count_if(users.begin(), users.end(), names) == 1 ? std::optional(operand.node) : std::nullopt;
}

}  // namespace

Graph reshape_results(const Graph& graph) {
  const std::vector<bool> is_output = output_marks(graph);
  std::vector<NodeId> stands_for(graph.size());
  std::vector<bool> goes(graph.size(), false);
  for (NodeId output : graph.outputs)
    if (const auto reshape = reshape_of(graph, output); reshape && !is_output[memory_of(graph, *reshape).value]) goes[output.value] = true, stands_for[output.value] = *reshape;
  Rebuild rebuild(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    return goes[id.value] ? rebuild[stands_for[id.value]] : rebuild.to.add(graph.node(id), std::move(operands));
  });
  for (NodeId output : graph.outputs) rebuild.to.outputs.push_back(rebuild[output]);
  return std::move(rebuild.to);
}

}  // namespace weft
