// The invariants of one node (node.h, G1..G7), checked before it enters a graph.
#pragma once
#include <vector>

#include <weft/graph.h>

namespace weft {

void check_node(const Graph& graph, const Node& node, const std::vector<Operand>& operands);   // throws Error

}  // namespace weft
