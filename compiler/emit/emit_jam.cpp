// Folds over a serial loop outside a vector loop, such as column sums: rows of accumulators in memory, to which each element of the
// serial loop adds. Several elements are worked on together, so that an accumulator is loaded and stored once for all of them.
// Those are elements of one slot, from the first to the last, so that the order of every sum stays; far apart they also make better
// use of memory than neighbours, where the order is of no account.
#include <algorithm>

#include <llvm/IR/Intrinsics.h>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

// The body of an outer loop for the elements first, first + spacing, .. at once. `last` stands for those that would be past it. `vectors`
// runs a vector loop of it as all copies, if not all of its range.
void KernelEmitter::emit_together(const Loop& outer, Value* first, int copies, Index spacing, Value* last, const std::function<void(const Loop&)>& vectors) {
  const auto axis = static_cast<std::size_t>(outer.var.axis);
  for (int copy = 0; copy < copies; ++copy) {
    axis_index_[axis] = copy == 0 ? first : b_.CreateAdd(first, number(copy * spacing));
    if (last && copy > 0) axis_index_[axis] = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, axis_index_[axis], last);
    jam_.push_back({axis_index_, scalars_, {}, {}, {}, folds_});
  }
  copied_axis_ = outer.var.axis;
  for (const Item& item : outer.body) {
    if (auto* lanes = std::get_if<Loop>(&item)) vectors ? vectors(*lanes) : emit_lanes(*lanes);
    else if (auto* store = std::get_if<Store>(&item); store && spacing == 1 && !last && lies_along(store->buffer, store->at, outer.var.axis)) store_neighbours(*store);
    else each_copy([&] { emit_item(item); });
  }
  copied_axis_ = -1;
  jam_.clear();
  jam_sums_.clear();
  thin_slots_.clear();
  ends_of_trees_.clear();
  axis_index_[axis] = nullptr;
}

// What neighbours store side by side: the ends of trees that share a register leave it as one vector.
void KernelEmitter::store_neighbours(const Store& store) {
  const DType dtype = program_.buffer(store.buffer).dtype;
  std::vector<Value*> values;
  each_copy([&] { values.push_back(scalar(store.value)); });
  const auto end_of = [&](std::size_t copy) {
    const auto found = ends_of_trees_.find(values[copy]);
    const bool as_in_memory = values[copy]->getType() == memory_type(context_, dtype, 1);
    return found == ends_of_trees_.end() || !as_in_memory ? EndOfTree{} : found->second;
  };
  std::size_t stored = 0;               // copies so far
  each_copy([&] {
    if (jam_copy_ < stored) return;
    const EndOfTree first = end_of(jam_copy_);
    std::vector<int> lanes;
    for (; stored < values.size() && first.vector && end_of(stored).vector == first.vector; ++stored) lanes.push_back(end_of(stored).lane);
    if (lanes.size() > 1) b_.CreateAlignedStore(b_.CreateShuffleVector(first.vector, lanes), address(store.buffer, store.at), llvm::Align(size_of(dtype)));
    else scalar_store(store);
    stored = std::max(stored, jam_copy_ + 1);
  });
}

// The part of the range that is whole blocks of elements; returns where the rest begins.
Value* KernelEmitter::emit_jam(const Loop& serial, Range range, int copies) {
  const Index block = copies * fold_slots;
  Value* rest = end_of_whole(serial.var.axis, range, block);
  for_range(range.begin, rest, block, "jam", [&](Value* start) {
    for_range(start, b_.CreateAdd(start, number(fold_slots)), 1, "slot", [&](Value* first) { emit_together(serial, first, copies, fold_slots); }, true);
  });
  return rest;
}

// Rows that are folded, side by side. Those past the end do once more what the last one does: it reads before any of them stores.
void KernelEmitter::emit_rows(const Loop& rows, Range range, int copies) {
  Value* last = relies_on_whole(rows.var.axis, copies) ? nullptr : b_.CreateSub(range.end, number(1));
  as_copies({.tiled_by = rows.var.axis}, [&] {
    for_range(range.begin, range.end, copies, "rows", [&](Value* first) { emit_together(rows, first, copies, 1, last); }, has_some(rows.var.axis));
  });
}

// Whether all copies of the body load the same: what one of them fetches or stores in between would keep LLVM from finding out.
bool KernelEmitter::is_common(const Load& load, const Loop& loop) const {
  return copied_axis_ >= 0 && !depends_on(load, copied_axis_) && std::none_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    auto* store = std::get_if<Store>(&item);
    return store && store->buffer == load.buffer;
  });
}

// Whether copies store past the caches where others of them load as many bytes from the beginning of a page: rows of a power of two, in arrays that
// begin alike. A processor then takes a load for one of what was just stored, and waits. If all load before the first stores: x^T + y of 4096^2
// floats 2.3 -> 1.1 ns an element (Zen 3). More results than one would not stay in registers.
bool KernelEmitter::loads_beside_store(const Loop& loop) const {
  int stores = 0, loads = 0;
  for (const Item& item : loop.body) {
    const auto* load = std::get_if<Load>(&item);
    const auto* store = std::get_if<Store>(&item);
    const auto access = jam_.front().accesses.find(&item);
    if (access == jam_.front().accesses.end()) continue;         // loads of windows and of indices
    if (load && lies_along(load->buffer, load->at, loop.var.axis) && depends_on(*load, copied_axis_) && bytes_apart(load->buffer, load->at, copied_axis_) % page_bytes == 0) ++loads;
    if (store && lies_along(store->buffer, store->at, loop.var.axis) && access->second.stream) ++stores;
  }
  return stores == 1 && loads > 0;
}

// As the copies whose turn it is, one after the other: see program/windows.cpp. What they have loaded is kept until all are done.
void KernelEmitter::each_turn(const Loop& loop, const std::function<void(const Turn&)>& emit) {
  windows_.clear();
  for (const Turn& turn : turns_of(loop, copied_axis_, static_cast<int>(jam_.size()))) {
    jam_copy_ = static_cast<std::size_t>(turn.element);
    exchange(jam_[jam_copy_]);
    emit(turn);
    exchange(jam_[jam_copy_]);
  }
  windows_.clear();
}

void KernelEmitter::emit_windows(const Loop& loop, Value* index, const Masks& masks) {
  forget_packs(loop);
  std::vector<std::vector<std::vector<Value*>>> packs(jam_.size(), packs_);
  each_turn(loop, [&](const Turn& turn) {
    std::swap(packs_, packs[jam_copy_]);
    emit_lane_items(loop, index, 1, masks, turn.first, turn.last);
    std::swap(packs_, packs[jam_copy_]);
  });
}

// What the body, or a copy so far, has loaded of the same elements; or null.
Value* KernelEmitter::kept_vector(const Window& window, Index lanes) const {
  const auto kept = std::find_if(windows_.begin(), windows_.end(), [&](const KeptVector& each) { return each.window == window && each.lanes >= lanes; });
  return kept == windows_.end() ? nullptr : kept->value;
}
Value* KernelEmitter::kept_window(const Load& load) const {
  return copies_.keep_windows && !jam_.empty() ? kept_vector(window_of(load, copied_axis_, jam_copy_)) : nullptr;
}
void KernelEmitter::keep_window(const Load& load, Value* loaded) {
  if (copies_.keep_windows && !jam_.empty()) windows_.push_back({window_of(load, copied_axis_, jam_copy_), loaded});
}

void KernelEmitter::emit_jammed_items(const Loop& loop, Value* index, int steps, const Masks& masks) {
  load_tiles(loop, index, masks);
  stores_late_ = copies_.tiled_by >= 0 && loads_beside_store(loop);
  if (is_along_rows()) emit_along_rows(loop, index, masks);
  else if (copies_.keep_windows) emit_windows(loop, index, masks);
  else each_copy([&] { emit_lane_items(loop, index, steps, masks); });
  for (const LateStore& each : late_stores_) lane_store(each.access, each.dtype, index, each.step, each.mask, each.value);
  late_stores_.clear();
  stores_late_ = false;
  store_tiles(loop, index, masks);
  tiles_.clear();
  common_.clear();
  carried_rows_.clear();
  if (copies_.taker) emit_taker(*copies_.taker, index, steps, masks);
}

}  // namespace weft
