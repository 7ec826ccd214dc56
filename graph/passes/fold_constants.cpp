#include <optional>

#include <weft/passes.h>

#include "maps.h"
#include "node_parts.h"
#include "rebuild.h"

namespace weft {
namespace {

// Ops whose result is the exact value rounded once, so that no implementation can give other bits.
bool is_exactly_rounded(Op op, DType dtype) {
  switch (op) {
    case Op::copy: case Op::cast: case Op::negative: case Op::abs: case Op::sign: case Op::square: case Op::sqrt: case Op::reciprocal:
    case Op::relu: case Op::floor: case Op::ceil: case Op::round: case Op::trunc: case Op::isnan: case Op::isinf: case Op::isfinite:
    case Op::logical_not: case Op::bitwise_invert: case Op::add: case Op::subtract: case Op::multiply: case Op::divide:
    case Op::maximum: case Op::minimum: case Op::less: case Op::less_equal: case Op::greater: case Op::greater_equal: case Op::equal:
    case Op::not_equal: case Op::logical_and: case Op::logical_or: case Op::logical_xor: case Op::bitwise_and: case Op::bitwise_or:
    case Op::bitwise_xor: case Op::bitwise_left_shift: case Op::bitwise_right_shift: case Op::where: case Op::clip: case Op::fma:
      return true;
    case Op::floor_divide: case Op::remainder: case Op::power:
      return !is_floating(dtype);
    default:
      return false;
  }
}

// Half-precision bodies may keep more bits between ops than a stored constant has: those stay out of this.
bool is_number(const Graph& graph, NodeId id) {
  return is_scalar_constant(graph.node(id)) && !is_half(graph.node(id).dtype);
}

// operand_of(k) is the k-th operand, in `graph`.
template <class OperandOf> bool is_foldable(const Graph& graph, const Node& node, int arity, const OperandOf& operand_of) {
  const auto are_constant = [&] {
    for (int k = 0; k < arity; ++k)
      if (!is_number(graph, operand_of(k))) return false;
    return true;
  };
  return node.kind == Kind::apply && node.kept == static_cast<int>(node.domain.size()) && !is_half(node.dtype) &&
         is_exactly_rounded(node.op, node.dtype) && !(node.op == Op::copy && node.kept > 0) && are_constant();
}

// Under another shape: an array's elements stay as they are, and one value repeated is repeated over the new axes. Counts
// that only the call can compare leave the reshape in place.
std::optional<NodeId> reshaped_constant(Graph& to, const Node& node, NodeId id) {
  const Node& source = to.node(id);
  if (!(count_of(source.shape()) == count_of(node.domain))) return {};
  const bool is_repeated = is_pure_copy(to, id) && to.node(to.operand(id, 0)).kept == 0;
  if (is_repeated || source.kept == 0) return to.apply(Op::copy, node.dtype, node.domain, {Operand{is_repeated ? to.operand(id, 0) : id, {}}}, node.order);
  const auto* array = source.kind == Kind::constant ? std::get_if<Array>(&source.payload) : nullptr;
  if (array == nullptr) return {};
  Dims dims;
  for (const Extent& extent : node.domain) {
    if (!extent.is_number()) return {};
    dims.push_back(extent.constant());
  }
  return to.constant(array->copy(Order::c).reshape_view(dims)).id();
}

}  // namespace

bool has_constants_to_fold(const Graph& graph) {
  for (std::size_t index = 0; index < graph.size(); ++index) {
    const NodeId id = id_of(index);
    if (graph.node(id).kind == Kind::reshape || is_foldable(graph, graph.node(id), graph.arity(id), [&](int k) { return graph.operand(id, k); })) return true;
  }
  return false;
}

Graph fold_constants(const Graph& graph) {
  Rebuild rebuild(graph);
  rebuild.each([&](NodeId id, std::vector<Operand> operands) {
    const Node& node = graph.node(id);
    if (node.kind == Kind::reshape)
      if (const auto constant = reshaped_constant(rebuild.to, node, operands[0].node)) return *constant;
    if (!is_foldable(rebuild.to, node, static_cast<int>(operands.size()), [&](int k) { return operands[static_cast<std::size_t>(k)].node; })) return rebuild.to.add(node, std::move(operands));
    std::vector<Scalar> values;
    for (const Operand& operand : operands) values.push_back(std::get<Scalar>(rebuild.to.node(operand.node).payload));
    const NodeId constant = rebuild.to.constant(evaluate(node.op, values, node.dtype)).id();
    return node.kept == 0 ? constant : rebuild.to.apply(Op::copy, node.dtype, node.domain, {Operand{constant, {}}}, node.order);
  });
  return drop_dead(rebuild.finish());
}

}  // namespace weft
