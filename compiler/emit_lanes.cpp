// Innermost loops as vectors: whole steps of 16 lanes (several interleaved), then masked steps for the rest.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>

#include "emit_kernel.h"
#include "schedule.h"

namespace weft {

using llvm::Value;

namespace {
constexpr int long_function = 12;     // op_cost from which an op is no handful of instructions
constexpr int masked_only = 160;      // bodies so large are emitted once, with masks: compile time counts more
}

// How many vectors run side by side: hides latencies of short bodies.
int KernelEmitter::interleave(const Loop& loop) const {
  if (loop.weight > masked_only || tiled_by_ >= 0) return 1;
  for (int fold : loop.folds) if (program_.folds[static_cast<std::size_t>(fold)].ordered) return loop.weight <= 16 ? 4 : 1;
  return loop.weight <= 16 ? 4 : loop.weight <= 48 ? 2 : 1;
}

void KernelEmitter::emit_lane_accumulate(const Loop& loop, const Accumulate& item, const LaneAccess* access, Value* index, int steps, Value* mask) {
  const Fold& fold = program_.folds[static_cast<std::size_t>(item.fold)];
  FoldState& state = folds_[static_cast<std::size_t>(item.fold)];
  const bool along = fold.axis == loop.var.axis;
  std::vector<Value*> values;
  for (int step = 0; step < steps; ++step) {
    values.push_back(pack(item.value, step));
    if (along && mask) values.back() = b_.CreateSelect(mask, values.back(), constant_value(context_, unit(fold.accumulator, fold.dtype), lane_count));
  }
  if (along && state.nan) return accumulate_extreme(fold, state, values);
  for (int step = 0; step < steps; ++step) {
    Value* value = values[static_cast<std::size_t>(step)];
    if (along && state.registers.empty()) {                           // carried by the loop over blocks, which start at slot 0
      Value* acc = from_memory(b_.CreateLoad(memory_type(context_, fold.dtype, lane_count), state.cell), fold.dtype);
      b_.CreateStore(to_memory(emit_combine(b_, fold.accumulator, fold.dtype, acc, value), fold.dtype), state.cell);
    } else if (along) {
      auto* acc = state.registers[static_cast<std::size_t>(step) % state.registers.size()];
      b_.CreateStore(emit_combine(b_, fold.accumulator, fold.dtype, b_.CreateLoad(value->getType(), acc), value), acc);
    } else if (thin_) {
      auto& slots = thin_slots_[{&item, step}];
      slots.push_back(value);
      if (is_last_copy()) lane_store(*access, fold.dtype, index, step, mask, across_slots(fold, std::move(slots)));
      if (is_last_copy()) slots.clear();
    } else {
      Value* acc = is_first_copy() ? lane_load(*access, fold.dtype, index, step, mask) : jam_sums_.at({&item, step});
      Value* sum = emit_combine(b_, fold.accumulator, fold.dtype, acc, value);
      if (is_last_copy()) lane_store(*access, fold.dtype, index, step, mask, sum);
      else jam_sums_[{&item, step}] = sum;
    }
  }
}

void KernelEmitter::emit_lane_body(const Loop& loop, Value* index, int steps, Value* mask) {
  if (jam_.empty()) emit_lane_items(loop, index, steps, mask);
  else emit_jammed_items(loop, index, steps, mask);
}

// Long functions work on all steps at once, as one wide vector: their instructions alternate, and one branch serves all rare cases.
std::vector<Value*> KernelEmitter::emit_lane_compute(const Compute& compute, int steps) {
  const DType result = program_.values[static_cast<std::size_t>(compute.result)];
  std::vector<DType> dtypes;
  std::vector<std::vector<Value*>> operands;     // by step
  for (const Arg& arg : compute.args) dtypes.push_back(dtype_of_arg(arg));
  for (int step = 0; step < steps; ++step) {
    operands.emplace_back();
    for (const Arg& arg : compute.args) operands.back().push_back(pack(arg, step));
  }
  if (steps > 1 && op_cost(compute.op) >= long_function) {
    std::vector<Value*> wide;
    for (std::size_t k = 0; k < compute.args.size(); ++k) {
      std::vector<Value*> parts;
      for (const auto& of_step : operands) parts.push_back(of_step[k]);
      wide.push_back(llvm::concatenateVectors(b_, parts));
    }
    Value* all = emit_op(b_, compute.op, wide, dtypes, result, fast_math_);
    std::vector<Value*> made;
    for (int step = 0; step < steps; ++step) made.push_back(b_.CreateShuffleVector(all, llvm::createSequentialMask(step * lane_count, lane_count, 0)));
    return made;
  }
  const bool by_invariant = compute.op == Op::divide && is_invariant(compute.args[1]) && !is_invariant(compute.args[0]);
  std::vector<Value*> made;
  for (const auto& of_step : operands)
    made.push_back(by_invariant ? divide_by_invariant(of_step[0], compute.args[1]) : emit_op(b_, compute.op, of_step, dtypes, result, fast_math_));
  return made;
}

void KernelEmitter::emit_lane_items(const Loop& loop, Value* index, int steps, Value* mask) {
  for (const Item& item : loop.body) {
    if (auto* load = std::get_if<Load>(&item)) packs_[static_cast<std::size_t>(load->result)].clear();
    if (auto* compute = std::get_if<Compute>(&item)) packs_[static_cast<std::size_t>(compute->result)].clear();
  }
  for (const Item& item : loop.body) {
    const void* key = &item;
    if (auto* load = std::get_if<Load>(&item)) {
      const Buffer& buffer = program_.buffers[static_cast<std::size_t>(load->buffer)];
      std::vector<Value*> made;
      if (auto tile = tiles_.find(key); tile != tiles_.end()) {
        packs_[static_cast<std::size_t>(load->result)] = {from_memory(tile->second[jam_copy_], buffer.dtype)};
        continue;
      }
      for (int step = 0; step < steps; ++step) {
        if (buffer.place == Place::index) {
          Value* lanes = b_.CreateAdd(b_.CreateVectorSplat(lane_count, b_.CreateAdd(index, number(step * lane_count))), lane_numbers(64));
          Value* scaled = b_.CreateMul(lanes, b_.CreateVectorSplat(lane_count, number(load->at[0].step)));
          made.push_back(b_.CreateAdd(scaled, b_.CreateVectorSplat(lane_count, size(load->at[0].start))));
        } else if (load->guarded) {
          made.push_back(guarded_load(*load, index, step, mask));
        } else {
          made.push_back(lane_load(accesses_.at(key), buffer.dtype, index, step, mask));
        }
      }
      packs_[static_cast<std::size_t>(load->result)] = std::move(made);
    } else if (auto* compute = std::get_if<Compute>(&item)) {
      packs_[static_cast<std::size_t>(compute->result)] = emit_lane_compute(*compute, steps);
    } else if (auto* accumulate = std::get_if<Accumulate>(&item)) {
      auto access = accesses_.find(key);
      emit_lane_accumulate(loop, *accumulate, access == accesses_.end() ? nullptr : &access->second, index, steps, mask);
    } else if (auto* store = std::get_if<Store>(&item)) {
      const DType dtype = program_.buffers[static_cast<std::size_t>(store->buffer)].dtype;
      for (int step = 0; step < steps; ++step) lane_store(accesses_.at(key), dtype, index, step, mask, pack(store->value, step));
    }
  }
}

void KernelEmitter::emit_lane_range(const Loop& loop, Range range) {
  const int steps = interleave(loop), stride = steps * lane_count;
  Value* rest = range.begin;
  const Extent& extent = program_.axes[static_cast<std::size_t>(loop.var.axis)].extent;
  const bool whole = !program_.is_tiled(loop.var.axis) && extent.is_number() && extent.constant() % stride == 0;
  if (loop.weight <= masked_only) {
    Value* count = b_.CreateAnd(b_.CreateSub(range.end, range.begin), number(-stride));
    rest = b_.CreateAdd(range.begin, count);
    for_range(range.begin, rest, stride, "lanes", [&](Value* index) { emit_lane_body(loop, index, steps, nullptr); });
    if (whole) return;
  }
  for_range(rest, range.end, lane_count, "rest", [&](Value* index) {
    Value* left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(range.end, index), number(lane_count));
    Value* mask = b_.CreateICmpULT(lane_numbers(32), b_.CreateVectorSplat(lane_count, b_.CreateTrunc(left, b_.getInt32Ty())));
    emit_lane_body(loop, index, 1, mask);
  });
}

void KernelEmitter::emit_lanes(const Loop& loop) {
  const int axis = loop.var.axis;
  const Range range = range_of(axis);
  bool ordered = false;
  for (int fold : loop.folds) ordered |= program_.folds[static_cast<std::size_t>(fold)].ordered;
  const bool leaves = ordered && !fits_one_leaf(axis);
  open_folds(loop, leaves);
  axis_index_[static_cast<std::size_t>(axis)] = nullptr;
  open_accesses(loop);
  start_folds(loop, false);
  around_lanes([&] { fold_leaves(loop, range, leaves, [&](Range part) { emit_lane_range(loop, part); }); });
  close_folds(loop, range);
}

// A mark before the loops: values from outside are spread there.
void KernelEmitter::around_lanes(const std::function<void()>& loops) {
  auto* mark = b_.CreateAlloca(b_.getInt8Ty());
  before_lanes_ = mark;
  loops();
  mark->eraseFromParent();
  before_lanes_ = nullptr;
  for (auto& vectors : packs_) if (!vectors.empty()) vectors.clear();
}

}  // namespace weft
