// Folds: the loop they end with, where their accumulators live and where their results go.
#include "lowering.h"

namespace weft {

// A fold ends with the loop over its folded axis (one axis per fold: split_folds).
bool Lowering::ends_fold(int place, int loop) const {
  const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
  const Level& level = *placement_.loops[static_cast<std::size_t>(loop)].level;
  if (level.var.part == Part::tile || level.var.axis != placed.axes.back()) return false;
  const int around = placement_.loops[static_cast<std::size_t>(loop)].parent;          // blocks carry a fold, not their elements
  const bool carried = around >= 0 && placement_.loops[static_cast<std::size_t>(around)].level->var == LoopVar{level.var.axis, Part::block};
  return !carried && placement_.encloses(loop, placement_.home[static_cast<std::size_t>(place)]);
}

void Lowering::open_fold(int place) {
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

void Lowering::close_fold(int index) {
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
    publish(index, row, follow(program_.buffer(row).axes));
  }
}

// Stores the result of a fold: one element, or a row by loops over the row's axes.
void Lowering::publish(int index, int buffer, std::vector<Subscript> at) {
  const Fold fold = program_.fold(index);
  if (fold.row < 0) {
    frames_.back().loop.body.push_back(Store{buffer, std::move(at), {fold.result, {}}});
    return;
  }
  over_row(fold.row_axes, [&] {
    const int value = new_value(fold.dtype);
    Loop& loop = frames_.back().loop;
    loop.body.emplace_back(Load{value, fold.row, follow(fold.row_axes), false});
    loop.body.emplace_back(Store{buffer, at, {value, {}}});
    loop.weight = 2;
  });
}

// Runs `body` inside loops over the axes of a row.
void Lowering::over_row(const std::vector<int>& axes, const std::function<void()>& body) {
  for (std::size_t k = 0; k < axes.size(); ++k) {
    frames_.emplace_back();
    frames_.back().loop.var = {axes[k], Part::element};
    frames_.back().loop.mark = axes[k] == nest_.lanes && k + 1 == axes.size() ? Mark::lanes : Mark::serial;
  }
  body();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    Loop loop = std::move(frames_.back().loop);
    frames_.pop_back();
    frames_.back().loop.body.emplace_back(std::move(loop));
  }
}

}  // namespace weft
