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

// The one vector loop of a body that does nothing else but load and compute before it; it ends no folds.
const Loop* KernelEmitter::only_lanes(const Loop& outer) {
  const Loop* lanes = nullptr;
  for (const Item& item : outer.body) {
    if (auto* loop = std::get_if<Loop>(&item)) {
      if (lanes || loop->mark != Mark::lanes || !loop->folds.empty()) return nullptr;
      lanes = loop;
    } else if (!is_pure(item)) {
      return nullptr;
    }
  }
  return lanes;
}

// How many elements: a power of two, or 1 where the loop does anything else.
int KernelEmitter::jam_copies(const Loop& serial) const {
  const Loop* lanes = only_lanes(serial);
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
  return accumulates ? elements_together(lanes->weight, ordered) : 1;
}

// A loop over so few elements that all stay in registers: of folds, each is a slot of its own; arrays that lie across are read and
// written in whole vectors.
bool KernelEmitter::is_thin(const Loop& serial) const {
  const Extent& extent = program_.axes[static_cast<std::size_t>(serial.var.axis)].extent;
  if (!extent.is_number() || extent.constant() < 1 || extent.constant() > fold_slots || program_.is_tiled(serial.var.axis)) return false;
  const Loop* lanes = only_lanes(serial);
  if (!lanes || lanes->weight * extent.constant() > thin_bodies) return false;
  const auto fold_of = [&](int fold) -> const Fold& { return program_.folds[static_cast<std::size_t>(fold)]; };
  if (!std::all_of(serial.folds.begin(), serial.folds.end(), [&](int fold) { return fold_of(fold).row >= 0 && !fold_of(fold).start; })) return false;
  bool pays = false;
  for (const Item& item : lanes->body) {
    auto* accumulate = std::get_if<Accumulate>(&item);
    if (accumulate && fold_of(accumulate->fold).axis != serial.var.axis) return false;
    pays |= accumulate || lies_across(item, serial.var.axis, lanes->var.axis) != 0;
  }
  return pays;
}

void KernelEmitter::emit_thin(const Loop& serial) {
  thin_ = true;
  open_folds(serial, false);
  for (const Item& item : lanes_of(serial).body)
    if (lies_across(item, serial.var.axis, lanes_of(serial).var.axis) != 0) tiled_by_ = serial.var.axis;
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

// The vector loop in a loop that has one.
const Loop& KernelEmitter::lanes_of(const Loop& outer) {
  return *std::get_if<Loop>(&*std::find_if(outer.body.begin(), outer.body.end(), [](const Item& item) { return std::holds_alternative<Loop>(item); }));
}

// The body of an outer loop for the elements first, first + spacing, .. at once.
void KernelEmitter::emit_together(const Loop& outer, Value* first, int copies, Index spacing) {
  const auto axis = static_cast<std::size_t>(outer.var.axis);
  const Loop& lanes = lanes_of(outer);
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
  load_tiles(loop, index, mask_of(masks, 0));
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
    emit_lane_items(loop, index, steps, masks);
    exchange();
  }
  store_tiles(loop, index);
  tiles_.clear();
  carried_rows_.clear();
}

}  // namespace weft
