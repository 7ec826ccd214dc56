// The adjoint of a recurrence is a recurrence that runs backwards:
//
//   g_state[i-1], g_x[i] = (derivative of the step at state[i-1], x[i]) applied to g_state[i],    i = N .. 1
//
// with the states before each element from a scan. What the derivative does not read is not computed: a sum or an
// exponential average keeps no states. Sources: Theano, "Elemwise compiler", Gradient (the general accumulator);
// tests/README.md, requirements 161-166.
#pragma once
#include <optional>
#include <vector>

#include <weft/recurrence.h>

namespace weft {

// The cotangents of the operands of recurrence `id`, each over the whole domain of the node, `wanted` ones only.
// g: the cotangent of its value.
std::vector<std::optional<Operand>> recurrence_adjoints(Graph& graph, NodeId id, const Operand& g, const std::vector<bool>& wanted);

// The derivative of its value along tangents of its operands (absent: constant).
NodeId recurrence_tangent(Graph& graph, NodeId id, const std::vector<std::optional<Operand>>& tangents);

}  // namespace weft
