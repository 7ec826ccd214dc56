// Arithmetic on index maps, shared by the passes and the gradient.
//
// A value inside a loop nest is an Operand: a node and the map from its axes to the axes of the loops around it.
// Pure functions; thread-safe.
#pragma once
#include <algorithm>
#include <vector>

#include <weft/graph.h>

namespace weft {

// inner: node axes over middle axes; outer: middle axes over loop axes. The node's axes over the loop axes.
// Error(shape) where a step is beyond 64 bits. What was not the whole axis on the way is marked as a part: two reversals can read the first part of an axis or all of it.
AxisMap compose(const AxisMap& inner, const AxisMap& outer);

// The indices of start + step * (0 .. count-1), count > 0. One beyond 64 bits counts as the last there is, which no axis has.
struct Reach {
  Index first = 0, last = 0;
  Reach(Index start, Index step, Index count);
  bool fits(Index extent) const { return std::min(first, last) >= 0 && std::max(first, last) < extent; }
};

// Whether a reference takes all of an axis of this extent, in the order of the loop or from the last element.
bool is_forward(const AxisRef& ref, const Extent& extent, const Extent& loop);
bool is_backward(const AxisRef& ref, const Extent& extent, const Extent& loop);
// The identity, but from the last element along some axes.
AxisMap reversed_map(const Shape& domain, const std::vector<int>& axes);

Extent count_of(const Shape& shape);                         // of elements

// What a node has its elements from, past reshapes of as many: where that is not known a call checks it, and the reshape stays.
NodeId source_of_reshape(const Graph& graph, NodeId id);

// What the value reads, seen from the loops around it.
Operand operand_of(const Graph& graph, const Operand& user, int position);

// Marks in `mentioned` the axes a map names.
void mark_axes(const AxisMap& map, std::vector<bool>& mentioned);
bool mentions_all(const std::vector<Operand>& operands, int first, int last);   // every axis in [first, last)

// The map with axis k called position[k].
AxisMap renumber(AxisMap map, const std::vector<int>& position);

// An axis of one element of the node's own domain goes: its index was 0.
void drop_axis(Node& node, std::vector<Operand>& operands, int axis);

// Whether the operand, read at every point of a loop nest over `domain`, is the node itself.
bool is_whole(const Graph& graph, const Operand& operand, const Shape& domain);

// A part of an axis that is all of it is not called a part: equal readings have equal maps.
void settle_parts(const Graph& graph, Operand& operand, const Shape& domain);
// The same map with its direct references marked as parts, until they are settled.
AxisMap as_parts(AxisMap map);

// An apply node that is a copy without a fold: a transpose, slice, flip or broadcast.
bool is_pure_copy(const Graph& graph, NodeId id);

// Adds op(operands) as a node over just those axes of `domain` that some operand mentions (in their order), and
// returns it as a value in that domain: what does not depend on a loop is not computed inside it.
Operand apply_over_mentioned(Graph& graph, Op op, DType dtype, const Shape& domain, std::vector<Operand> operands, Order order = Order::c);

}  // namespace weft
