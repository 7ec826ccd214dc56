// Loops over so few elements that all of them stay in registers. If the next vector loop takes what they fold and nothing else does, it is
// part of each step: the results go on from there, as they would from one loop written by hand, and memory is read and written at once.
#include <algorithm>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

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
    if (outer.across > 0) copies_.tiled_by = serial.var.axis;
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

}  // namespace weft
