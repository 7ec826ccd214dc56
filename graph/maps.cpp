#include "maps.h"

#include <limits>

#include "checked.h"

namespace weft {

AxisMap compose(const AxisMap& inner, const AxisMap& outer) {
  AxisMap result;
  result.reserve(inner.size());
  for (const AxisRef& ref : inner) {
    if (ref.axis < 0) {
      result.push_back(ref);
      continue;
    }
    const AxisRef& through = outer[static_cast<std::size_t>(ref.axis)];
    AxisRef composed{through.axis, ref.start + Extent(ref.step) * through.start, through.axis < 0 ? 1 : checked_product(ref.step, through.step)};
    composed.part = composed.is_direct() && !(ref.is_identity() && through.is_identity());
    result.push_back(std::move(composed));
  }
  return result;
}

Reach::Reach(Index start, Index step, Index count) : first(start) {
  Index distance = 0;
  const bool wraps = __builtin_mul_overflow(step, count - 1, &distance) || __builtin_add_overflow(start, distance, &last);
  if (wraps) last = step > 0 ? std::numeric_limits<Index>::max() : std::numeric_limits<Index>::min();
}

bool is_forward(const AxisRef& ref, const Extent& extent, const Extent& loop) { return ref.is_direct() && extent == loop; }
bool is_backward(const AxisRef& ref, const Extent& extent, const Extent& loop) {
  return ref.axis >= 0 && ref.step == -1 && extent == loop && ref.start == extent - 1;
}

AxisMap reversed_map(const Shape& domain, const std::vector<int>& axes) {
  AxisMap map = identity_map(static_cast<int>(domain.size()));
  for (int axis : axes) {
    const Extent& extent = domain[static_cast<std::size_t>(axis)];
    if (!extent.is(0) && !extent.is(1)) map[static_cast<std::size_t>(axis)] = AxisRef{axis, extent - 1, -1};
  }
  return map;
}

Extent count_of(const Shape& shape) {
  Extent count = 1;
  for (const Extent& extent : shape) count = count * extent;
  return count;
}

NodeId source_of_reshape(const Graph& graph, NodeId id) {
  while (graph.node(id).kind == Kind::reshape) {
    const NodeId before = graph.operand(id, 0);
    if (!(count_of(graph.node(before).shape()) == count_of(graph.node(id).shape()))) break;
    id = before;
  }
  return id;
}

Operand operand_of(const Graph& graph, const Operand& user, int position) {
  return {graph.operand(user.node, position), compose(graph.map(user.node, position), user.map)};
}

void mark_axes(const AxisMap& map, std::vector<bool>& mentioned) {
  for (const AxisRef& ref : map)
    if (ref.axis >= 0) mentioned[static_cast<std::size_t>(ref.axis)] = true;
}

bool mentions_all(const std::vector<Operand>& operands, int first, int last) {
  if (first >= last) return true;
  std::vector<bool> mentioned(static_cast<std::size_t>(last), false);
  for (const Operand& operand : operands) mark_axes(operand.map, mentioned);
  for (int axis = first; axis < last; ++axis)
    if (!mentioned[static_cast<std::size_t>(axis)]) return false;
  return true;
}

AxisMap renumber(AxisMap map, const std::vector<int>& position) {
  for (AxisRef& ref : map)
    if (ref.axis >= 0) ref.axis = position[static_cast<std::size_t>(ref.axis)];
  return map;
}

void drop_axis(Node& node, std::vector<Operand>& operands, int axis) {
  node.domain.erase(node.domain.begin() + axis);
  node.kept -= axis < node.kept;
  for (Operand& operand : operands)
    for (AxisRef& ref : operand.map) {
      if (ref.axis == axis) ref = {-1, ref.start, 1};
      else if (ref.axis > axis) --ref.axis;
    }
}

bool is_whole(const Graph& graph, const Operand& operand, const Shape& domain) {
  const Node& node = graph.node(operand.node);
  if (operand.map.size() != domain.size()) return false;
  for (std::size_t k = 0; k < domain.size(); ++k)
    if (operand.map[k].axis != static_cast<int>(k) || !operand.map[k].is_direct() || !(node.domain[k] == domain[k])) return false;
  return true;
}

void settle_parts(const Graph& graph, Operand& operand, const Shape& domain) {
  const Shape& shape = graph.node(operand.node).domain;
  for (std::size_t k = 0; k < operand.map.size() && k < shape.size(); ++k) {
    AxisRef& ref = operand.map[k];
    const auto axis = static_cast<std::size_t>(ref.axis);
    if (ref.part && ref.is_direct() && axis < domain.size() && domain[axis] == shape[k]) ref.part = false;
  }
}

AxisMap as_parts(AxisMap map) {
  for (AxisRef& ref : map) ref.part = ref.is_direct();
  return map;
}

bool is_pure_copy(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.kind == Kind::apply && node.op == Op::copy && node.kept == static_cast<int>(node.domain.size());
}

Operand apply_over_mentioned(Graph& graph, Op op, DType dtype, const Shape& domain, std::vector<Operand> operands, Order order) {
  std::vector<bool> mentioned(domain.size(), false);
  for (const Operand& operand : operands) mark_axes(operand.map, mentioned);
  std::vector<int> position(domain.size(), -1);
  Shape own;
  AxisMap map;
  for (std::size_t axis = 0; axis < domain.size(); ++axis) {
    if (!mentioned[axis]) continue;
    position[axis] = static_cast<int>(own.size());
    own.push_back(domain[axis]);
    map.push_back(AxisRef{static_cast<int>(axis), 0, 1});
  }
  for (Operand& operand : operands) operand.map = renumber(std::move(operand.map), position);
  return Operand{graph.apply(op, dtype, std::move(own), std::move(operands), order), std::move(map)};
}

}  // namespace weft
