// The invariants of one node (node.h, G1..G7), checked before it enters a graph and again by verify.
// Cost: O(operands * rank); a message costs O(graph).
#pragma once
#include <vector>

#include <weft/graph.h>

namespace weft {

// Throws Error. `id`: of a node that is in the graph already; none for one that is about to be added.
void check_node(const Graph& graph, const Node& node, const std::vector<Operand>& operands, NodeId id = {});

void check_payload(const Node& node);           // the part of it that looks at no other node: the payload is what the kind says

}  // namespace weft
