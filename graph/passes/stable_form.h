// Nodes that are a stable function in other words: log(1 + exp(a)) is softplus(a), 1 / (1 + exp(a)) is sigmoid(-a), log(sigmoid(a)) is -softplus(-a).
// The simplifier computes them
// as that function (simplify_rules.cpp), and their derivatives are taken as its. Through exp, which overflows, these would be infinity
// times 0 where the function itself is an ordinary number.
//
// The logarithm of a sum of exponentials is another such form, which shift_log_sums computes.
#pragma once
#include <functional>
#include <optional>

#include <weft/graph.h>

namespace weft {

struct StableForm {
  Op op;
  bool negated;                                              // op(-at), not op(at)
  bool negative;                                             // -op(..)
  Operand at;                                                // over the domain of the node
};

// None if the node is no such form, or if a node on the way to `at` stays what it is: keeps(node).
std::optional<StableForm> stable_form(const Graph& graph, NodeId id, const std::function<bool(NodeId)>& keeps);

// log(sum(exp(a))), whose sum overflows where the logarithm would not. Not one whose author has taken something off a: a - b, where b is the same
// for all that is summed.
struct LogSum {
  NodeId sum;
  Operand at;                                                // a over the domain of the sum
};
std::optional<LogSum> log_sum(const Graph& graph, NodeId id, const std::function<bool(NodeId)>& keeps);

// Such a sum with the largest a taken off, as logsumexp adds it up: sum(exp(a - shift)). Where that is not finite it would give inf - inf, and 0 is
// taken off instead. What it adds up to times exp(shift) does not depend on shift: stops_gradient says that no gradient runs through that.
struct ShiftedSum {
  Operand shift, exponential, total;                         // over the domain of the sum
};
ShiftedSum shifted_sum(Graph& graph, const Node& sum, const Operand& a, bool stops_gradient);

}  // namespace weft
