#include "batch.h"

#include <unordered_map>

#include <weft/error.h>

#include "node_parts.h"

namespace weft {
namespace {

AxisMap with_lead(AxisMap map, int lead, bool is_batched) {
  for (AxisRef& ref : map)
    if (ref.axis >= 0) ref.axis += lead;
  if (!is_batched) return map;
  AxisMap result = identity_map(lead);
  result.insert(result.end(), map.begin(), map.end());
  return result;
}

}  // namespace

std::pair<Expr, Expr> batched(const Expr& x, const Expr& y, const Shape& lead) {
  Graph& graph = x.graph();
  const int count = static_cast<int>(lead.size());
  const std::size_t size = graph.size();
  const auto widen = [&](Shape domain) {
    Shape wide = lead;
    wide.insert(wide.end(), domain.begin(), domain.end());
    return wide;
  };
  AxisMap after(static_cast<std::size_t>(x.rank()));
  for (int k = 0; k < x.rank(); ++k) after[static_cast<std::size_t>(k)].axis = count + k;
  const Expr many_x(graph, graph.apply(Op::copy, x.dtype(), widen(x.shape()), {Operand{x.id(), after}}));
  std::unordered_map<NodeId, NodeId> copies{{x.id(), many_x.id()}};
  for (std::size_t k = x.id().value + 1; k < size && k <= y.id().value; ++k) {
    std::vector<Operand> operands = operands_of(graph, id_of(k));
    bool depends = false;
    for (Operand& operand : operands) {
      const auto copy = copies.find(operand.node);
      operand.map = with_lead(std::move(operand.map), count, copy != copies.end());
      if (copy != copies.end()) operand.node = copy->second, depends = true;
    }
    if (!depends) continue;
    Node node = graph.node(id_of(k));
    node.domain = widen(node.domain);
    node.kept += count;
    if (auto* places = std::get_if<AxisMap>(&node.payload)) {
      const bool within = are_within(*places);
      *places = with_lead(std::move(*places), count, true);
      for (AxisRef& place : *places) place.part = within;
    }
    if (auto* fit = std::get_if<Fit>(&node.payload)) fit->target = widen(fit->target);
    if (auto* along = std::get_if<Along>(&node.payload)) along->axis += count;
    if (auto* recurring = std::get_if<Recurring>(&node.payload))
      for (int& axis : recurring->axes) axis += count;
    copies[id_of(k)] = graph.add(std::move(node), std::move(operands));
  }
  return {many_x, Expr(graph, copies.at(y.id()))};
}

}  // namespace weft
