// Schedule -> Program: walks the loops of a nest and asks for values where they are needed.
#include "lowering.h"
#include "share_rows.h"

namespace weft {
namespace {

std::string key_of(const std::vector<Subscript>& at) {
  std::string key;
  for (const Subscript& s : at) key += std::to_string(s.axis) + "," + to_text(s.start) + "," + std::to_string(s.step) + "," + std::to_string(s.period) + ";";
  return key;
}

// Of operand 0, where the op's code does less for it: a graph of many sums is not searched for nothing.
Bounds bounds_for(const Graph& graph, NodeId id) {
  const Op op = graph.node(id).op;
  return op == Op::exp || op == Op::divide ? bounds_of(graph, graph.operand(id, 0)) : Bounds{};
}

}  // namespace

Lowering::Lowering(const Graph& graph, const Schedule& schedule, const Nest& nest, std::string name)
    : graph_(graph), schedule_(schedule), nest_(nest), placement_(place_values(graph, schedule, nest)), fold_of_(nest.nodes.size(), -1), chain_of_(nest.nodes.size(), -1) {
  program_.name = std::move(name);
  program_.axes = nest.axes;
  program_.unit = nest.unit;
  program_.block = nest.block;
  if (nest.distribution.loops > 0) program_.vectors = vectors_of_distributed(nest.distribution.body);
}

Program Lowering::run() {
  for (std::size_t k = 0; k < nest_.nodes.size(); ++k) {
    const Node& node = graph_.node(nest_.nodes[k].node);
    if (node.kind == Kind::recurrence) recurrence_places_.push_back(static_cast<int>(k));
    if (const int fold = node.kind == Kind::others ? total_of(static_cast<int>(k)) : -1; fold >= 0) totals_[static_cast<int>(k)] = fold;
  }
  for (std::size_t k = 0; k < nest_.nodes.size(); ++k) {
    const auto is_this = [&](const auto& total) { return total.second == static_cast<int>(k); };
    const Node& node = graph_.node(nest_.nodes[k].node);
    if (node.kind == Kind::apply && node.mode == Mode::accumulate && std::none_of(totals_.begin(), totals_.end(), is_this)) fold_places_.push_back(static_cast<int>(k));
  }
  program_.root = lower_loop(nest_.root);
  return std::move(program_);
}

// ---------------------------------------------------------------- buffers
int Lowering::buffer_of(NodeId array) {
  auto [it, fresh] = array_buffers_.emplace(array, static_cast<int>(program_.buffers.size()));
  if (!fresh) return it->second;
  Buffer buffer;
  const Node& node = graph_.node(array);
  const NodeId holder = memory_of(graph_, array);              // its slot, under the shape of `array`
  const bool output = std::find(graph_.outputs.begin(), graph_.outputs.end(), holder) != graph_.outputs.end();
  buffer.place = !is_scheduled(graph_.node(holder)) ? Place::argument : output ? Place::result : Place::temporary;
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

// ---------------------------------------------------------------- values
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
  for (const Repeat& repeat : user.repeats)
    if (repeat.operand == position) at[static_cast<std::size_t>(repeat.dim)].period = repeat.period;
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
    result = load(id, buffer_of(id), at, true);
  } else {
    std::vector<Arg> args;
    for (int k = 0; k < graph_.arity(placed.node); ++k) args.push_back(operand(placed, k));
    frame.loop.body.push_back(Compute{result.value, node.op, std::move(args), bounds_for(graph_, placed.node)});
    frame.loop.weight += op_cost(node.op);
  }
  frame.values[placed.node] = result;
  return result;
}

// ---------------------------------------------------------------- loops
Loop Lowering::lower_loop(const Level& level) {
  frames_.emplace_back();
  frames_.back().index = placement_.loop_of.at(&level);
  frames_.back().loop.var = level.var;
  frames_.back().loop.mark = level.var.axis < 0 ? Mark::once : frames_.size() == 1 ? Mark::units : level.var.part == Part::block ? Mark::block : level.lanes ? Mark::lanes : Mark::serial;
  const int index = frames_.back().index;
  for (int place : fold_places_)
    if (ends_fold(place, index)) open_fold(place);
  for (int place : recurrence_places_)
    if (carries(place, index)) open_chain(place);
  for (const auto& item : level.body) {
    if (auto* inner = std::get_if<Level>(&item)) {
      Loop loop = lower_loop(*inner);
      if (loop.body.empty() && loop.folds.empty()) continue;          // what it made is computed elsewhere
      std::vector<int> closed = loop.folds;
      frames_.back().loop.body.emplace_back(std::move(loop));
      for (int fold : closed)
        if (!program_.fold(fold).start) close_fold(fold);
      for (std::size_t chain = 0; chain < chains_.size(); ++chain)
        if (chains_[chain].loop == placement_.loop_of.at(inner)) close_chain(chains_[chain]);
    } else {
      run_node(placement_.place_of.at(std::get<NodeId>(item)));
    }
  }
  Loop loop = std::move(frames_.back().loop);
  frames_.pop_back();
  if (level.backwards) turn_round(loop, level.var.axis, nest_.axes[static_cast<std::size_t>(level.var.axis)].extent);
  return loop;
}

void Lowering::run_node(int place) {
  const auto k = static_cast<std::size_t>(place);
  const Placed& placed = nest_.nodes[k];
  const Node& node = graph_.node(placed.node);
  if (!placement_.computed_in[k].contains(frames_.back().index)) return;
  if (node.kind == Kind::recurrence) return run_recurrence(place);
  if (node.kind == Kind::others) return run_others(place);
  if (node.mode == Mode::accumulate) {
    if (std::find(fold_places_.begin(), fold_places_.end(), place) == fold_places_.end()) return;       // a total
    return accumulate(placed, fold_of_[k]);
  }
  store_or_keep(place, compute(place, frames_.back()));
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

// A value made at the current iteration goes where its readers look for it.
void Lowering::store_or_keep(int place, const Arg& value) {
  const auto k = static_cast<std::size_t>(place);
  const Placed& placed = nest_.nodes[k];
  frames_.back().values[placed.node] = value;
  if (schedule_.stored[placed.node.value]) frames_.back().loop.body.push_back(Store{buffer_of(placed.node), own_subscripts(placed), value});
  else if (placement_.kept[k]) {
    const int row = kept_row(place);
    frames_.back().loop.body.push_back(Store{row, follow(program_.buffer(row).axes), value});
  }
}

int instructions_of(const Loop& loop) {
  int sum = loop.weight;
  for (const Item& item : loop.body)
    if (auto* inner = std::get_if<Loop>(&item)) sum += instructions_of(*inner);
  return sum;
}

Program lower(const Graph& graph, const Schedule& schedule, const Nest& nest, std::string name) {
  Program program = Lowering(graph, schedule, nest, std::move(name)).run();
  share_rows(program);
  return program;
}

}  // namespace weft
