// Loops over so few elements that all of them stay in registers. If the next vector loop takes what they fold and nothing else does, it is
// part of each step: the results go on from there, as they would from one loop written by hand, and memory is read and written at once.
#include "emit_kernel.h"

namespace weft {

using llvm::Value;

// A loop over so few elements that all stay in registers: of folds over it, each is a slot of its own; arrays that lie across are read and
// written in whole vectors.
void KernelEmitter::emit_thin(const Loop& serial, const Outer& outer, const Loop* taker) {
  thin_ = true;
  open_folds(serial, false);
  start_folds(serial, false);
  if (taker) {
    axis_index_[static_cast<std::size_t>(taker->var.axis)] = nullptr;
    open_accesses(*taker);
    taker_ = taker;
    note_code(*taker, outer.across > 0 ? 1 : steps_of(*outer.loops[0]), false);
  }
  if (outer.across > 0) tiled_by_ = serial.var.axis;
  emit_together(serial, number(0), static_cast<int>(program_.axes[static_cast<std::size_t>(serial.var.axis)].extent.constant()), 1);
  tiled_by_ = -1;
  thin_ = false;
  taker_ = nullptr;
}

// The same step of the loop that takes the results, which are one of each fold and vector.
void KernelEmitter::emit_taker(Value* index, int steps, const Masks& masks) {
  const auto copies = std::exchange(jam_, {});
  const auto tiled_by = std::exchange(tiled_by_, -1);
  const bool thin = std::exchange(thin_, false), roots = std::exchange(estimates_roots_, estimates_roots(*taker_));
  emit_lane_items(*taker_, index, steps, masks);
  thin_results_.clear();
  jam_ = copies;
  tiled_by_ = tiled_by;
  thin_ = thin;
  estimates_roots_ = roots;
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
