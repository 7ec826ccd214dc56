// Around a folded loop: accumulators start at their unit, a leaf of 1024 ends in a tree over its sixteen slots, leaves
// end in a balanced tree. The order is that of weft/accumulator.h, whichever loop runs outside and which one as vectors.
#include "folds.h"

#include <cmath>

#include <llvm/IR/Intrinsics.h>

namespace weft {

using llvm::Value;

void Folds::call_support(FoldSupport what, const Fold& fold, std::vector<Value*> args) {
  const AccumulatorId accumulator = what == FoldSupport::fill ? AccumulatorId::none : fold.accumulator;
  call(fold_symbol(what, accumulator, fold.dtype), args);
}

// Of the elements of a row those of the current unit, where the others lie behind them: whole vectors.
Value* Folds::elements_in_use(const Buffer& row) {
  const bool c = row.order == Order::c;
  if (!program_.is_tiled(c ? row.axes.front() : row.axes.back())) return size(row_elements(row));
  Value* count = b_.CreateSub(tile_.end, tile_.begin);
  for (std::size_t d = c ? 1 : 0; d + (c ? 0 : 1) < row.extents.size(); ++d) count = b_.CreateMul(count, size(row.extents[d]));
  return b_.CreateAnd(b_.CreateAdd(count, number(lane_count - 1)), number(-lane_count));
}

// Memory for the folds that end with this loop.
void Folds::open_folds(const Loop& loop, bool leaves) {
  for (int number_of_fold : loop.folds) {
    const Fold& fold = program_.fold(number_of_fold);
    FoldState& state = folds_[static_cast<std::size_t>(number_of_fold)];
    state = {};
    state.slots = copies_.thin ? 1 : fold.ordered || (loop.mark == Mark::block && fold.row < 0) ? static_cast<int>(fold_slots) : 1;
    const Extent& extent = program_.axis(fold.axis).extent;
    if (extent.is_number() && fold.row >= 0)
      while (state.slots > 1 && state.slots / 2 >= extent.constant()) state.slots /= 2;     // units change nothing
    const bool stack = leaves && fold.ordered;
    if (loop.mark == Mark::lanes) {
      const int steps = fold.ordered || fold.start ? 1 : steps_of(loop);
      for (int step = 0; step < steps; ++step) state.registers.push_back(stack_cell(register_type(context_, fold.dtype, lane_count), "acc"));
      if (!fold.start) open_extreme(fold, state);
      else if (is_extreme(fold) && has_feature("+avx512dq")) state.nan = stack_cell(b_.getIntNTy(lane_count), "nan");     // emit_running.cpp
      if (stack) state.cell = stack_cell(memory_type(context_, fold.dtype, 1), "leaf");
    } else if (fold.row < 0) {
      state.cell = stack_cell(memory_type(context_, fold.dtype, state.slots), "slots");
    } else {
      const Extent offset = reserve_rows(fold.row, state.slots);
      row_offsets_[static_cast<std::size_t>(fold.row)] = offset;
      state.memory = scratch_at(offset);
      const Buffer& row = program_.buffer(fold.row);
      state.elements = size(row_elements(row));
      state.in_use = elements_in_use(row);
    }
    if (!stack) continue;
    if (fold.row >= 0) state.stack = scratch_at(reserve_rows(fold.row, fold_stack_rows));
    else state.stack = stack_cell(llvm::ArrayType::get(memory_type(context_, fold.dtype, 1), fold_stack_rows), "leaves");
  }
}

// Sets the accumulators that are (not) ordered to their unit.
void Folds::start_folds(const Loop& loop, bool ordered) {
  for (int number_of_fold : loop.folds) {
    const Fold& fold = program_.fold(number_of_fold);
    FoldState& state = folds_[static_cast<std::size_t>(number_of_fold)];
    const bool stays_in_registers = copies_.thin && loop.mark == Mark::serial && !fold.start;
    if (fold.ordered != ordered || stays_in_registers) continue;
    const Scalar start = fold.start ? *fold.start : unit(fold.accumulator, fold.dtype);
    if (!state.registers.empty()) {
      for (auto* acc : state.registers) b_.CreateStore(constant_value(context_, start, lane_count), acc);
      start_extreme(fold, state);
      if (fold.start && state.nan) b_.CreateStore(llvm::ConstantInt::getSigned(state.nan->getAllocatedType(), std::isnan(fold.start->real()) ? -1 : 0), state.nan);
    } else if (fold.row < 0) {
      b_.CreateStore(to_memory(constant_value(context_, start, state.slots), fold.dtype), state.cell);
    } else {
      auto* value = stack_cell(memory_type(context_, fold.dtype, 1), "unit");
      b_.CreateStore(to_memory(constant_value(context_, start, 1), fold.dtype), value);
      call_support(FoldSupport::fill, fold, {state.memory, state.in_use, state.elements, number(state.slots), value});
    }
  }
}

// s with s+8, then s+4, s+2, s+1. No vector is less than a register of 128 bits: LLVM spends more on types that no register has.
Value* Folds::across_lanes(Value* vector, const Combine& combine) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  if (!type) return vector;
  const auto element_bits = static_cast<int>(type->getScalarSizeInBits());
  int width = static_cast<int>(type->getNumElements());
  for (int half = width / 2; half >= 1; half /= 2) {
    const bool narrows = half * element_bits >= 128;
    std::vector<int> low, high(static_cast<std::size_t>(narrows ? half : width), -1);
    for (int k = 0; k < half; ++k) low.push_back(k), high[static_cast<std::size_t>(k)] = k + half;
    Value* second = b_.CreateShuffleVector(vector, high);
    vector = combine(narrows ? b_.CreateShuffleVector(vector, low) : vector, second);
    if (narrows) width = half;
  }
  return b_.CreateExtractElement(vector, std::uint64_t{0});
}

// One vector of all registers.
Value* Folds::of_registers(const std::vector<llvm::AllocaInst*>& cells, const Combine& combine) {
  Value* all = b_.CreateLoad(cells[0]->getAllocatedType(), cells[0]);
  for (std::size_t k = 1; k < cells.size(); ++k) all = combine(all, b_.CreateLoad(all->getType(), cells[k]));
  return all;
}

// Runs a loop's range, leaf by leaf if it may be longer than one; an empty range is one empty leaf.
void Folds::fold_leaves(const Loop& loop, Range range, bool leaves, const std::function<void(Range)>& run) {
  if (!leaves) {
    each_copy([&] { start_folds(loop, true); });
    run(range);
    if (folds_hold_rows_) end_leaves_of_rows(loop);
    else if (jam_.size() > 1 && sums_in_registers(loop)) end_leaves_together(loop);
    else each_copy([&] { end_leaf(loop, nullptr); });
    return;
  }
  auto* leaf = stack_cell(b_.getInt64Ty(), "leaf.number");
  b_.CreateStore(number(0), leaf);
  Value* last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, range.end, number(1));
  Value* several = b_.CreateICmpSGT(b_.CreateSub(range.end, range.begin), number(fold_leaf));
  for_range(range.begin, last, fold_leaf, "leaf", [&](Value* start) {
    each_copy([&] { start_folds(loop, true); });
    run({start, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(start, number(fold_leaf)), range.end)});
    if (folds_hold_rows_) take_columns(loop);
    Value* current = b_.CreateLoad(b_.getInt64Ty(), leaf);
    each_copy([&] { end_leaf(loop, current, several); });
    b_.CreateStore(b_.CreateAdd(current, number(1)), leaf);
  });
  if_then(several, "finish", [&] {
    Value* count = b_.CreateLoad(b_.getInt64Ty(), leaf);
    each_copy([&] { finish_leaves(loop, count); });
  });
  each_copy([&] { take_results(loop); });
}

// The value of one leaf of every ordered fold goes to its result place; with `leaf` given, on to the tree over leaves if there
// are several: most rows are shorter than a leaf and should not pay for a tree.
void Folds::end_leaf(const Loop& loop, Value* leaf, Value* several) {
  for (int number_of_fold : loop.folds) {
    const Fold& fold = program_.fold(number_of_fold);
    FoldState& state = folds_[static_cast<std::size_t>(number_of_fold)];
    if (!fold.ordered) continue;
    Value* row = state.memory;
    if (fold.row >= 0) {
      if (state.slots > 1) call_support(FoldSupport::reduce, fold, {row, state.in_use, state.elements, number(state.slots)});
    } else {
      Value* slots = state.registers.empty() ? b_.CreateLoad(memory_type(context_, fold.dtype, state.slots), state.cell)
                                             : b_.CreateLoad(register_type(context_, fold.dtype, lane_count), state.registers[0]);
      Value* value = across_lanes(slots, combine_of(fold));
      if (fold.result >= 0) scalars_[static_cast<std::size_t>(fold.result)] = value;
      if (leaf) b_.CreateStore(value, state.cell);
      row = state.cell;
    }
    if (!leaf) continue;
    if_then(several, "push", [&] { call_support(FoldSupport::push, fold, {state.stack, row, fold.row >= 0 ? state.in_use : number(1), leaf}); });
  }
}

void Folds::finish_leaves(const Loop& loop, Value* leaves) {
  for (int number_of_fold : loop.folds) {
    const Fold& fold = program_.fold(number_of_fold);
    FoldState& state = folds_[static_cast<std::size_t>(number_of_fold)];
    if (!fold.ordered) continue;
    Value* row = fold.row >= 0 ? state.memory : state.cell;
    call_support(FoldSupport::finish, fold, {state.stack, row, fold.row >= 0 ? state.in_use : number(1), leaves});
  }
}

void Folds::take_results(const Loop& loop) {
  for (int number_of_fold : loop.folds) {
    const Fold& fold = program_.fold(number_of_fold);
    if (!fold.ordered || fold.row >= 0) continue;
    scalars_[static_cast<std::size_t>(fold.result)] = b_.CreateLoad(memory_type(context_, fold.dtype, 1), folds_[static_cast<std::size_t>(number_of_fold)].cell);
  }
}

// Results of accumulators without an order, and the value of a float sum over nothing: +0, not the unit -0.
void Folds::close_folds(const Loop& loop, Range range) {
  for (int number_of_fold : loop.folds) {
    const Fold& fold = program_.fold(number_of_fold);
    FoldState& state = folds_[static_cast<std::size_t>(number_of_fold)];
    if (!fold.ordered && fold.result >= 0 && !state.is_extreme) {
      Value* value = nullptr;
      if (state.registers.empty()) {
        value = across_lanes(from_memory(b_.CreateLoad(memory_type(context_, fold.dtype, state.slots), state.cell), fold.dtype), combine_of(fold));
      } else {
        value = across_lanes(of_registers(state.registers, combine_of(fold)), combine_of(fold));
      }
      scalars_[static_cast<std::size_t>(fold.result)] = value;
    }
    if (!fold.ordered || fold.accumulator != AccumulatorId::sum || has_some(fold.axis)) continue;
    Value* empty = b_.CreateICmpSGE(range.begin, range.end);
    Value* zero = constant_value(context_, Scalar::of(fold.dtype, 0.0), 1);
    if (fold.row < 0) {
      Value*& value = scalars_[static_cast<std::size_t>(fold.result)];
      value = b_.CreateSelect(empty, zero, value);
    } else {
      auto* cell = stack_cell(memory_type(context_, fold.dtype, 1), "zero");
      b_.CreateStore(zero, cell);
      call_support(FoldSupport::fill, fold, {state.memory, b_.CreateSelect(empty, state.in_use, number(0)), state.elements, number(1), cell});
    }
  }
}

// The slot of the current element of an ordered fold whose slots are in memory.
Value* Folds::fold_slot(const Fold& fold, const FoldState& state) {
  if (state.slots == 1) return number(0);
  Value* const index = axis_index_[static_cast<std::size_t>(fold.axis)];
  if (copies_.tiled_by != fold.axis || jam_.empty()) return b_.CreateAnd(index, number(state.slots - 1));
  const auto copy = static_cast<Index>(jam_copy_), copies = static_cast<Index>(jam_.size());
  if (copies % state.slots == 0) return number(copy % state.slots);                                  // tiles begin at slot 0
  return b_.CreateAdd(b_.CreateAnd(b_.CreateSub(index, number(copy)), number(state.slots - 1)), number(copy));
}

// acc with the value, or with the product of both.
Value* Folds::accumulated(const Fold& fold, Value* acc, Value* value, Value* factor) {
  return factor ? emit_op(b_, Op::fma, {value, factor, acc}, {fold.dtype, fold.dtype, fold.dtype}, fold.dtype, fast_math_) : emit_combine(b_, fold.accumulator, fold.dtype, acc, value);
}

}  // namespace weft
