#include "lowering.h"

namespace weft {

int Lowering::buffer_of(NodeId array) {
  auto [it, fresh] = array_buffers_.emplace(array, static_cast<int>(program_.buffers.size()));
  if (!fresh) return it->second;
  Buffer buffer;
  const Node& node = graph_.node(array);
  const NodeId holder = memory_of(graph_, array);              // its slot, under the shape of `array`
  const auto is_result = [&](NodeId output) { return memory_of(graph_, output) == holder; };
  const bool result = std::any_of(graph_.outputs.begin(), graph_.outputs.end(), is_result);
  buffer.place = !is_scheduled(graph_.node(holder)) ? Place::argument : result ? Place::result : Place::temporary;
  WEFT_ASSERT(holder == array || graph_.node(holder).kind == Kind::input || (buffer.place == Place::temporary && graph_.node(holder).order == Order::c),
              "a reshape reads an input, or an array between nests in row-major order: %", array.value);
  WEFT_ASSERT(buffer.place != Place::temporary || schedule_.stored[holder.value], "an array between nests that none stores: %", holder.value);
  buffer.node = buffer.place == Place::argument ? array : holder;        // of an input it is an argument of its own
  buffer.dtype = node.dtype;
  buffer.extents = node.shape();
  buffer.order = layout_of(graph_, schedule_.turned, array);
  program_.buffers.push_back(std::move(buffer));
  return it->second;
}

int Lowering::new_row(Place place, NodeId node, DType dtype, std::vector<int> axes) {
  Buffer buffer;
  buffer.place = place;
  buffer.node = node;
  buffer.dtype = dtype;
  for (int axis : axes) {
    const bool tiled = nest_.vars[0].part == Part::tile && nest_.vars[0].axis == axis;
    buffer.extents.push_back(tiled && place == Place::row ? Extent(nest_.block > 0 ? nest_.block : nest_.unit) : nest_.axes[static_cast<std::size_t>(axis)].extent);
  }
  buffer.axes = std::move(axes);
  program_.buffers.push_back(std::move(buffer));
  return static_cast<int>(program_.buffers.size()) - 1;
}

std::vector<Subscript> Lowering::follow(const std::vector<int>& axes) {
  std::vector<Subscript> at;
  for (int axis : axes) at.push_back({axis, 0, 1});
  return at;
}

// The index of a node's own array at the current iteration.
std::vector<Subscript> Lowering::own_subscripts(const Placed& placed) const {
  std::vector<Subscript> at;
  for (int d = 0; d < graph_.node(placed.node).kept; ++d) at.push_back({placed.axes[static_cast<std::size_t>(d)], 0, 1});
  return at;
}

int Lowering::kept_row(int place) {
  auto [it, fresh] = kept_rows_.emplace(place, -1);
  if (fresh) {
    const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
    it->second = new_row(Place::row, placed.node, axes_below(placed, placement_.kept_above[static_cast<std::size_t>(place)]));
  }
  return it->second;
}

// The kept axes of a node that run inside loop `outer`, in loop order.
std::vector<int> Lowering::axes_below(const Placed& placed, int outer) const {
  std::vector<int> axes, outside;
  for (int loop = outer; loop >= 0; loop = placement_.loops[static_cast<std::size_t>(loop)].parent) {
    const LoopVar& var = placement_.loops[static_cast<std::size_t>(loop)].level->var;
    if (!var.splits()) outside.push_back(var.axis);
  }
  const int kept = graph_.node(placed.node).kept;
  for (const LoopVar& var : nest_.vars) {
    if (var.splits() || std::find(outside.begin(), outside.end(), var.axis) != outside.end()) continue;
    if (std::find(placed.axes.begin(), placed.axes.begin() + kept, var.axis) != placed.axes.begin() + kept) axes.push_back(var.axis);
  }
  return axes;
}

}  // namespace weft
