// Innermost loops as vectors: whole steps of 16 lanes (several interleaved), then masked steps for the rest.
#include <llvm/IR/Intrinsics.h>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {
constexpr int masked_only = 160;      // bodies so large are emitted once, with masks: compile time counts more
}

// How many vectors run side by side: hides latencies of short bodies.
int KernelEmitter::interleave(const Loop& loop) const {
  if (loop.weight > masked_only) return 1;
  for (int fold : loop.folds) if (program_.folds[static_cast<std::size_t>(fold)].ordered) return loop.weight <= 16 ? 4 : 1;
  return loop.weight <= 16 ? 4 : loop.weight <= 48 ? 2 : 1;
}

Value* KernelEmitter::lane_numbers(int bits) {
  std::vector<llvm::Constant*> numbers;
  for (int k = 0; k < lane_count; ++k) numbers.push_back(llvm::ConstantInt::get(b_.getIntNTy(static_cast<unsigned>(bits)), static_cast<std::uint64_t>(k)));
  return llvm::ConstantVector::get(numbers);
}

Value* KernelEmitter::reverse(Value* vector) {
  std::vector<int> order;
  for (int k = lane_count - 1; k >= 0; --k) order.push_back(k);
  return b_.CreateShuffleVector(vector, order);
}

// Where units are single rows, the first loop over a row fetches the next one: several loops then run over it from cache,
// and the hardware's own prefetching stops at the end of a row. A fetch beyond the array does nothing.
Value* KernelEmitter::next_row_of(const Load& load) {
  const auto k = static_cast<std::size_t>(load.buffer);
  const Buffer& buffer = program_.buffers[k];
  const LoopVar& root = program_.root.var;
  if (program_.root.mark != Mark::units || root.splits() || fetched_[k] || (buffer.place != Place::argument && buffer.place != Place::temporary)) return nullptr;
  for (std::size_t d = 0; d < load.at.size(); ++d) {
    if (load.at[d].axis != root.axis) continue;
    fetched_[k] = true;
    return b_.CreateMul(number(load.at[d].step), stride_bytes(buffer, slots_[k], d));
  }
  return nullptr;
}

// The address without the lane axis' own term, made before the loop.
LaneAccess KernelEmitter::lane_access(int number_of_buffer, const std::vector<Subscript>& at, int axis) {
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(number_of_buffer)];
  LaneAccess access;
  access.base = address(number_of_buffer, at, axis);
  access.lane = StrideClass::zero;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d].axis != axis) continue;
    const StrideClass stride = class_of(buffer, d);
    const bool plus = at[d].step == 1, minus = at[d].step == -1;
    if (stride == StrideClass::zero) access.lane = StrideClass::zero;
    else if ((stride == StrideClass::unit && plus) || (stride == StrideClass::reversed && minus)) access.lane = StrideClass::unit;
    else if ((stride == StrideClass::unit && minus) || (stride == StrideClass::reversed && plus)) access.lane = StrideClass::reversed;
    else {
      access.lane = StrideClass::other;
      access.lane_stride = b_.CreateMul(number(at[d].step), stride_bytes(buffer, slots_[static_cast<std::size_t>(number_of_buffer)], d));
    }
  }
  return access;
}

// Byte offsets of sixteen elements.
Value* KernelEmitter::lane_offsets(const LaneAccess& access, Value* index, int step) {
  Value* lanes = b_.CreateAdd(b_.CreateVectorSplat(lane_count, b_.CreateAdd(index, number(step * lane_count))), lane_numbers(64));
  return b_.CreateMul(lanes, b_.CreateVectorSplat(lane_count, access.lane_stride));
}

Value* KernelEmitter::lane_load(const LaneAccess& access, DType dtype, Value* index, int step, Value* mask) {
  llvm::Type* type = memory_type(context_, dtype, lane_count);
  llvm::Type* element = memory_type(context_, dtype, 1);
  const llvm::Align align(size_of(dtype));
  Value* none = llvm::Constant::getNullValue(type);
  switch (access.lane) {
    case StrideClass::unit: {
      Value* at = b_.CreateConstGEP1_64(element, b_.CreateGEP(element, access.base, index), static_cast<std::uint64_t>(step * lane_count));
      for (std::size_t line = 0; access.next_row && !mask && line < lane_count * size_of(dtype); line += 64) {
        Value* ahead = b_.CreateGEP(b_.getInt8Ty(), at, b_.CreateAdd(access.next_row, number(static_cast<Index>(line))));
        b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()}, {ahead, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
      }
      return from_memory(mask ? static_cast<Value*>(b_.CreateMaskedLoad(type, at, align, mask, none)) : b_.CreateAlignedLoad(type, at, align), dtype);
    }
    case StrideClass::reversed: {
      Value* first = b_.CreateNeg(b_.CreateAdd(index, number(step * lane_count + lane_count - 1)));
      Value* at = b_.CreateGEP(element, access.base, first);
      Value* value = mask ? static_cast<Value*>(b_.CreateMaskedLoad(type, at, align, reverse(mask), none)) : static_cast<Value*>(b_.CreateAlignedLoad(type, at, align));
      return from_memory(reverse(value), dtype);
    }
    case StrideClass::zero: return from_memory(b_.CreateVectorSplat(lane_count, b_.CreateAlignedLoad(element, access.base, align)), dtype);
    case StrideClass::other: break;
  }
  Value* at = b_.CreateGEP(b_.getInt8Ty(), access.base, lane_offsets(access, index, step));
  Value* all = llvm::Constant::getAllOnesValue(register_type(context_, DType::bool_, lane_count));
  return from_memory(b_.CreateMaskedGather(type, at, align, mask ? mask : all, none), dtype);
}

void KernelEmitter::lane_store(const LaneAccess& access, DType dtype, Value* index, int step, Value* mask, Value* value) {
  llvm::Type* element = memory_type(context_, dtype, 1);
  const llvm::Align align(size_of(dtype));
  value = to_memory(value, dtype);
  if (access.lane == StrideClass::unit) {
    Value* at = b_.CreateConstGEP1_64(element, b_.CreateGEP(element, access.base, index), static_cast<std::uint64_t>(step * lane_count));
    if (mask) b_.CreateMaskedStore(value, at, align, mask);
    else if (access.stream) store_past_caches(value, at);
    else b_.CreateAlignedStore(value, at, align);
  } else if (access.lane == StrideClass::reversed) {
    Value* at = b_.CreateGEP(element, access.base, b_.CreateNeg(b_.CreateAdd(index, number(step * lane_count + lane_count - 1))));
    if (mask) b_.CreateMaskedStore(reverse(value), at, align, reverse(mask));
    else b_.CreateAlignedStore(reverse(value), at, align);
  } else {
    WEFT_ASSERT(access.lane == StrideClass::other, "a store cannot hit one element from all lanes");
    Value* at = b_.CreateGEP(b_.getInt8Ty(), access.base, lane_offsets(access, index, step));
    Value* all = llvm::Constant::getAllOnesValue(register_type(context_, DType::bool_, lane_count));
    b_.CreateMaskedScatter(value, at, align, mask ? mask : all);
  }
}

// A window read backwards: the element w with axis == start + step * w on every axis, zero where there is none.
// `index` null: scalar, at the current iteration.
Value* KernelEmitter::guarded_load(const Load& load, Value* index, int step, Value* mask) {
  const Buffer& window = program_.buffers[static_cast<std::size_t>(load.buffer)];
  const int slot = slots_[static_cast<std::size_t>(load.buffer)], width = index ? lane_count : 1;
  auto wide = [&](Value* value) { return width > 1 ? b_.CreateVectorSplat(lane_count, value) : value; };
  Value* valid = mask ? mask : llvm::Constant::getAllOnesValue(register_type(context_, DType::bool_, width));
  Value* offset = wide(number(0));
  for (const Subscript& s : load.at) {
    Value* at = wide(number(0));
    if (s.axis >= 0) {
      Value* current = axis_index_[static_cast<std::size_t>(s.axis)];
      at = current ? wide(current) : b_.CreateAdd(wide(b_.CreateAdd(index, number(step * lane_count))), lane_numbers(64));
    }
    Value* distance = b_.CreateSub(at, wide(size(s.start)));
    if (s.dim < 0) { valid = b_.CreateAnd(valid, b_.CreateICmpEQ(distance, wide(number(0)))); continue; }
    if (s.step != 1) {
      Value* steps = wide(number(s.step));
      valid = b_.CreateAnd(valid, b_.CreateICmpEQ(b_.CreateSRem(distance, steps), wide(number(0))));
      distance = b_.CreateSDiv(distance, steps);
    }
    const auto dim = static_cast<std::size_t>(s.dim);
    valid = b_.CreateAnd(valid, b_.CreateICmpULT(distance, wide(size(window.extents[dim]))));
    offset = b_.CreateAdd(offset, b_.CreateMul(distance, wide(stride_bytes(window, slot, dim))));
  }
  const llvm::Align align(size_of(window.dtype));
  llvm::Type* type = memory_type(context_, window.dtype, width);
  Value* none = llvm::Constant::getNullValue(type);
  Value* base = base_of(load.buffer);
  if (width > 1) return from_memory(b_.CreateMaskedGather(type, b_.CreateGEP(b_.getInt8Ty(), base, offset), align, valid, none), window.dtype);
  // A masked load of one lane: nothing is read where the window has no element.
  auto* one = llvm::FixedVectorType::get(type, 1);
  Value* guard = b_.CreateInsertElement(llvm::Constant::getNullValue(llvm::FixedVectorType::get(b_.getInt1Ty(), 1)), valid, std::uint64_t{0});
  Value* value = b_.CreateMaskedLoad(one, b_.CreateGEP(b_.getInt8Ty(), base, offset), align, guard, llvm::Constant::getNullValue(one));
  return from_memory(b_.CreateExtractElement(value, std::uint64_t{0}), window.dtype);
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
    } else {
      Value* acc = lane_load(*access, fold.dtype, index, step, mask);
      lane_store(*access, fold.dtype, index, step, mask, emit_combine(b_, fold.accumulator, fold.dtype, acc, value));
    }
  }
}

void KernelEmitter::emit_lane_body(const Loop& loop, Value* index, int steps, Value* mask) {
  for (const Item& item : loop.body) {
    if (auto* load = std::get_if<Load>(&item)) packs_[static_cast<std::size_t>(load->result)].clear();
    if (auto* compute = std::get_if<Compute>(&item)) packs_[static_cast<std::size_t>(compute->result)].clear();
  }
  for (const Item& item : loop.body) {
    const void* key = &item;
    if (auto* load = std::get_if<Load>(&item)) {
      const Buffer& buffer = program_.buffers[static_cast<std::size_t>(load->buffer)];
      std::vector<Value*> made;
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
      const DType result = program_.values[static_cast<std::size_t>(compute->result)];
      std::vector<Value*> made;
      std::vector<DType> dtypes;
      for (const Arg& arg : compute->args) dtypes.push_back(dtype_of_arg(arg));
      for (int step = 0; step < steps; ++step) {
        std::vector<Value*> operands;
        for (const Arg& arg : compute->args) operands.push_back(pack(arg, step));
        const bool by_invariant = compute->op == Op::divide && is_invariant(compute->args[1]) && !is_invariant(compute->args[0]);
        made.push_back(by_invariant ? divide_by_invariant(operands[0], compute->args[1]) : emit_op(b_, compute->op, operands, dtypes, result, fast_math_));
      }
      packs_[static_cast<std::size_t>(compute->result)] = std::move(made);
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
  accesses_.clear();
  spread_.clear();
  divisors_.clear();
  bool past_caches = false;
  for (const Item& item : loop.body) {
    if (auto* load = std::get_if<Load>(&item)) {
      const Place place = program_.buffers[static_cast<std::size_t>(load->buffer)].place;
      if (place != Place::index && !load->guarded) {
        accesses_[&item] = lane_access(load->buffer, load->at, axis);
        accesses_[&item].next_row = next_row_of(*load);
      }
      if (load->guarded) base_of(load->buffer);
    } else if (auto* store = std::get_if<Store>(&item)) {
      LaneAccess access = lane_access(store->buffer, store->at, axis);
      access.stream = streams(*store, access, axis);
      past_caches |= access.stream;
      accesses_[&item] = access;
    } else if (auto* accumulate = std::get_if<Accumulate>(&item)) {
      const Fold& fold = program_.folds[static_cast<std::size_t>(accumulate->fold)];
      if (fold.axis == axis) continue;
      const FoldState& state = folds_[static_cast<std::size_t>(accumulate->fold)];
      std::vector<Subscript> at;
      for (int row_axis : fold.row_axes) at.push_back({row_axis, 0, 1, -1});
      LaneAccess access = lane_access(fold.row, at, axis);
      Value* slot = b_.CreateMul(b_.CreateMul(fold_slot(fold, state), state.elements), number(static_cast<Index>(size_of(fold.dtype))));
      access.base = b_.CreateGEP(b_.getInt8Ty(), access.base, slot);
      accesses_[&item] = access;
    }
  }
  if (past_caches) fetch_ahead(loop);
  start_folds(loop, false);
  // A mark before the loops: values from outside are spread there.
  auto* mark = b_.CreateAlloca(b_.getInt8Ty());
  before_lanes_ = mark;
  fold_leaves(loop, range, leaves, [&](Range part) { emit_lane_range(loop, part); });
  mark->eraseFromParent();
  before_lanes_ = nullptr;
  for (auto& vectors : packs_) if (!vectors.empty()) vectors.clear();
  close_folds(loop, range);
}

}  // namespace weft
