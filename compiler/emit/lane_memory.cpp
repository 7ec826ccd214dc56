#include "lane_memory.h"

#include <llvm/IR/Intrinsics.h>

namespace weft {

using llvm::Value;

// The address without the lane axis' own term, made before the loop.
LaneAccess LaneMemory::lane_access(int number_of_buffer, const std::vector<Subscript>& at, int axis) {
  const Buffer& buffer = program_.buffer(number_of_buffer);
  LaneAccess access;
  if (const auto held = held_rows_.find(number_of_buffer); held != held_rows_.end()) {
    access.cells = &held->second;
    return access;
  }
  access.base = address(number_of_buffer, at, axis);
  access.lane = lane_class(number_of_buffer, at, axis);
  if (is_known(access.lane)) access.column = column_of(number_of_buffer, at, axis).value_or(-1);
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d].axis != axis) continue;
    access.lane_stride = stride_bytes(number_of_buffer, d);
    access.period = at[d].period;
    access.each = at[d].each;
    access.beside = class_of(buffer, d) == StrideClass::unit;
    if (at[d].is_linear() && at[d].step != 1) access.lane_stride = b_.CreateMul(number(at[d].step), access.lane_stride);
    if (buffer.place != Place::row || !is_floating(buffer.dtype) || access.lane != StrideClass::unit || !at[d].is_linear() || !at[d].start.is(0)) continue;
    // One row has room behind it; of several, each is as long as whole vectors are, or the next one follows.
    const auto is_whole = [&](int vectors) { return buffer.extents[d].is_number() && buffer.extents[d].constant() % (Index{vectors} * lane_count) == 0; };
    access.own = at.size() == 1 || is_whole(most_vectors);
    access.own_vectors = is_whole(1);
  }
  return access;
}

// The element of lane 0 in the vector step of this number, where the step of memory is known.
Value* LaneMemory::lane_address(const LaneAccess& access, DType dtype, Value* index, int step) {
  const Index apart = step_of(access.lane);
  llvm::Type* element = memory_type(context_, dtype, 1);
  Value* from = apart == 1 ? index : apart == -1 ? b_.CreateNeg(index) : b_.CreateMul(index, number(apart));
  return after(element, b_.CreateGEP(element, access.base, from), step * lane_count * apart);
}

// The first in memory of the elements of a vector step: the last lane if they run backwards.
Value* LaneMemory::lowest_address(const LaneAccess& access, DType dtype, Value* index, int step) {
  Value* first = lane_address(access, dtype, index, step);
  const Index apart = step_of(access.lane);
  return apart > 0 ? first : after(memory_type(context_, dtype, 1), first, (lane_count - 1) * apart);
}

Value* LaneMemory::any_address(const LaneAccess& access, Value* index, int step) {
  return b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(b_.CreateAdd(index, number(step * lane_count)), access.lane_stride));
}

// Byte offsets of sixteen elements.
Value* LaneMemory::lane_offsets(const LaneAccess& access, Value* index, int step) {
  Value* lanes = b_.CreateAdd(b_.CreateVectorSplat(lane_count, b_.CreateAdd(index, number(step * lane_count))), lane_numbers(64));
  return b_.CreateMul(lanes, b_.CreateVectorSplat(lane_count, access.lane_stride));
}

// The vector of a row in registers that an index, which is known, and a step name.
llvm::AllocaInst* LaneMemory::held_cell(const LaneAccess& access, Value* index, int step) {
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(index);
  WEFT_ASSERT(known, "a row in registers at an index that is not known");
  return access.cells->at(static_cast<std::size_t>(known->getSExtValue() / lane_count + step));
}

// Whether it needs no mask. A part has an element of its first vector.
static bool is_own(const LaneAccess& access, int step) { return access.own || (access.own_vectors && step == 0); }

Value* LaneMemory::lane_load(const LaneAccess& access, DType dtype, Value* index, int step, Value* mask) {
  if (access.cells) return b_.CreateLoad(register_type(context_, dtype, lane_count), held_cell(access, index, step));
  if (is_own(access, step)) mask = nullptr;
  const llvm::Align align(size_of(dtype));
  if (access.period > 0) {
    const auto load = [&] { return repeated_load(access, dtype, b_.CreateAdd(index, number(step * lane_count))); };
    if (!access.alone) return load();
    auto* cell = stack_cell(access.one->getType(), "operand");
    b_.CreateStore(access.one, cell);
    if_then(b_.CreateNot(access.alone), "repeats", [&] { b_.CreateStore(load(), cell); });
    return b_.CreateLoad(cell->getAllocatedType(), cell);
  }
  if (access.lane == StrideClass::zero) return from_memory(b_.CreateVectorSplat(lane_count, b_.CreateAlignedLoad(memory_type(context_, dtype, 1), access.base, align)), dtype);
  llvm::Type* type = memory_type(context_, dtype, lane_count);
  if (is_known(access.lane) && (!mask || (lies_by_steps(access) && !masks_by_branches(dtype)))) {
    Value* first = lane_address(access, dtype, index, step);
    fetch_beside(access, dtype, first, step);
    const bool whole_rows = access.column >= 0 && !mask;
    return from_memory(whole_rows ? load_column(dtype, first, step_of(access.lane), access.column) : load_steps(dtype, first, step_of(access.lane), lane_count, mask), dtype);
  }
  if (is_dense(access.lane)) {
    const bool backwards = access.lane == StrideClass::reversed;
    Value* first = lowest_address(access, dtype, index, step);
    fetch_beside(access, dtype, first, step);
    Value* value = load_part(type, first, dtype, mask, backwards);
    return from_memory(backwards ? reverse(value) : value, dtype);
  }
  if (!scatters(dtype)) return from_memory(load_each(dtype, any_address(access, index, step), access.lane_stride, mask, lane_count), dtype);
  return gather(b_.CreateGEP(b_.getInt8Ty(), access.base, lane_offsets(access, index, step)), dtype, mask);
}

void LaneMemory::lane_store(const LaneAccess& access, DType dtype, Value* index, int step, Value* mask, Value* value) {
  if (access.cells) {
    b_.CreateStore(value, held_cell(access, index, step));
    return;
  }
  WEFT_ASSERT(access.lane != StrideClass::zero, "a store cannot hit one element from all lanes");
  const llvm::Align align(size_of(dtype));
  if (is_own(access, step)) mask = nullptr;
  value = to_memory(value, dtype);
  if (is_dense(access.lane)) {
    const bool backwards = access.lane == StrideClass::reversed;
    if (backwards) value = reverse(value);
    Value* at = lowest_address(access, dtype, index, step);
    if (mask) store_part(value, at, dtype, mask, backwards);
    else if (access.stream) store_past_caches(value, at);
    else {
      if (access.next_row) fetch_lines(at, access.next_row, lane_count * item_bytes(dtype), true, true);
      b_.CreateAlignedStore(value, at, align);
    }
  } else if (!scatters(dtype)) {
    store_each(value, dtype, any_address(access, index, step), access.lane_stride, mask);
  } else {
    Value* at = b_.CreateGEP(b_.getInt8Ty(), access.base, lane_offsets(access, index, step));
    Value* all = llvm::Constant::getAllOnesValue(register_type(context_, DType::bool_, lane_count));
    b_.CreateMaskedScatter(value, at, align, mask ? mask : all);
  }
}

}  // namespace weft
