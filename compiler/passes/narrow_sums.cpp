#include <algorithm>
#include <optional>

#include "pipeline.h"
#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"

namespace weft {
namespace {

// The sum or product of wider integers that a cast takes the low bytes of, if nothing else reads it, and what it sums is made by no op of its own.
std::optional<NodeId> wider_sum(const Graph& graph, NodeId id, const std::vector<bool>& is_output) {
  const Node& cast = graph.node(id);
  if (cast.kind != Kind::apply || cast.op != Op::cast || cast.mode != Mode::broadcast || !is_integer(cast.dtype)) return {};
  const NodeId folded = graph.operand(id, 0);
  const Node& fold = graph.node(folded);
  if (fold.kind != Kind::apply || fold.mode != Mode::accumulate || (fold.accumulator != AccumulatorId::sum && fold.accumulator != AccumulatorId::prod)) return {};
  if (!is_integer(fold.dtype) || size_of(fold.dtype) <= size_of(cast.dtype) || (fold.op != Op::copy && fold.op != Op::cast)) return {};
  const bool is_whole = graph.map(id, 0) == identity_map(fold.kept) && cast.domain == fold.shape();
  const std::vector<NodeId> users = graph.users(folded);
  const bool is_only = !is_output[folded.value] && std::all_of(users.begin(), users.end(), [&](NodeId user) { return user == id; });
  return is_whole && is_only && !is_floating(graph.node(graph.operand(folded, 0)).dtype) ? std::optional(folded) : std::nullopt;
}

}  // namespace

Graph narrow_sums(const Graph& graph) {
  const std::vector<bool> is_output = output_marks(graph);
  std::vector<NodeId> sum_of(graph.size(), NodeId{UINT32_MAX});
  std::vector<bool> is_narrowed(graph.size(), false);
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (const auto found = wider_sum(graph, id_of(k), is_output)) sum_of[k] = *found, is_narrowed[found->value] = true;
  Rebuild rebuild(graph);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const NodeId id = id_of(k), folded = sum_of[k];
    if (is_narrowed[k]) continue;
    if (folded.value == UINT32_MAX) {
      rebuild.copy(id);
      continue;
    }
    Node node = graph.node(folded);
    node.dtype = graph.node(id).dtype;
    node.order = graph.node(id).order;
    node.op = graph.node(graph.operand(folded, 0)).dtype == node.dtype ? Op::copy : Op::cast;
    rebuild.set(id, rebuild.to.add(std::move(node), rebuild.operands(folded)));
  }
  return rebuild.finish();
}

}  // namespace weft
