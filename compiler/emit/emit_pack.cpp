// Operands that all rows of a block share are packed for many blocks, leaf by leaf: the vectors of a slot follow each other, whatever lies between
// them in their array. Walked as they are, rows of 1024 floats lie in few sets of a cache, each on a page of its own.
#include "emit_register_blocks.h"
#include "transpose.h"

namespace weft {

using llvm::Value;

// In a leaf, at most.
Value* KernelEmitter::elements_of_slot(Range leaf) {
  return b_.CreateLShr(b_.CreateAdd(b_.CreateSub(leaf.end, leaf.begin), number(fold_slots - 1)), number(slot_levels - 1));
}

void KernelEmitter::pack_operands(Block& block, Range along, Value* index, int steps, const Masks& masks) {
  if_then(block.is_packed, "pack", [&] {
    axis_index_[block.fold_axis()] = along.begin;
    for (const BlockOperand& operand : block.operands) {
      if (!operand.packed) continue;
      const Load& load = *operand.load;
      const bool is_across = lies_along(load.buffer, load.at, block.fold.var.axis) && !lies_along(load.buffer, load.at, block.lanes.var.axis);
      is_across ? pack_across(block, operand, along, index, steps) : pack_vectors(block, operand, along, index, steps, masks);
    }
    axis_index_[block.fold_axis()] = nullptr;
  });
}

// Slot after slot.
void KernelEmitter::pack_vectors(const Block& block, const BlockOperand& operand, Range along, Value* index, int steps, const Masks& masks) {
  const Load& load = *operand.load;
  const DType dtype = program_.buffers[static_cast<std::size_t>(load.buffer)].dtype;
  const Index bytes = static_cast<Index>(size_of(dtype)), pitch = block.panel * lane_count * bytes;
  LaneAccess access = lane_access(load.buffer, load.at, block.lanes.var.axis);
  Value *base = access.base, *stride = stride_along(load.buffer, load.at, block.fold.var.axis), *of_slot = elements_of_slot(along);
  for_range(number(0), number(fold_slots), 1, "pack.slot", [&](Value* slot) {
    Value* begin = b_.CreateGEP(b_.getInt8Ty(), operand.packed, b_.CreateMul(slot, b_.CreateMul(of_slot, number(pitch))));
    for_range(slot, b_.CreateSub(along.end, along.begin), fold_slots, "pack", [&](Value* element) {
      access.base = b_.CreateGEP(b_.getInt8Ty(), base, b_.CreateMul(element, stride));
      Value* to = b_.CreateGEP(b_.getInt8Ty(), begin, b_.CreateMul(b_.CreateLShr(element, number(slot_levels - 1)), number(pitch)));
      for (int step = 0; step < steps; ++step)
        b_.CreateAlignedStore(to_memory(lane_load(access, dtype, index, step, mask_of(masks, step)), dtype),
                              b_.CreateConstGEP1_64(b_.getInt8Ty(), to, static_cast<std::uint64_t>(step * lane_count * bytes)), llvm::Align(static_cast<std::uint64_t>(bytes)));
    });
  }, true);
}

// Neighbours along the fold lie side by side: squares of sixteen of them and of a vector are transposed in registers. What is behind the
// last element goes where nothing is read.
void KernelEmitter::pack_across(const Block& block, const BlockOperand& operand, Range along, Value* index, int steps) {
  const Load& load = *operand.load;
  const DType dtype = program_.buffers[static_cast<std::size_t>(load.buffer)].dtype;
  const Index bytes = static_cast<Index>(size_of(dtype)), pitch = block.panel * lane_count * bytes;
  const llvm::Align align(static_cast<std::uint64_t>(bytes));
  const LaneAccess access = lane_access(load.buffer, load.at, block.lanes.var.axis);
  Value *of_slot = elements_of_slot(along), *count = b_.CreateSub(along.end, along.begin), *whole = b_.CreateAnd(count, number(-fold_slots));
  llvm::Type* type = memory_type(context_, dtype, lane_count);
  for_range(number(0), number(steps), 1, "pack.vector", [&](Value* vector) {
    Value* first = b_.CreateAdd(index, b_.CreateMul(vector, number(lane_count)));
    std::vector<Value*> lines;
    for (int lane = 0; lane < lane_count; ++lane) lines.push_back(row_at(lines.empty() ? nullptr : lines.back(), access, first, lane));
    const auto square = [&](Value* element, Value* mask) {
      std::vector<Value*> vectors;
      for (Value* line : lines) {
        Value* from = b_.CreateGEP(b_.getInt8Ty(), line, b_.CreateMul(element, number(bytes)));
        vectors.push_back(mask ? load_part(type, from, dtype, mask, false) : b_.CreateAlignedLoad(type, from, align));
      }
      vectors = transposed(b_, vectors, register_bytes());
      Value* to = b_.CreateAdd(b_.CreateMul(b_.CreateLShr(element, number(slot_levels - 1)), number(pitch)), b_.CreateMul(vector, number(lane_count * bytes)));
      for (std::size_t slot = 0; slot < vectors.size(); ++slot) {
        Value* at = b_.CreateAdd(to, b_.CreateMul(of_slot, number(static_cast<Index>(slot) * pitch)));
        b_.CreateAlignedStore(vectors[slot], b_.CreateGEP(b_.getInt8Ty(), operand.packed, at), align);
      }
    };
    for_range(number(0), whole, fold_slots, "square", [&](Value* element) { square(element, nullptr); });
    if_then(b_.CreateICmpNE(whole, count), "square.rest", [&] { square(whole, first_lanes(b_.CreateSub(count, whole), 1)[0]); });
  }, true);
}

}  // namespace weft
