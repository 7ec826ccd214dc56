// The sum of the products of operands over the labels of their axes: what every function of linear_algebra.h is.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <weft/graph.h>

namespace weft {

// Axes of one label are one axis. Messages call it that: "axis j".
using Labels = std::vector<std::string>;
struct LabeledOperand {
  Expr value;
  Labels labels;                                             // one per axis, each once
};

// The result has the axes `kept`, each of which some operand has, and the common dtype of the operands. Operands are multiplied from the
// left; a label that is not kept is summed over as soon as no later operand has it. An extent of 1 repeats.
// Error(usage, dtype, shape) that opens with `what`, before any node is added.
Expr sum_of_products(std::string_view what, std::vector<LabeledOperand> operands, const Labels& kept);

}  // namespace weft
