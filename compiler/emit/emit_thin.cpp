// Loops over so few elements that all of them stay in registers. If the next vector loop takes what they fold and nothing else does, it is
// part of each step: the results go on from there, as they would from one loop written by hand, and memory is read and written at once.
#include <algorithm>
#include <bit>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

// Before the loop along rows: what differs from element to element of a row, in their order.
void KernelEmitter::open_rows() {
  const auto count = static_cast<int>(jam_.size());
  for (std::size_t value = 0; value < program_.values.size(); ++value) {
    const auto of = [&](const JamCopy& copy) { return copy.scalars[value]; };
    if (!of(jam_[0]) || std::all_of(jam_.begin(), jam_.end(), [&](const JamCopy& copy) { return of(copy) == of(jam_[0]); })) continue;
    Value* elements = llvm::PoisonValue::get(llvm::FixedVectorType::get(of(jam_[0])->getType(), static_cast<unsigned>(count)));
    for (int k = 0; k < count; ++k) elements = b_.CreateInsertElement(elements, of(jam_[static_cast<std::size_t>(k)]), static_cast<std::uint64_t>(k));
    for (int step = 0; step < count; ++step) {
      std::vector<int> lanes;
      for (int lane = 0; lane < lane_count; ++lane) lanes.push_back((step * lane_count + lane) % count);
      packs_[value].push_back(b_.CreateShuffleVector(elements, lanes));
    }
    of_rows_.push_back(value);
  }
}

// What stays for each row, to all of its elements.
std::vector<Value*> KernelEmitter::spread_to_rows(Value* vector) {
  const auto count = static_cast<int>(jam_.size());
  std::vector<Value*> vectors;
  for (int step = 0; step < count; ++step) {
    std::vector<int> rows;
    for (int lane = 0; lane < lane_count; ++lane) rows.push_back((step * lane_count + lane) / count);
    vectors.push_back(b_.CreateShuffleVector(vector, rows));
  }
  return vectors;
}

// After the loop: sums down the columns stay as they are until they end.
void KernelEmitter::close_rows(const Loop& lanes) {
  for (std::size_t value : std::exchange(of_rows_, {})) packs_[value].clear();
  folds_hold_rows_ = !lanes.folds.empty();
}

// Whether fewer rows than sixteen are worked on as whole vectors of them are, with masks: sums down the columns add up what there is, results are stored in
// part. Sums along the rows are those of all lanes.
bool KernelEmitter::masks_rows_left(const Loop& lanes) const {
  return std::all_of(lanes.body.begin(), lanes.body.end(), [&](const Item& item) {
    const auto *accumulate = std::get_if<Accumulate>(&item);
    const auto *store = std::get_if<Store>(&item);
    if (store) return has_feature("+avx512f") && stores_by_masks(program_.buffer(store->buffer).dtype);
    return !accumulate || program_.fold(accumulate->fold).axis == lanes.var.axis;
  });
}

// The rows that are left, with a mask of their elements for each vector.
void KernelEmitter::emit_rows_left(const Loop& lanes, Range range) {
  const auto some = [&] {
    rows_left_ = b_.CreateSub(range.end, range.begin);
    const auto count = static_cast<int>(jam_.size());
    emit_lane_body(lanes, range.begin, 1, first_lanes(b_.CreateMul(rows_left_, number(count)), count));
    rows_left_ = nullptr;
  };
  Value* are_left = b_.CreateICmpSLT(range.begin, range.end);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(are_left)) {
    if (known->isOne()) some();
  } else {
    if_then(are_left, "rows", some);
  }
}

void KernelEmitter::emit_along_rows(const Loop& lanes, Value* index, const Masks& masks) {
  jam_copy_ = 0;
  exchange(jam_[0]);
  emit_lane_items(lanes, index, static_cast<int>(jam_.size()), masks);
  exchange(jam_[0]);
}

// Of folds over the loop, each element is a slot of its own; arrays that lie across are read and written in whole vectors.
void KernelEmitter::emit_thin(const Loop& serial, const Outer& outer, const Loop* taker) {
  const auto elements = static_cast<int>(program_.axis(serial.var.axis).extent.constant());
  const bool across = outer.across + outer.windows > 0;
  as_copies({.thin = elements}, [&] {
    open_folds(serial, false);
    start_folds(serial, false);
    if (taker) {
      axis_index_[static_cast<std::size_t>(taker->var.axis)] = nullptr;
      open_accesses(*taker);
      copies_.taker = taker;
      copies_.taken_past_caches = std::any_of(accesses_.begin(), accesses_.end(), [](const auto& access) { return access.second.stream; });
      note_code(*taker, across ? 1 : steps_of(*outer.loops[0]), false);
    }
    if (across) copies_.tiled_by = serial.var.axis, copies_.along_rows = runs_along_rows(serial, outer);
    emit_together(serial, number(0), elements, 1);
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
