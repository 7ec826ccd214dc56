// What is computed, and where what it reads is: a value at hand, an array or a row.
#include "lowering.h"
#include "schedule/readers.h"

namespace weft {
namespace {

std::string key_of(const std::vector<Subscript>& at) {
  std::string key;
  for (const Subscript& s : at) key += std::to_string(s.axis) + "," + to_text(s.start) + "," + std::to_string(s.step) + "," + std::to_string(s.period) + "," + std::to_string(s.each) + ";";
  return key;
}

// Of operand 0, where the op's code does less for it: a graph of many sums is not searched for nothing.
Bounds bounds_for(const Graph& graph, NodeId id) {
  const Op op = graph.node(id).op;
  return op == Op::exp || op == Op::divide ? bounds_of(graph, graph.operand(id, 0)) : Bounds{};
}

// Elements along the outer dimension of a window are so many along the inner one, all of which it has.
void move_window(const Node& array, std::vector<Subscript>& at, const Shift& shift) {
  Subscript &from = at[static_cast<std::size_t>(shift.from)], &to = at[static_cast<std::size_t>(shift.to)];
  const Extent elements = from.dim < 0 ? Extent(1) : from.elements ? *from.elements : array.domain[static_cast<std::size_t>(from.dim)];
  to.start = from.start * Extent(shift.each);
  to.elements = elements * Extent(shift.each);
  from = {.dim = from.dim, .inside = true};
}

}  // namespace

int Lowering::new_value(DType dtype) {
  program_.values.push_back(dtype);
  return static_cast<int>(program_.values.size()) - 1;
}

Frame& Lowering::frame_of(const std::vector<int>& axes) {
  for (std::size_t k = frames_.size(); k-- > 1;)
    if (!frames_[k].loop.var.splits() && std::find(axes.begin(), axes.end(), frames_[k].loop.var.axis) != axes.end()) return frames_[k];
  return frames_[0];
}

Arg Lowering::load(NodeId array, int buffer, const std::vector<Subscript>& at, bool guarded) {
  std::vector<int> axes;
  for (const Subscript& s : at) if (s.axis >= 0) axes.push_back(s.axis);
  return load(frame_of(axes), array, buffer, at, guarded);
}

Arg Lowering::load(Frame& frame, NodeId array, int buffer, const std::vector<Subscript>& at, bool guarded) {
  auto [it, fresh] = frame.loads.emplace(std::pair(array, key_of(at) + (guarded ? "?" : "")), Arg{});
  if (fresh) {
    it->second.value = new_value(program_.buffer(buffer).dtype);
    frame.loop.body.push_back(Load{it->second.value, buffer, at, guarded});
    frame.loop.weight += 1;
  }
  return it->second;
}

std::vector<Subscript> Lowering::subscripts(const Placed& user, int position) const {
  std::vector<Subscript> at;
  for (const AxisRef& ref : graph_.map(user.node, position)) {
    const int axis = ref.axis < 0 ? -1 : user.axes[static_cast<std::size_t>(ref.axis)];
    at.push_back({axis, ref.start, axis < 0 ? 1 : ref.step});
  }
  for (const Shift& shift : user.shifts)
    if (shift.operand == position) {
      Extent& start = at[static_cast<std::size_t>(shift.from)].start;
      at[static_cast<std::size_t>(shift.to)].start = start * Extent(shift.each);
      start = 0;
    }
  if (user.counts > 1 && position == 0) at[0].start = at[0].start * Extent(user.counts);
  for (const Repeat& repeat : user.repeats)
    if (repeat.operand == position) {
      Subscript& own = at[static_cast<std::size_t>(repeat.dim)];
      own.axis = user.axes[static_cast<std::size_t>(repeat.along)];
      own.period = repeat.period;
      own.each = repeat.each;
    }
  return at;
}

Arg Lowering::immediate(NodeId id, const Placed& user, int position) {
  const Node& node = graph_.node(id);
  if (auto* scalar = std::get_if<Scalar>(&node.payload); scalar && node.kind == Kind::constant) return {-1, *scalar};
  auto [it, fresh] = array_buffers_.emplace(id, static_cast<int>(program_.buffers.size()));
  if (fresh) {
    Buffer buffer;
    buffer.place = node.kind == Kind::iota ? Place::index : Place::extent;
    buffer.node = id;
    buffer.dtype = node.dtype;
    if (node.kind == Kind::extent) buffer.size = std::get<Extent>(node.payload);
    program_.buffers.push_back(std::move(buffer));
  }
  std::vector<Subscript> at = subscripts(user, position);
  at.resize(std::min<std::size_t>(at.size(), 1));
  return load(id, it->second, at);
}

// So many times a number or an extent.
Arg Lowering::counted(NodeId id, Index times) {
  const Node& node = graph_.node(id);
  if (node.kind == Kind::constant) return {-1, Scalar::of(node.dtype, std::get<Scalar>(node.payload).integer() * times)};
  auto [it, fresh] = frames_[0].loads.emplace(std::pair(id, concat("times ", times)), Arg{});
  if (fresh) {
    Buffer buffer;
    buffer.place = Place::extent;
    buffer.node = id;
    buffer.dtype = node.dtype;
    buffer.size = std::get<Extent>(node.payload) * Extent(times);
    it->second.value = new_value(node.dtype);
    frames_[0].loop.body.push_back(Load{it->second.value, static_cast<int>(program_.buffers.size()), {}});
    program_.buffers.push_back(std::move(buffer));
  }
  return it->second;
}

Arg Lowering::operand(const Placed& user, int position) {
  const NodeId id = graph_.operand(user.node, position);
  const Node& node = graph_.node(id);
  if (node.kind == Kind::extent || node.kind == Kind::iota || (node.kind == Kind::constant && node.kept == 0)) return immediate(id, user, position);
  auto found = placement_.place_of.find(id);
  if (found == placement_.place_of.end()) return load(id, buffer_of(id), subscripts(user, position));
  const Placed& made = nest_.nodes[static_cast<std::size_t>(found->second)];
  return reads_in_place(graph_, user.node, position, made.axes) ? value_of(found->second) : kept_value(user, position, made, found->second);
}

// A value made in this nest, at another index than the current one.
Arg Lowering::kept_value(const Placed& user, int position, const Placed& made, int place) {
  std::vector<Subscript> at = subscripts(user, position);
  std::vector<int> axes;
  for (const Subscript& s : at) if (s.axis >= 0) axes.push_back(s.axis);
  Frame* frame = &frame_of(axes);
  for (Frame& open : frames_)
    if (open.index == placement_.kept_above[static_cast<std::size_t>(place)]) frame = std::max(frame, &open);       // not before it is made
  if (schedule_.stored[made.node.value]) return load(*frame, made.node, buffer_of(made.node), at);
  const int row = kept_row(place);
  return load(*frame, made.node, row, row_subscripts(user, position, place, row));
}

// Where an operand's row holds what the user reads.
std::vector<Subscript> Lowering::row_subscripts(const Placed& user, int position, int place, int row) const {
  const Placed& made = nest_.nodes[static_cast<std::size_t>(place)];
  const std::vector<Subscript> at = subscripts(user, position);
  std::vector<Subscript> within;
  for (int axis : program_.buffer(row).axes)
    within.push_back(at[static_cast<std::size_t>(std::find(made.axes.begin(), made.axes.end(), axis) - made.axes.begin())]);
  return within;
}

// A value made in this nest, at the current iteration.
Arg Lowering::value_of(int place) {
  const auto k = static_cast<std::size_t>(place);
  const Placed& placed = nest_.nodes[k];
  for (std::size_t f = frames_.size(); f-- > 0;)
    if (auto it = frames_[f].values.find(placed.node); it != frames_[f].values.end()) return it->second;
  const int fold = fold_of_[k];
  if (placement_.kept[k]) {
    if (schedule_.stored[placed.node.value]) return load(placed.node, buffer_of(placed.node), own_subscripts(placed));
    const int row = kept_row(place);
    return load(placed.node, row, follow(program_.buffer(row).axes));
  }
  if (chain_of_[k] >= 0) return finished_from_rows(place);
  if (fold >= 0) {
    const int row = program_.fold(fold).row;
    WEFT_ASSERT(row >= 0, "the value of fold %", placed.node.value, " is not in reach");
    return load(placed.node, row, follow(program_.buffer(row).axes));
  }
  return compute(place, frame_of(placed.axes));
}

Arg Lowering::compute(int place, Frame& frame) {
  const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
  const Node& node = graph_.node(placed.node);
  Arg result{new_value(node.dtype), {}};
  if (node.kind == Kind::update) {
    const NodeId id = graph_.operand(placed.node, 0);
    std::vector<Subscript> at;
    const auto& window = std::get<AxisMap>(node.payload);
    for (std::size_t d = 0; d < window.size(); ++d) at.push_back({placed.axes[d], window[d].start, window[d].step, window[d].axis});
    for (const Shift& shift : placed.shifts) move_window(graph_.node(id), at, shift);
    result = load(id, buffer_of(id), at, true);
  } else {
    std::vector<Arg> args;
    for (int k = 0; k < graph_.arity(placed.node); ++k) args.push_back(k == 1 && placed.counts > 1 ? counted(graph_.operand(placed.node, k), placed.counts) : operand(placed, k));
    frame.loop.body.push_back(Compute{result.value, node.op, std::move(args), bounds_for(graph_, placed.node)});
    frame.loop.weight += op_cost(node.op);
  }
  frame.values[placed.node] = result;
  return result;
}

void Lowering::accumulate(const Placed& placed, int fold) {
  const Node& node = graph_.node(placed.node);
  std::vector<Arg> args;
  for (int position = 0; position < graph_.arity(placed.node); ++position) args.push_back(operand(placed, position));
  Loop& loop = frames_.back().loop;
  loop.weight += 1;
  if (adds_products(node.accumulator, node.op, node.dtype)) {
    loop.body.push_back(Accumulate{fold, args.front(), args.back()});
  } else if (node.op == Op::copy) {
    loop.body.push_back(Accumulate{fold, args[0], {}});
  } else {
    const Arg value{new_value(node.dtype), {}};
    loop.body.push_back(Compute{value.value, node.op, std::move(args), bounds_for(graph_, placed.node)});
    loop.body.push_back(Accumulate{fold, value, {}});
    loop.weight += op_cost(node.op);
  }
}

}  // namespace weft
