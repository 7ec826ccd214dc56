// What a vector loop adds to folds: along itself, or to rows.
#include "emit_kernel.h"
#include "others.h"

namespace weft {

using llvm::Value;

// Along rows each step adds to what becomes a copy's own; the first copy's state is the current one meanwhile.
Folds::FoldState& KernelEmitter::state_of_step(int fold, std::size_t step) {
  const auto at = static_cast<std::size_t>(fold);
  return step == 0 ? folds_[at] : jam_[step].folds[at];
}

void KernelEmitter::emit_lane_accumulate(const Loop& loop, const Accumulate& item, const LaneAccess* access, Value* index, int steps, const Masks& masks) {
  if (item.result >= 0) return emit_running(item, steps, masks);
  const Fold& fold = program_.fold(item.fold);
  FoldState& state = folds_[static_cast<std::size_t>(item.fold)];
  const bool along = fold.axis == loop.var.axis;
  std::vector<Value*> values, factors;
  for (int step = 0; step < steps; ++step) {
    values.push_back(pack(item.value, step));
    if (item.factor) factors.push_back(pack(*item.factor, step));
  }
  // Lanes outside the loop change no fold: they give its unit, or are not taken.
  if (along && state.is_extreme) {
    Value* nothing = constant_value(context_, unit(fold.accumulator, fold.dtype), lane_count);
    for (std::size_t step = 0; step < masks.size(); ++step) values[step] = b_.CreateSelect(masks[step], values[step], nothing);
    if (!is_along_rows()) return accumulate_extreme(fold, state, values);
    for (std::size_t step = 0; step < values.size(); ++step) accumulate_extreme(fold, state_of_step(item.fold, step), {values[step]});
    return;
  }
  const auto with = [&](Value* acc, int step) {
    Value* factor = item.factor ? factors[static_cast<std::size_t>(step)] : nullptr;
    Value* sum = accumulated(fold, acc, values[static_cast<std::size_t>(step)], factor);
    return masks.empty() ? sum : b_.CreateSelect(masks[static_cast<std::size_t>(step)], sum, acc);
  };
  for (int step = 0; step < steps; ++step) {
    Value *value = values[static_cast<std::size_t>(step)], *factor = item.factor ? factors[static_cast<std::size_t>(step)] : nullptr;
    if (along && state.registers.empty()) {                           // carried by the loop over blocks, which start at slot 0
      Value* acc = from_memory(b_.CreateLoad(memory_type(context_, fold.dtype, lane_count), state.cell), fold.dtype);
      b_.CreateStore(to_memory(with(acc, step), fold.dtype), state.cell);
      keep_step(item.fold, step);
    } else if (along) {
      const auto& registers = (is_along_rows() ? state_of_step(item.fold, static_cast<std::size_t>(step)) : state).registers;
      auto* acc = registers[static_cast<std::size_t>(step) % registers.size()];
      b_.CreateStore(with(b_.CreateLoad(value->getType(), acc), step), acc);
      keep_step(item.fold, step);
    } else if (copies_.thin && fold.axis == copied_axis_) {
      const int at = is_along_rows() ? 0 : step;           // all steps are one vector of rows
      auto& slots = thin_slots_[{&item, at}];
      if (slots.size() < fold_slots) slots.push_back(factor ? product(b_, fold.dtype, value, factor) : value);
      else slots[jam_copy_ % fold_slots] = accumulated(fold, slots[jam_copy_ % fold_slots], value, factor);
      if (is_along_rows() ? step + 1 < steps : !is_last_copy()) continue;
      Value* result = is_along_rows() ? across_rows(fold, std::exchange(slots, {})) : across_slots(fold, std::exchange(slots, {}));
      if (copies_.taker) thin_results_[fold.row].push_back(result);
      else lane_store(*access, fold.dtype, index, at, mask_of(masks, at), result);
    } else {
      const bool apart = copies_.tiled_by >= 0;          // each copy has a slot of its own
      Value* acc = apart || is_first_copy() ? lane_load(*access, fold.dtype, index, step, mask_of(masks, step)) : jam_sums_.at({&item, step});
      Value* sum = accumulated(fold, acc, value, factor);
      if (apart || is_last_copy()) lane_store(*access, fold.dtype, index, step, mask_of(masks, step), sum);
      else jam_sums_[{&item, step}] = sum;
    }
  }
}

}  // namespace weft
