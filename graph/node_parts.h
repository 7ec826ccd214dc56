// What passes, gradients and text ask of a node.
#pragma once
#include <vector>

#include <weft/graph.h>

namespace weft {

// The value of a constant of rank 0; of other nodes null.
inline const Scalar* scalar_of(const Node& node) { return node.kind == Kind::constant ? std::get_if<Scalar>(&node.payload) : nullptr; }
inline bool is_scalar_constant(const Node& node) { return scalar_of(node) != nullptr; }

inline std::vector<Operand> operands_of(const Graph& graph, NodeId id) {
  std::vector<Operand> operands;
  for (int p = 0; p < graph.arity(id); ++p) operands.push_back({graph.operand(id, p), graph.map(id, p)});
  return operands;
}

// Every extent that a node or its maps hold.
template <class Visit> void for_each_extent(const Node& node, const std::vector<Operand>& operands, const Visit& visit) {
  for (const Extent& extent : node.domain) visit(extent);
  if (const auto* extent = std::get_if<Extent>(&node.payload)) visit(*extent);
  if (const auto* fit = std::get_if<Fit>(&node.payload))
    for (const Extent& extent : fit->target) visit(extent);
  if (const auto* places = std::get_if<AxisMap>(&node.payload))
    for (const AxisRef& ref : *places) visit(ref.start);
  for (const Operand& operand : operands)
    for (const AxisRef& ref : operand.map) visit(ref.start);
}

}  // namespace weft
