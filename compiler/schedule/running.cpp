#include "running.h"

#include <algorithm>

#include <weft/recurrence.h>

#include "readers.h"

namespace weft {
namespace {

std::optional<AccumulatorId> unordered_accumulator(Op op, DType dtype) {
  for (AccumulatorId each : {AccumulatorId::sum, AccumulatorId::prod, AccumulatorId::max, AccumulatorId::min, AccumulatorId::any, AccumulatorId::all,
                             AccumulatorId::bitwise_or, AccumulatorId::bitwise_and, AccumulatorId::bitwise_xor})
    if (combining_op(each) == op && accepts(each, dtype) && !is_ordered(each, dtype)) return each;
  return {};
}

}  // namespace

std::optional<AccumulatorId> running_accumulator(const Node& node) {
  if (!is_scan(node) || carried_axes(node).size() != 1) return {};
  const Recurrence& recurrence = *std::get<Recurring>(node.payload).recurrence;
  if (recurrence.states() != 1) return {};
  const Graph& step = recurrence.step;
  const NodeId before = step.inputs[0], after = step.outputs[0];
  for (std::size_t k = 0; k < step.size(); ++k) {
    int readings = 0;                            // of what was before
    for (int p = 0; p < step.arity(id_of(k)); ++p) readings += step.operand(id_of(k), p) == before;
    if (readings != (id_of(k) == after ? 1 : 0)) return {};
  }
  if (step.arity(after) != 2 || std::find(step.outputs.begin(), step.outputs.end(), before) != step.outputs.end()) return {};
  return unordered_accumulator(step.node(after).op, step.node(after).dtype);
}

}  // namespace weft
