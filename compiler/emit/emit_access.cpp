#include <algorithm>

#include "emit_half.h"
#include "emit_kernel.h"

namespace weft {

using llvm::Value;

Value* KernelEmitter::sizes_entry(int entry) {
  Value*& value = size_values_[entry];
  if (!value) value = entry_.CreateLoad(b_.getInt64Ty(), entry_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), function_->getArg(1), static_cast<std::uint64_t>(entry)));
  return value;
}

Value* KernelEmitter::size(const Extent& extent) {
  if (extent.is_number()) return number(extent.constant());
  return sizes_entry(plan_.sizes.add(extent));
}

Value* KernelEmitter::slot_base(int slot) {
  if (slot_bases_.size() <= static_cast<std::size_t>(slot)) slot_bases_.resize(static_cast<std::size_t>(slot) + 1, nullptr);
  Value*& base = slot_bases_[static_cast<std::size_t>(slot)];
  if (!base) base = entry_.CreateLoad(b_.getPtrTy(), entry_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), function_->getArg(0), static_cast<std::uint64_t>(slot)));
  return base;
}

// Room in the scratch of a thread for `copies` rows of the buffer's elements: its offset.
Extent KernelEmitter::reserve_rows(int buffer, Index copies) {
  const Buffer& row = program_.buffers[static_cast<std::size_t>(buffer)];
  const Extent offset = scratch_;
  const Index bytes = static_cast<Index>(size_of(row.dtype)), beyond = most_vectors * lane_count * bytes;      // whole steps of vectors may end behind it
  scratch_ = scratch_ + floor_div(row_elements(row) * Extent(bytes * copies) + (beyond + line_bytes - 1), line_bytes) * Extent(line_bytes);
  return offset;
}

// Computed where it is used: thousands of rows must not live in registers through the whole function.
Value* KernelEmitter::scratch_at(const Extent& offset) { return b_.CreateInBoundsGEP(b_.getInt8Ty(), function_->getArg(4), size(offset)); }

Value* KernelEmitter::base_of(int number_of_buffer) {
  const auto k = static_cast<std::size_t>(number_of_buffer);
  const Buffer& buffer = program_.buffers[k];
  if (buffer.place == Place::row) {
    if (!row_offsets_[k]) row_offsets_[k] = reserve_rows(number_of_buffer, 1);
    Value* row = scratch_at(*row_offsets_[k]);
    const auto shift = row_shifts_.find(number_of_buffer);
    return shift == row_shifts_.end() ? row : b_.CreateGEP(b_.getInt8Ty(), row, shift->second);
  }
  return slot_base(slots_[k]);
}

Value* KernelEmitter::stride_bytes(const Buffer& buffer, int slot, std::size_t dim) {
  const Index bytes = static_cast<Index>(size_of(buffer.dtype));
  if (buffer.place == Place::argument || buffer.place == Place::result) {
    const StrideClass stride = class_of(buffer, dim);
    return is_known(stride) ? number(step_of(stride) * bytes) : sizes_entry(plan_.sizes.stride(slot, static_cast<int>(dim)));
  }
  Extent stride = bytes;
  const bool c = buffer.order == Order::c;
  for (std::size_t d = c ? dim + 1 : 0; d < (c ? buffer.extents.size() : dim); ++d) stride = stride * buffer.extents[d];
  return size(stride);
}

// Copies of a body that run side by side differ by numbers: those stay apart, so that the rest is common to all, and they become
// displacements of instructions.
KernelEmitter::Position KernelEmitter::position_of(const Buffer& buffer, const Subscript& subscript, int skip_axis) {
  const bool relative = subscript.axis >= 0 && buffer.place == Place::row && program_.per_root(subscript.axis) > 0;
  Position position;
  if (subscript.axis >= 0 && subscript.axis != skip_axis) {
    position.variable = axis_index_[static_cast<std::size_t>(subscript.axis)];
    if (subscript.period > 0) return {b_.CreateURem(position.variable, number(subscript.period)), 0};
    if (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(position.variable); sum && sum->getOpcode() == llvm::Instruction::Add)
      if (auto* apart = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1))) {
        position.variable = sum->getOperand(0);
        position.constant = apart->getSExtValue() * subscript.step;
      }
  }
  if (relative) {
    Value* begin = range_of(subscript.axis).begin;
    position.variable = position.variable ? b_.CreateSub(position.variable, begin) : b_.CreateNeg(begin);
  }
  if (position.variable && subscript.step != 1 && subscript.axis != skip_axis) position.variable = b_.CreateMul(position.variable, number(subscript.step));
  if (subscript.start.is_number()) position.constant += subscript.start.constant();
  else position.variable = position.variable ? b_.CreateAdd(size(subscript.start), position.variable) : size(subscript.start);
  return position;
}

// The address at the current iteration; the term of `skip_axis` is left out, but not its start.
Value* KernelEmitter::address(int number_of_buffer, const std::vector<Subscript>& at, int skip_axis) {
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(number_of_buffer)];
  Value *base = base_of(number_of_buffer), *offset = number(0);
  Index constant = 0;                   // in bytes
  for (std::size_t d = 0; d < at.size(); ++d) {
    Value* stride = stride_bytes(buffer, slots_[static_cast<std::size_t>(number_of_buffer)], d);
    Position position = position_of(buffer, at[d], skip_axis);
    if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(stride)) constant += position.constant * known->getSExtValue();
    else if (position.constant != 0) position.variable = position.variable ? b_.CreateAdd(position.variable, number(position.constant)) : number(position.constant);
    if (position.variable) offset = b_.CreateAdd(offset, b_.CreateMul(position.variable, stride));
  }
  if (buffer.place == Place::partial)
    offset = b_.CreateAdd(offset, b_.CreateMul(unit_, size(row_elements(buffer) * Extent(static_cast<Index>(size_of(buffer.dtype))))));
  Value* at_first = b_.CreateGEP(b_.getInt8Ty(), base, offset);
  return constant == 0 ? at_first : b_.CreateConstGEP1_64(b_.getInt8Ty(), at_first, static_cast<std::uint64_t>(constant));
}

Value* KernelEmitter::scalar_load(const Load& load) {
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(load.buffer)];
  if (buffer.place == Place::extent) return size(buffer.size);
  if (buffer.place == Place::index) {
    const Subscript& s = load.at[0];
    Value* index = s.axis < 0 ? number(0) : axis_index_[static_cast<std::size_t>(s.axis)];
    return b_.CreateAdd(size(s.start), b_.CreateMul(index, number(s.step)));
  }
  if (load.guarded) return guarded_load(load, nullptr, 0, nullptr);
  auto* value = b_.CreateAlignedLoad(memory_type(context_, buffer.dtype, 1), address(load.buffer, load.at), llvm::Align(size_of(buffer.dtype)));
  // A scalar that an earlier nest made is nobody else's memory: it, and what is made of it alone, is hoisted from the loop over all elements.
  const bool is_fixed = std::all_of(load.at.begin(), load.at.end(), [](const Subscript& s) { return s.axis < 0; });
  if (buffer.place == Place::temporary && is_fixed && !is_written_[static_cast<std::size_t>(load.buffer)])
    value->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  return from_memory(value, buffer.dtype);
}

void KernelEmitter::scalar_store(const Store& store) {
  const Buffer& buffer = program_.buffers[static_cast<std::size_t>(store.buffer)];
  b_.CreateAlignedStore(to_memory(scalar(store.value), buffer.dtype), address(store.buffer, store.at), llvm::Align(size_of(buffer.dtype)));
}

DType KernelEmitter::dtype_of_arg(const Arg& arg) const {
  return arg.constant ? arg.constant->dtype() : program_.values[static_cast<std::size_t>(arg.value)];
}

Value* KernelEmitter::scalar(const Arg& arg) {
  if (arg.constant) return constant_value(context_, *arg.constant, 1);
  Value* value = scalars_[static_cast<std::size_t>(arg.value)];
  WEFT_ASSERT(value, "value ", arg.value, " of ", program_.name, " is used before it is made");
  return value;
}

// One vector of a value inside a lanes loop; scalars from outside are spread once, before the loop.
Value* KernelEmitter::pack(const Arg& arg, int step) {
  if (arg.constant) return constant_value(context_, *arg.constant, lane_count);
  const auto& vectors = packs_[static_cast<std::size_t>(arg.value)];
  if (!vectors.empty()) return vectors[static_cast<std::size_t>(step)];
  Value*& spread = spread_[arg.value];
  if (!spread) {
    llvm::IRBuilder<> before(before_lanes_);
    spread = before.CreateVectorSplat(lane_count, scalar(arg));
  }
  return spread;
}

}  // namespace weft
