// Schedule -> Program: walks the loops of a nest and asks for values where they are needed.
#include <algorithm>
#include <map>

#include "placement.h"
#include "program.h"

namespace weft {
namespace {

struct Frame {
  Loop loop;
  int index = -1;                                               // number of the loop in Placement
  std::unordered_map<NodeId, Arg> values;
  std::map<std::pair<NodeId, std::string>, Arg> loads;          // by array and printed subscripts
};

std::string key_of(const std::vector<Subscript>& at) {
  std::string key;
  for (const Subscript& s : at) key += std::to_string(s.axis) + "," + to_text(s.start) + "," + std::to_string(s.step) + ";";
  return key;
}

class Lowering {
 public:
  Lowering(const Graph& graph, const Schedule& schedule, const Nest& nest, std::string name)
      : graph_(graph), schedule_(schedule), nest_(nest), placement_(place_values(graph, schedule, nest)), fold_of_(nest.nodes.size(), -1) {
    program_.name = std::move(name);
    program_.axes = nest.axes;
    program_.unit = nest.unit;
    program_.block = nest.block;
  }
  Program run() {
    for (std::size_t k = 0; k < nest_.nodes.size(); ++k)
      if (graph_.node(nest_.nodes[k].node).mode == Mode::accumulate) fold_places_.push_back(static_cast<int>(k));
    program_.root = lower_loop(nest_.root);
    return std::move(program_);
  }

 private:
  // ---------------------------------------------------------------- buffers
  int buffer_of(NodeId array) {
    auto [it, fresh] = array_buffers_.emplace(array, static_cast<int>(program_.buffers.size()));
    if (!fresh) return it->second;
    Buffer buffer;
    const Node& node = graph_.node(array);
    const bool output = std::find(graph_.outputs.begin(), graph_.outputs.end(), array) != graph_.outputs.end();
    buffer.place = !is_scheduled(node) ? Place::argument : output ? Place::result : Place::temporary;
    buffer.node = array;
    buffer.dtype = node.dtype;
    buffer.extents = node.shape();
    buffer.order = node.order;
    program_.buffers.push_back(std::move(buffer));
    return it->second;
  }
  int new_row(Place place, NodeId node, std::vector<int> axes) {
    Buffer buffer;
    buffer.place = place;
    buffer.node = node;
    buffer.dtype = graph_.node(node).dtype;
    for (int axis : axes) {
      const bool tiled = nest_.vars[0].part == Part::tile && nest_.vars[0].axis == axis;
      buffer.extents.push_back(tiled && place == Place::row ? Extent(nest_.block > 0 ? nest_.block : nest_.unit) : nest_.axes[static_cast<std::size_t>(axis)].extent);
    }
    buffer.axes = std::move(axes);
    program_.buffers.push_back(std::move(buffer));
    return static_cast<int>(program_.buffers.size()) - 1;
  }
  static std::vector<Subscript> follow(const std::vector<int>& axes) {
    std::vector<Subscript> at;
    for (int axis : axes) at.push_back({axis, 0, 1});
    return at;
  }
  // The index of a node's own array at the current iteration.
  std::vector<Subscript> own_subscripts(const Placed& placed) const {
    std::vector<Subscript> at;
    for (int d = 0; d < graph_.node(placed.node).kept; ++d) at.push_back({placed.axes[static_cast<std::size_t>(d)], 0, 1});
    return at;
  }

  // ---------------------------------------------------------------- values
  int new_value(DType dtype) {
    program_.values.push_back(dtype);
    return static_cast<int>(program_.values.size()) - 1;
  }
  Frame& frame_of(const std::vector<int>& axes) {
    for (std::size_t k = frames_.size(); k-- > 1;)
      if (!frames_[k].loop.var.splits() && std::find(axes.begin(), axes.end(), frames_[k].loop.var.axis) != axes.end()) return frames_[k];
    return frames_[0];
  }
  Arg load(NodeId array, int buffer, const std::vector<Subscript>& at, bool guarded = false) {
    std::vector<int> axes;
    for (const Subscript& s : at) if (s.axis >= 0) axes.push_back(s.axis);
    Frame& frame = frame_of(axes);
    auto [it, fresh] = frame.loads.emplace(std::pair(array, key_of(at) + (guarded ? "?" : "")), Arg{});
    if (fresh) {
      it->second.value = new_value(program_.buffers[static_cast<std::size_t>(buffer)].dtype);
      frame.loop.body.push_back(Load{it->second.value, buffer, at, guarded});
      frame.loop.weight += 1;
    }
    return it->second;
  }
  std::vector<Subscript> subscripts(const Placed& user, const AxisMap& map) const {
    std::vector<Subscript> at;
    for (const AxisRef& ref : map) {
      const int axis = ref.axis < 0 ? -1 : user.axes[static_cast<std::size_t>(ref.axis)];
      at.push_back({axis, ref.start, axis < 0 ? 1 : ref.step});
    }
    return at;
  }
  Arg immediate(NodeId id, const Placed& user, const AxisMap& map) {
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
    std::vector<Subscript> at = subscripts(user, map);
    at.resize(std::min<std::size_t>(at.size(), 1));
    return load(id, it->second, at);
  }
  Arg operand(const Placed& user, int position) {
    const NodeId id = graph_.operand(user.node, position);
    const Node& node = graph_.node(id);
    const AxisMap& map = graph_.map(user.node, position);
    if (node.kind == Kind::extent || node.kind == Kind::iota || (node.kind == Kind::constant && node.kept == 0)) return immediate(id, user, map);
    auto found = placement_.place_of.find(id);
    if (found == placement_.place_of.end()) return load(id, buffer_of(id), subscripts(user, map));
    return value_of(found->second);
  }
  // A value made in this nest, at the current iteration.
  Arg value_of(int place) {
    const auto k = static_cast<std::size_t>(place);
    const Placed& placed = nest_.nodes[k];
    for (std::size_t f = frames_.size(); f-- > 0;)
      if (auto it = frames_[f].values.find(placed.node); it != frames_[f].values.end()) return it->second;
    const int fold = fold_of_[k];
    if (placement_.kept[k]) {
      if (schedule_.stored[placed.node.value]) return load(placed.node, buffer_of(placed.node), own_subscripts(placed));
      const int row = kept_row(place);
      return load(placed.node, row, follow(program_.buffers[static_cast<std::size_t>(row)].axes));
    }
    if (fold >= 0) {
      const int row = program_.folds[static_cast<std::size_t>(fold)].row;
      WEFT_ASSERT(row >= 0, "the value of fold %", placed.node.value, " is not in reach");
      return load(placed.node, row, follow(program_.buffers[static_cast<std::size_t>(row)].axes));
    }
    return compute(place, frame_of(placed.axes));
  }
  Arg compute(int place, Frame& frame) {
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
      frame.loop.body.push_back(Compute{result.value, node.op, std::move(args)});
      frame.loop.weight += op_cost(node.op);
    }
    frame.values[placed.node] = result;
    return result;
  }
  int kept_row(int place) {
    auto [it, fresh] = kept_rows_.emplace(place, -1);
    if (fresh) {
      const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
      it->second = new_row(Place::row, placed.node, axes_below(placed, placement_.kept_above[static_cast<std::size_t>(place)]));
    }
    return it->second;
  }
  // The kept axes of a node that run inside loop `outer`, in loop order.
  std::vector<int> axes_below(const Placed& placed, int outer) const {
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

  // ---------------------------------------------------------------- loops
  Loop lower_loop(const Level& level) {
    frames_.emplace_back();
    frames_.back().index = placement_.loop_of.at(&level);
    frames_.back().loop.var = level.var;
    frames_.back().loop.mark = level.var.axis < 0 ? Mark::once : frames_.size() == 1 ? Mark::units : level.var.part == Part::block ? Mark::block : level.lanes ? Mark::lanes : Mark::serial;
    const int index = frames_.back().index;
    for (int place : fold_places_)
      if (ends_fold(place, index)) open_fold(place);
    for (const auto& item : level.body) {
      if (auto* inner = std::get_if<Level>(&item)) {
        Loop loop = lower_loop(*inner);
        if (loop.body.empty() && loop.folds.empty()) continue;          // what it made is computed elsewhere
        std::vector<int> closed = loop.folds;
        frames_.back().loop.body.emplace_back(std::move(loop));
        for (int fold : closed) close_fold(fold);
      } else {
        run_node(placement_.place_of.at(std::get<NodeId>(item)));
      }
    }
    Loop loop = std::move(frames_.back().loop);
    frames_.pop_back();
    return loop;
  }
  // A fold ends with the loop over its folded axis (one axis per fold: split_folds).
  bool ends_fold(int place, int loop) const {
    const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
    const Level& level = *placement_.loops[static_cast<std::size_t>(loop)].level;
    if (level.var.part == Part::tile || level.var.axis != placed.axes.back()) return false;
    const int around = placement_.loops[static_cast<std::size_t>(loop)].parent;          // blocks carry a fold, not their elements
    const bool carried = around >= 0 && placement_.loops[static_cast<std::size_t>(around)].level->var == LoopVar{level.var.axis, Part::block};
    return !carried && placement_.encloses(loop, placement_.home[static_cast<std::size_t>(place)]);
  }
  void open_fold(int place) {
    const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
    const Node& node = graph_.node(placed.node);
    Fold fold;
    fold.node = placed.node;
    fold.accumulator = node.accumulator;
    fold.dtype = node.dtype;
    fold.axis = placed.axes.back();
    fold.ordered = is_ordered(node.accumulator, node.dtype);
    fold.row_axes = axes_below(placed, frames_.back().index);
    if (!fold.row_axes.empty()) fold.row = new_row(Place::row, placed.node, fold.row_axes);
    fold_of_[static_cast<std::size_t>(place)] = static_cast<int>(program_.folds.size());
    frames_.back().loop.folds.push_back(static_cast<int>(program_.folds.size()));
    program_.folds.push_back(std::move(fold));
  }
  void close_fold(int index) {
    Fold& fold = program_.folds[static_cast<std::size_t>(index)];
    const int place = placement_.place_of.at(fold.node);
    const Placed placed = nest_.nodes[static_cast<std::size_t>(place)];
    if (fold.row < 0) {
      fold.result = new_value(fold.dtype);
      frames_.back().values[fold.node] = {fold.result, {}};
    }
    const bool merged = nest_.vars[0].part == Part::tile && fold.axis == nest_.vars[0].axis;
    if (merged) {
      std::vector<int> axes = axes_below(placed, -1);
      fold.partial = new_row(Place::partial, fold.node, axes);
      fold.target = buffer_of(fold.node);
      fold.target_axes.assign(placed.axes.begin(), placed.axes.end() - 1);
      const int partial = fold.partial;
      publish(index, partial, follow(axes));
      return;
    }
    if (schedule_.stored[fold.node.value]) publish(index, buffer_of(fold.node), own_subscripts(placed));
    else if (placement_.kept[static_cast<std::size_t>(place)]) {
      const int row = kept_row(place);
      publish(index, row, follow(program_.buffers[static_cast<std::size_t>(row)].axes));
    }
  }
  // Stores the result of a fold: one element, or a row by loops over the row's axes.
  void publish(int index, int buffer, std::vector<Subscript> at) {
    const Fold& fold = program_.folds[static_cast<std::size_t>(index)];
    if (fold.row < 0) {
      frames_.back().loop.body.push_back(Store{buffer, std::move(at), {fold.result, {}}});
      return;
    }
    const int value = new_value(fold.dtype);
    Loop loop;
    for (std::size_t k = fold.row_axes.size(); k-- > 0;) {
      Loop outer;
      outer.var = {fold.row_axes[k], Part::element};
      outer.mark = fold.row_axes[k] == nest_.lanes && k + 1 == fold.row_axes.size() ? Mark::lanes : Mark::serial;
      if (k + 1 == fold.row_axes.size()) {
        outer.body.emplace_back(Load{value, fold.row, follow(fold.row_axes), false});
        outer.body.emplace_back(Store{buffer, at, {value, {}}});
        outer.weight = 2;
      } else {
        outer.body.emplace_back(std::move(loop));
      }
      loop = std::move(outer);
    }
    frames_.back().loop.body.emplace_back(std::move(loop));
  }
  void run_node(int place) {
    const auto k = static_cast<std::size_t>(place);
    const Placed& placed = nest_.nodes[k];
    const Node& node = graph_.node(placed.node);
    if (!placement_.computed_in[k].contains(frames_.back().index)) return;
    if (node.mode == Mode::accumulate) {
      Arg value;
      if (node.op == Op::copy) value = operand(placed, 0);
      else {
        std::vector<Arg> args;
        for (int position = 0; position < graph_.arity(placed.node); ++position) args.push_back(operand(placed, position));
        value = {new_value(node.dtype), {}};
        frames_.back().loop.body.push_back(Compute{value.value, node.op, std::move(args)});
      }
      frames_.back().loop.body.push_back(Accumulate{fold_of_[k], value});
      frames_.back().loop.weight += op_cost(node.op) + 1;
      return;
    }
    const Arg value = compute(place, frames_.back());
    if (schedule_.stored[placed.node.value]) frames_.back().loop.body.push_back(Store{buffer_of(placed.node), own_subscripts(placed), value});
    else if (placement_.kept[k]) {
      const int row = kept_row(place);
      frames_.back().loop.body.push_back(Store{row, follow(program_.buffers[static_cast<std::size_t>(row)].axes), value});
    }
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const Nest& nest_;
  Placement placement_;
  std::vector<int> fold_places_;
  std::vector<int> fold_of_;
  Program program_;
  std::vector<Frame> frames_;
  std::unordered_map<NodeId, int> array_buffers_;
  std::unordered_map<int, int> kept_rows_;
};

}  // namespace

Program lower(const Graph& graph, const Schedule& schedule, const Nest& nest, std::string name) {
  return Lowering(graph, schedule, nest, std::move(name)).run();
}

}  // namespace weft
