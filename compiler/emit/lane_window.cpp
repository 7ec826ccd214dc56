// Windows read backwards: what updates write into a part of an array, as concatenation and padding do, and gradients of slices. An element of
// the window is where axis == start + step * w on every axis; where there is none, zero is read.
#include <llvm/IR/Intrinsics.h>

#include "lane_memory.h"
#include "program/index_conditions.h"

namespace weft {

using llvm::Value;

// The one subscript of the vector loop, if its neighbours are neighbours in memory: the elements of a vector that the window has follow each other.
const Subscript* LaneMemory::run_in_window(const Load& load) const {
  const Buffer& window = program_.buffer(load.buffer);
  const Subscript* only = nullptr;
  for (const Subscript& s : load.at) {
    if (s.axis < 0 || axis_index_[static_cast<std::size_t>(s.axis)]) continue;
    if (only) return nullptr;
    only = &s;
  }
  const bool is_run = only && only->dim >= 0 && only->step == 1 && class_of(window, static_cast<std::size_t>(only->dim)) == StrideClass::unit;
  return is_run && !masks_by_branches(window.dtype) ? only : nullptr;
}

// `index` null: scalar, at the current iteration.
Value* LaneMemory::guarded_load(const Load& load, Value* index, int step, Value* mask) {
  const Buffer& window = program_.buffer(load.buffer);
  const Subscript* run = index ? run_in_window(load) : nullptr;
  const int width = index && !run ? lane_count : 1;
  auto wide = [&](Value* value) { return width > 1 ? b_.CreateVectorSplat(lane_count, value) : value; };
  Value* valid = width > 1 && mask ? mask : llvm::Constant::getAllOnesValue(register_type(context_, DType::bool_, width));
  // Of all lanes; of the first, and from each to the next. Taken out of the vector, the first is computed as one: blurs of bytes took 1.1 to 1.25 times as long.
  Value *offset = wide(number(0)), *first_offset = number(0), *lane_step = number(0);
  bool in_steps = true;
  for (const Subscript& s : load.at) {
    if (&s == run) continue;
    Value *first = number(0), *at = wide(first);
    const bool along_lanes = s.axis >= 0 && !axis_index_[static_cast<std::size_t>(s.axis)];
    if (s.axis >= 0) {
      first = along_lanes ? b_.CreateAdd(index, number(step * lane_count)) : axis_index_[static_cast<std::size_t>(s.axis)];
      at = along_lanes ? b_.CreateAdd(wide(first), lane_numbers(64)) : wide(first);
    }
    Value* distance = b_.CreateSub(at, wide(size(s.start)));
    const bool everywhere = has_every_index(program_, load, s);
    const auto require = [&](Value* condition) { if (!everywhere) valid = b_.CreateAnd(valid, condition); };
    if (s.dim < 0) { require(b_.CreateICmpEQ(distance, wide(number(0)))); continue; }
    if (s.step != 1) {
      Value* steps = wide(number(s.step));
      require(b_.CreateICmpEQ(b_.CreateSRem(distance, steps), wide(number(0))));
      distance = b_.CreateSDiv(distance, steps);
    }
    const auto dim = static_cast<std::size_t>(s.dim);
    require(b_.CreateICmpULT(distance, wide(size(elements_of_window(program_, load, s)))));
    Value* stride = stride_bytes(load.buffer, dim);
    offset = b_.CreateAdd(offset, b_.CreateMul(distance, wide(stride)));
    if (width == 1) continue;
    in_steps &= !along_lanes || s.step == 1;
    if (along_lanes) lane_step = b_.CreateAdd(lane_step, stride);
    first_offset = b_.CreateAdd(first_offset, b_.CreateMul(b_.CreateSDiv(b_.CreateSub(first, size(s.start)), number(s.step)), stride));
  }
  Value* base = base_of(load.buffer);
  if (run) return load_run_of_window(load, *run, b_.CreateAdd(index, number(step * lane_count)), base, offset, valid, mask);
  const llvm::Align align(size_of(window.dtype));
  if (width > 1 && in_steps && !scatters(window.dtype) && !llvm::isa<llvm::Constant>(valid)) return gather_steps(b_.CreateGEP(b_.getInt8Ty(), base, first_offset), lane_step, window.dtype, valid);
  if (width > 1) return gather(b_.CreateGEP(b_.getInt8Ty(), base, offset), window.dtype, valid);
  // A masked load of one lane: nothing is read where the window has no element.
  auto* one = llvm::FixedVectorType::get(memory_type(context_, window.dtype, 1), 1);
  Value* guard = b_.CreateInsertElement(llvm::Constant::getNullValue(llvm::FixedVectorType::get(b_.getInt1Ty(), 1)), valid, std::uint64_t{0});
  Value* value = b_.CreateMaskedLoad(one, b_.CreateGEP(b_.getInt8Ty(), base, offset), align, guard, llvm::Constant::getNullValue(one));
  return from_memory(b_.CreateExtractElement(value, std::uint64_t{0}), window.dtype);
}

// A vector whose lanes lie side by side, `offset` bytes further than the window's first along the others. Lanes that the window does not have are
// masked; where it has none of them, the address is one that is there: processors take hundreds of cycles for a masked load of a page that is
// not. The window's first element need not be: nests that slide have some lines of an array.
Value* LaneMemory::load_run_of_window(const Load& load, const Subscript& run, Value* first, Value* base, Value* offset, Value* valid, Value* mask) {
  const Buffer& window = program_.buffer(load.buffer);
  const Extent count = elements_of_window(program_, load, run);
  const Extent beyond = run.start + count - program_.axis(run.axis).extent;
  const bool begins_before = run.inside || (run.start.is_number() && run.start.constant() <= 0), ends_after = run.inside || (beyond.is_number() && beyond.constant() >= 0);
  Value *far = b_.CreateSub(first, size(run.start)), *lanes = mask;
  Value* places = b_.CreateAdd(b_.CreateVectorSplat(lane_count, far), lane_numbers(64));
  const auto take = [&](Value* taken, Value* any) {
    lanes = lanes ? b_.CreateAnd(lanes, taken) : taken;
    valid = b_.CreateAnd(valid, any);
  };
  if (!begins_before) take(b_.CreateICmpSGE(places, b_.CreateVectorSplat(lane_count, number(0))), b_.CreateICmpSGT(far, number(-lane_count)));
  if (!ends_after) take(b_.CreateICmpSLT(places, b_.CreateVectorSplat(lane_count, size(count))), b_.CreateICmpSLT(far, size(count)));
  const auto bytes = item_bytes(window.dtype);
  llvm::Type* type = memory_type(context_, window.dtype, lane_count);
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(valid);
  if (known && known->isZero()) return from_memory(llvm::Constant::getNullValue(type), window.dtype);   // at an index that code knows
  if (!known) {
    Value* all = b_.CreateVectorSplat(lane_count, valid);
    lanes = lanes ? b_.CreateAnd(lanes, all) : all;
  }
  Value* slots = function_->getArg(0);
  Value* at = b_.CreateSelect(valid, b_.CreateGEP(b_.getInt8Ty(), base, b_.CreateAdd(offset, b_.CreateMul(far, number(bytes)))), slots);
  const llvm::Align align(static_cast<std::uint64_t>(bytes));
  if (!lanes) return from_memory(b_.CreateAlignedLoad(type, at, align), window.dtype);
  return from_memory(b_.CreateMaskedLoad(type, at, align, lanes, llvm::Constant::getNullValue(type)), window.dtype);
}

}  // namespace weft
