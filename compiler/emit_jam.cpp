// Folds over a serial loop outside a vector loop, such as column sums: rows of accumulators in memory, to which each element of the
// serial loop adds. Several elements are worked on together, so that an accumulator is loaded and stored once for all of them.
// Those are elements of one slot, from the first to the last, so that the order of every sum stays; far apart they also make better
// use of memory than neighbours, where the order is of no account.
#include <algorithm>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {

bool is_pure(const Item& item) { return std::holds_alternative<Load>(item) || std::holds_alternative<Compute>(item); }

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

// Whether all folds that a vector loop adds to end with it, or run along the other axis.
bool KernelEmitter::carries_only(const Loop& lanes, int other_axis) const {
  return std::all_of(lanes.body.begin(), lanes.body.end(), [&](const Item& item) {
    auto* accumulate = std::get_if<Accumulate>(&item);
    if (!accumulate || std::find(lanes.folds.begin(), lanes.folds.end(), accumulate->fold) != lanes.folds.end()) return true;
    return program_.folds[static_cast<std::size_t>(accumulate->fold)].axis == other_axis;
  });
}

// How many elements: a power of two, or 1 where the loop does anything else.
int KernelEmitter::jam_copies(const Loop& serial) const {
  const auto loops = vector_loops(serial);
  const bool pure = std::all_of(serial.body.begin(), serial.body.end(), [](const Item& item) { return is_pure(item) || std::holds_alternative<Loop>(item); });
  if (loops.size() != 1 || !pure || !loops[0]->folds.empty() || !carries_only(*loops[0], serial.var.axis)) return 1;
  bool accumulates = false, ordered = false;
  for (const Item& item : loops[0]->body) {
    if (std::holds_alternative<Store>(item)) return 1;
    auto* accumulate = std::get_if<Accumulate>(&item);
    if (!accumulate) continue;
    accumulates = true;
    ordered |= program_.folds[static_cast<std::size_t>(accumulate->fold)].ordered;
  }
  return accumulates ? elements_together(loops[0]->weight, ordered) : 1;
}

// A loop over so few elements that all stay in registers: of folds over it, each is a slot of its own; arrays that lie across are read and
// written in whole vectors.
bool KernelEmitter::is_thin(const Loop& serial) const {
  const int axis = serial.var.axis;
  const Extent& extent = program_.axes[static_cast<std::size_t>(axis)].extent;
  if (!extent.is_number() || extent.constant() < 1 || extent.constant() > fold_slots || program_.is_tiled(axis)) return false;
  const bool in_registers = std::all_of(serial.folds.begin(), serial.folds.end(), [&](int number_of_fold) {
    const Fold& fold = program_.folds[static_cast<std::size_t>(number_of_fold)];
    return fold.row >= 0 && !fold.start;
  });
  if (!in_registers) return false;
  Index weight = 0;
  bool pays = false;
  for (const Loop* lanes : vector_loops(serial)) {
    if (!carries_only(*lanes, axis) || byte_function(*lanes)) return false;
    weight += lanes->weight;
    for (const Item& item : lanes->body) {
      auto* accumulate = std::get_if<Accumulate>(&item);
      pays |= (accumulate && program_.folds[static_cast<std::size_t>(accumulate->fold)].axis == axis) || lies_across(item, axis, lanes->var.axis) != 0;
    }
  }
  return pays && weight * extent.constant() <= thin_bodies;
}

void KernelEmitter::emit_thin(const Loop& serial) {
  thin_ = true;
  open_folds(serial, false);
  for (const Loop* lanes : vector_loops(serial))
    for (const Item& item : lanes->body)
      if (lies_across(item, serial.var.axis, lanes->var.axis) != 0) tiled_by_ = serial.var.axis;
  emit_together(serial, number(0), static_cast<int>(program_.axes[static_cast<std::size_t>(serial.var.axis)].extent.constant()), 1);
  tiled_by_ = -1;
  thin_ = false;
}

// s with s+8, then s+4, s+2, s+1, of the slots that hold an element: the others hold the unit, which changes nothing.
Value* KernelEmitter::across_slots(const Fold& fold, std::vector<Value*> slots) {
  for (std::size_t half = fold_slots / 2; half >= 1; half /= 2) {
    for (std::size_t s = 0; s < half && s + half < slots.size(); ++s) slots[s] = emit_combine(b_, fold.accumulator, fold.dtype, slots[s], slots[s + half]);
    slots.resize(std::min(slots.size(), half));
  }
  return slots[0];
}

void KernelEmitter::exchange(JamCopy& copy) {
  std::swap(axis_index_, copy.axis_index);
  std::swap(scalars_, copy.scalars);
  std::swap(accesses_, copy.accesses);
  std::swap(spread_, copy.spread);
  std::swap(divisors_, copy.divisors);
  std::swap(folds_, copy.folds);
}

// The body of an outer loop for the elements first, first + spacing, .. at once.
void KernelEmitter::emit_together(const Loop& outer, Value* first, int copies, Index spacing) {
  const auto axis = static_cast<std::size_t>(outer.var.axis);
  for (int copy = 0; copy < copies; ++copy) {
    axis_index_[axis] = b_.CreateAdd(first, number(copy * spacing));
    jam_.push_back({axis_index_, scalars_, {}, {}, {}, folds_});
  }
  for (const Item& item : outer.body) {
    if (auto* lanes = std::get_if<Loop>(&item)) emit_lanes(*lanes);
    else each_copy([&] { emit_item(item); });
  }
  jam_.clear();
  jam_sums_.clear();
  thin_slots_.clear();
  axis_index_[axis] = nullptr;
}

// The part of the range that is whole blocks of elements; returns where the rest begins.
Value* KernelEmitter::emit_jam(const Loop& serial, Range range, int copies) {
  const Index block = copies * fold_slots;
  Value* rest = b_.CreateAdd(range.begin, b_.CreateAnd(b_.CreateSub(range.end, range.begin), number(-block)));
  for_range(range.begin, rest, block, "jam", [&](Value* start) {
    for_range(start, b_.CreateAdd(start, number(fold_slots)), 1, "slot", [&](Value* first) { emit_together(serial, first, copies, fold_slots); });
  });
  return rest;
}

void KernelEmitter::emit_jammed_items(const Loop& loop, Value* index, int steps, const Masks& masks) {
  load_tiles(loop, index);
  each_copy([&] { emit_lane_items(loop, index, steps, masks); });
  store_tiles(loop, index);
  tiles_.clear();
  carried_rows_.clear();
}

}  // namespace weft
