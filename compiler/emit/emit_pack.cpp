// Operands that all rows of a block share are packed for many blocks, leaf by leaf: the vectors of a slot follow each other, whatever lies between
// them in their array. Walked as they are, rows of 1024 floats lie in few sets of a cache, each on a page of its own.
#include "emit_register_blocks.h"
#include "code/pack_support.h"

namespace weft {

using llvm::Value;

// In a leaf, at most.
Value* KernelEmitter::elements_of_slot(Range leaf) {
  return b_.CreateLShr(b_.CreateAdd(b_.CreateSub(leaf.end, leaf.begin), number(fold_slots - 1)), number(slot_levels - 1));
}

// Bytes from one element of the vector loop to the next.
Index KernelEmitter::packed_pitch(const Block& block, const BlockOperand& operand) {
  return block.panel * lane_count * static_cast<Index>(size_of(operand.dtype));
}

void KernelEmitter::pack_operands(const Block& block, Range along, Value* index, Value* elements) {
  if_then(block.is_packed, "pack", [&] {
    axis_index_[block.fold_axis()] = along.begin;
    axis_index_[static_cast<std::size_t>(block.lanes.var.axis)] = index;
    for (const BlockOperand& operand : block.operands) {
      if (!operand.packed) continue;
      const Load& load = *operand.load;
      const std::vector<Value*> arguments{operand.packed, number(packed_pitch(block, operand)), address(load.buffer, load.at), b_.CreateSub(along.end, along.begin),
                                          stride_along(load.buffer, load.at, block.fold.var.axis), elements, stride_along(load.buffer, load.at, block.lanes.var.axis)};
      std::vector<llvm::Type*> types;
      for (Value* argument : arguments) types.push_back(argument->getType());
      b_.CreateCall(module_.getOrInsertFunction(pack_symbol(size_of(operand.dtype)), llvm::FunctionType::get(b_.getVoidTy(), types, false)), arguments);
    }
    axis_index_[block.fold_axis()] = axis_index_[static_cast<std::size_t>(block.lanes.var.axis)] = nullptr;
  });
}

}  // namespace weft
