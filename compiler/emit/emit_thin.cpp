// Loops over so few elements that all of them stay in registers. If the next vector loop takes what they fold and nothing else does, it is
// part of each step: the results go on from there, as they would from one loop written by hand, and memory is read and written at once.
#include <algorithm>
#include <bit>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

// Arrays whose rows of these elements follow each other without a gap need no transposing where ops work on them: the same on any lanes. In place
// of copies, step k of one body has the k-th vector of sixteen rows, and only what is folded changes places. Sums of (x - y)^2 over rows of four
// take .08 ns an element, .14 if both are transposed; sums of rows .043 and .065, of eight .040 and .073 (Zen 4). Nothing may depend on the
// element of a row but what lies in such arrays.
bool KernelEmitter::runs_along_rows(const Loop& serial, const Outer& outer) const {
  if (outer.loops.size() != 1 || serial.body.size() != 1) return false;
  const Loop& lanes = *outer.loops[0];
  const Index count = program_.axis(serial.var.axis).extent.constant();
  const auto fills_a_register = [&](DType dtype) { return lane_count * size_of(dtype) >= register_bytes(); };
  const auto is_row = [&](const Item& item, int buffer, const std::vector<Subscript>& at) {
    return lies_across(item, serial.var.axis, lanes.var.axis) == 1 && fills_a_register(program_.buffer(buffer).dtype) &&
           distance_of_rows(buffer, at, serial.var.axis, lanes.var.axis) == count;
  };
  int moved = 0, folded = 0;
  for (const Item& item : lanes.body) {
    if (std::holds_alternative<Compute>(item)) continue;
    const auto *load = std::get_if<Load>(&item);
    const auto *store = std::get_if<Store>(&item);
    const auto *accumulate = std::get_if<Accumulate>(&item);
    if (load ? load->guarded || !is_row(item, load->buffer, load->at) : store ? !is_row(item, store->buffer, store->at) : !accumulate) return false;
    if (accumulate && (program_.fold(accumulate->fold).axis != serial.var.axis || !fills_a_register(program_.fold(accumulate->fold).dtype))) return false;
    ++(accumulate ? folded : moved);
  }
  return folded <= moved;
}

void KernelEmitter::emit_along_rows(const Loop& lanes, Value* index, const Masks& masks) {
  jam_copy_ = 0;
  exchange(jam_[0]);
  emit_lane_items(lanes, index, static_cast<int>(jam_.size()), masks);
  exchange(jam_[0]);
}

// Of folds over the loop, each element is a slot of its own; arrays that lie across are read and written in whole vectors.
void KernelEmitter::emit_thin(const Loop& serial, const Outer& outer, const Loop* taker) {
  as_copies({.thin = true}, [&] {
    open_folds(serial, false);
    start_folds(serial, false);
    if (taker) {
      axis_index_[static_cast<std::size_t>(taker->var.axis)] = nullptr;
      open_accesses(*taker);
      copies_.taker = taker;
      copies_.taken_past_caches = std::any_of(accesses_.begin(), accesses_.end(), [](const auto& access) { return access.second.stream; });
      note_code(*taker, outer.across > 0 ? 1 : steps_of(*outer.loops[0]), false);
    }
    if (outer.across > 0) copies_.tiled_by = serial.var.axis, copies_.along_rows = runs_along_rows(serial, outer);
    emit_together(serial, number(0), static_cast<int>(program_.axis(serial.var.axis).extent.constant()), 1);
  });
}

// The same step of the loop that takes the results, which are one of each fold and vector.
void KernelEmitter::emit_taker(const Loop& taker, Value* index, int steps, const Masks& masks) {
  const auto jam = std::exchange(jam_, {});
  auto before = std::exchange(estimated_, find_estimated(taker, steps));
  as_copies({}, [&] { emit_lane_items(taker, index, steps, masks); });
  thin_results_.clear();
  jam_ = jam;
  estimated_ = std::move(before);
}

// s with s+8, then s+4, s+2, s+1, of the slots that hold an element: the others hold the unit, which changes nothing.
Value* KernelEmitter::across_slots(const Fold& fold, std::vector<Value*> slots) {
  for (std::size_t half = fold_slots / 2; half >= 1; half /= 2) {
    for (std::size_t s = 0; s < half && s + half < slots.size(); ++s) slots[s] = emit_combine(b_, fold.accumulator, fold.dtype, slots[s], slots[s + half]);
    slots.resize(std::min(slots.size(), half));
  }
  return slots[0];
}

// The same of vectors of whole rows, in whose order the results are.
Value* KernelEmitter::across_rows(const Fold& fold, std::vector<Value*> rows) {
  if (!std::has_single_bit(rows.size())) {
    std::vector<Value*> slots;
    for (std::size_t k = 0; k < rows.size(); ++k) slots.push_back(column_of_rows(rows, static_cast<int>(k)));
    return across_slots(fold, std::move(slots));
  }
  for (auto length = static_cast<int>(rows.size()); length > 1; length /= 2) {
    std::vector<int> low, high;                  // halves of the rows of two vectors
    for (int lane = 0; lane < 2 * lane_count; ++lane) (lane % length < length / 2 ? low : high).push_back(lane);
    for (std::size_t k = 0; k < rows.size() / 2; ++k) {
      Value *a = rows[2 * k], *b = rows[2 * k + 1];
      rows[k] = emit_combine(b_, fold.accumulator, fold.dtype, b_.CreateShuffleVector(a, b, low), b_.CreateShuffleVector(a, b, high));
    }
    rows.resize(rows.size() / 2);
  }
  return rows[0];
}

}  // namespace weft
