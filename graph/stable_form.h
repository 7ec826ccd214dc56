// Nodes that are a stable function in other words: log(1 + exp(a)) is softplus(a), 1 / (1 + exp(a)) is sigmoid(-a). The simplifier computes them
// as that function (simplify_rules.cpp), and their derivatives are taken as its. Through exp, which overflows, these would be infinity
// times 0 where the function itself is an ordinary number.
#pragma once
#include <functional>
#include <optional>

#include <weft/graph.h>

namespace weft {

struct StableForm {
  Op op;
  bool negated;                                              // op(-at), not op(at)
  Operand at;                                                // over the domain of the node
};

// None if the node is no such form, or if a node on the way to `at` stays what it is: keeps(node).
std::optional<StableForm> stable_form(const Graph& graph, NodeId id, const std::function<bool(NodeId)>& keeps);

}  // namespace weft
