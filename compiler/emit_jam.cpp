// Folds over a serial loop outside a vector loop, such as column sums: rows of accumulators in memory, to which each element of the
// serial loop adds. Several elements are worked on together, so that an accumulator is loaded and stored once for all of them.
// Those are elements of one slot, from the first to the last, so that the order of every sum stays; far apart they also make better
// use of memory than neighbours, where the order is of no account.
#include <algorithm>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

// How many elements: a power of two, or 1 where the loop does anything else.
int KernelEmitter::jam_copies(const Loop& serial) const {
  const Loop* lanes = nullptr;
  for (const Item& item : serial.body) {
    if (auto* loop = std::get_if<Loop>(&item)) {
      if (lanes || loop->mark != Mark::lanes || !loop->folds.empty()) return 1;
      lanes = loop;
    } else if (!std::holds_alternative<Load>(item) && !std::holds_alternative<Compute>(item)) {
      return 1;
    }
  }
  if (!lanes) return 1;
  bool accumulates = false, ordered = false;
  for (const Item& item : lanes->body) {
    if (std::holds_alternative<Store>(item)) return 1;
    auto* accumulate = std::get_if<Accumulate>(&item);
    if (!accumulate) continue;
    const Fold& fold = program_.folds[static_cast<std::size_t>(accumulate->fold)];
    if (fold.axis != serial.var.axis) return 1;
    accumulates = true;
    ordered |= fold.ordered;
  }
  if (!accumulates || lanes->weight > 24) return 1;
  // Measured on 4096 x 4096 floats: where sixteen rows of slots are live, four streams beside them are 10 % faster than eight.
  return ordered || lanes->weight > 8 ? 4 : 8;
}

// The body of an outer loop for the elements first, first + spacing, .. at once.
void KernelEmitter::emit_together(const Loop& outer, Value* first, int copies, Index spacing) {
  const auto axis = static_cast<std::size_t>(outer.var.axis);
  const Loop& lanes = *std::get_if<Loop>(&*std::find_if(outer.body.begin(), outer.body.end(), [](const Item& item) { return std::holds_alternative<Loop>(item); }));
  for (int copy = 0; copy < copies; ++copy) {
    axis_index_[axis] = b_.CreateAdd(first, number(copy * spacing));
    for (const Item& item : outer.body)
      if (!std::holds_alternative<Loop>(item)) emit_item(item);
    axis_index_[static_cast<std::size_t>(lanes.var.axis)] = nullptr;
    open_accesses(lanes);
    jam_.push_back({axis_index_, scalars_, accesses_, {}, {}});
  }
  around_lanes([&] { emit_lane_range(lanes, range_of(lanes.var.axis)); });
  jam_.clear();
  jam_sums_.clear();
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

void KernelEmitter::emit_jammed_items(const Loop& loop, Value* index, int steps, Value* mask) {
  load_tiles(loop, index, mask);
  for (jam_copy_ = 0; jam_copy_ < jam_.size(); ++jam_copy_) {
    JamCopy& copy = jam_[jam_copy_];
    const auto exchange = [&] {
      std::swap(axis_index_, copy.axis_index);
      std::swap(scalars_, copy.scalars);
      std::swap(accesses_, copy.accesses);
      std::swap(spread_, copy.spread);
      std::swap(divisors_, copy.divisors);
    };
    exchange();
    emit_lane_items(loop, index, steps, mask);
    exchange();
  }
  tiles_.clear();
}

}  // namespace weft
