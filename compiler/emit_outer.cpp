// How several elements of a loop around vector loops are worked on at once: which of emit_jam, emit_tile, emit_rolled_tile serves.
#include <algorithm>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {

bool is_pure(const Item& item) { return std::holds_alternative<Load>(item) || std::holds_alternative<Compute>(item); }
bool is_loop(const Item& item) { return std::holds_alternative<Loop>(item); }

}  // namespace

// The vector loops of a body whose iterations can run side by side: all along one axis, and what they keep in rows is each one's own. None
// if they can not.
std::vector<const Loop*> KernelEmitter::vector_loops(const Loop& outer) const {
  const auto shared_row = [&](const Item& item) {
    auto* store = std::get_if<Store>(&item);
    if (!store) return false;
    const Buffer& buffer = program_.buffers[static_cast<std::size_t>(store->buffer)];
    return buffer.place == Place::row && std::find(buffer.axes.begin(), buffer.axes.end(), outer.var.axis) == buffer.axes.end();
  };
  std::vector<const Loop*> loops;
  bool shared = false;
  for (const Item& item : outer.body) {
    if (auto* loop = std::get_if<Loop>(&item)) {
      if (loop->mark != Mark::lanes || (!loops.empty() && loop->var.axis != loops[0]->var.axis)) return {};
      loops.push_back(loop);
      shared |= std::any_of(loop->body.begin(), loop->body.end(), shared_row);
    } else if (auto* accumulate = std::get_if<Accumulate>(&item)) {
      if (program_.folds[static_cast<std::size_t>(accumulate->fold)].row >= 0) return {};
    } else if (shared_row(item) || (!is_pure(item) && !std::holds_alternative<Store>(item))) {
      return {};
    }
  }
  if (shared && loops.size() > 1) return {};        // one loop alone stores states of scans, which go from copy to copy
  return loops;
}

KernelEmitter::Outer KernelEmitter::outer_of(const Loop& loop) const {
  Outer outer;
  outer.loops = vector_loops(loop);
  for (int number_of_fold : loop.folds) {
    const Fold& fold = program_.folds[static_cast<std::size_t>(number_of_fold)];
    outer.scans |= fold.start.has_value();
    (fold.row >= 0 ? outer.rows : outer.scalars) = true;
  }
  for (const Loop* lanes : outer.loops) {
    outer.weight += lanes->weight;
    outer.folds_lanes |= !lanes->folds.empty();
    for (const Item& item : lanes->body) {
      outer.across |= lies_across(item, loop.var.axis, lanes->var.axis) != 0;
      outer.stores |= std::holds_alternative<Store>(item);
      auto* accumulate = std::get_if<Accumulate>(&item);
      if (!accumulate || std::find(lanes->folds.begin(), lanes->folds.end(), accumulate->fold) != lanes->folds.end()) continue;
      const Fold& fold = program_.folds[static_cast<std::size_t>(accumulate->fold)];
      (fold.axis == loop.var.axis ? outer.folds_outer : outer.folds_others) = true;
      outer.ordered |= fold.ordered;
    }
  }
  return outer;
}

// So few elements that all stay in registers.
bool KernelEmitter::is_thin(const Loop& loop, const Outer& outer) const {
  const Extent& extent = program_.axes[static_cast<std::size_t>(loop.var.axis)].extent;
  if (loop.mark != Mark::serial || !extent.is_number() || extent.constant() < 1 || extent.constant() > fold_slots) return false;
  if (program_.is_tiled(loop.var.axis) || outer.scalars || outer.scans || outer.folds_others) return false;
  return (outer.folds_outer || outer.across) && outer.weight * extent.constant() <= thin_bodies;
}

// Sixteen copies of a small body. States of scans go from copy to copy in registers; folds over this loop whose values have rows are
// emit_jam's.
bool KernelEmitter::is_tiled(const Outer& outer) const {
  if (!outer.across || outer.folds_others || outer.weight > tiled_body) return false;
  return outer.scans ? outer.loops.size() == 1 && !outer.folds_lanes : !outer.rows && !outer.folds_outer;
}

// One body for each of sixteen elements. Folds over this loop go on from one to the next as they do without.
bool KernelEmitter::is_rolled_tile(const Loop& loop, const Outer& outer) const {
  constexpr int few = 8;                // instructions that are done again for each vector
  if (!outer.across || outer.loops.size() != 1 || outer.weight > masked_only || loop.weight > few) return false;
  if (outer.scans || outer.scalars || outer.folds_lanes || outer.folds_others) return false;
  return std::all_of(loop.body.begin(), loop.body.end(), [](const Item& item) { return is_pure(item) || is_loop(item); });
}

// Elements of one slot of a fold over this loop.
bool KernelEmitter::is_jam(const Loop& loop, const Outer& outer) const {
  if (loop.mark != Mark::serial || outer.loops.size() != 1 || !outer.folds_outer) return false;
  if (outer.folds_lanes || outer.folds_others || outer.stores || elements_together(outer.weight, outer.ordered) == 1) return false;
  return std::all_of(loop.body.begin(), loop.body.end(), [](const Item& item) { return is_pure(item) || is_loop(item); });
}

KernelEmitter::Together KernelEmitter::together(const Loop& loop, const Outer& outer) const {
  if (outer.loops.empty() || std::any_of(outer.loops.begin(), outer.loops.end(), [&](const Loop* lanes) { return byte_function(*lanes).has_value(); }))
    return Together::none;
  if (is_thin(loop, outer)) return Together::thin;
  const Extent& extent = program_.axes[static_cast<std::size_t>(loop.var.axis)].extent;
  if (!extent.is_number() || extent.constant() >= lane_count) {
    if (is_tiled(outer)) return Together::tiles;
    if (is_rolled_tile(loop, outer)) return Together::squares;
  }
  return is_jam(loop, outer) ? Together::jam : Together::none;
}

// As much of the range as goes together; returns where the rest begins.
Value* KernelEmitter::emit_several(const Loop& loop, const Outer& outer, Together how, Range range) {
  switch (how) {
    case Together::tiles: return emit_tiles(loop, range);
    case Together::squares: return emit_rolled_tiles(loop, *outer.loops[0], range);
    case Together::jam: return emit_jam(loop, range, elements_together(outer.weight, outer.ordered));
    default: return range.begin;
  }
}

}  // namespace weft
