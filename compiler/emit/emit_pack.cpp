// Operands are packed for many blocks, leaf by leaf: the elements of a slot follow each other, whatever lies between them in their array. Walked as
// they are, rows of 1024 floats lie in few sets of a cache, each on a page of its own.
//
// Those that all rows of a block share are packed panel by panel, as vectors. Those that lie along the rows, as x does in x^T y, are packed
// once for all panels, or with several leaves once for those that go together: elements of a block's rows. Products x^T y of 1024 x 1024 floats took 1.4 times as
// long without, of 256 x 10000 x 128 1.3 times (Zen 5).
#include <llvm/IR/Intrinsics.h>

#include "emit_register_blocks.h"
#include "code/pack_support.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

// In a leaf, at most.
Value* KernelEmitter::elements_of_slot(Range leaf) {
  return b_.CreateLShr(b_.CreateAdd(b_.CreateSub(leaf.end, leaf.begin), number(fold_slots - 1)), number(slot_levels - 1));
}

// Bytes from one element of the fold to the next.
Index KernelEmitter::packed_pitch(const Block& block, const BlockOperand& operand) {
  return (operand.is_shared ? block.panel * lane_count : block.count) * item_bytes(operand.dtype);
}

// For more blocks than a few, or always: what all rows share; and those of the rows, if they take more lines than the first level has, each of
// which would be fetched again for the next few rows.
void KernelEmitter::choose_packed(Block& block) {
  Value* many = b_.CreateICmpSGT(b_.CreateSub(block.together.end, block.together.begin), number(few_blocks * block.count));
  const Range along = range_of(block.fold.var.axis);
  for (BlockOperand& operand : block.operands) {
    if (!operand.packed) continue;
    if (operand.is_shared) {
      operand.is_packed = block.packs_always ? b_.getTrue() : many;
      continue;
    }
    Value* stride = b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, stride_along(operand.load->buffer, operand.load->at, block.fold.var.axis), b_.getFalse());
    Value* span = b_.CreateMul(stride, b_.CreateSub(along.end, along.begin));
    operand.is_packed = b_.CreateAnd(many, b_.CreateICmpSGT(span, number(first_level_share)));
  }
}

// Where the elements of one row are, or of all. `first`: of the block's rows, which are a panel.
Value* KernelEmitter::packed_at(const Block& block, const BlockOperand& operand, Value* first, Range along, Value* index) {
  const Index bytes = item_bytes(operand.dtype);
  if (operand.is_shared) return b_.CreateGEP(b_.getInt8Ty(), operand.packed, b_.CreateNeg(b_.CreateMul(index, number(bytes))));
  Value* panel_bytes = b_.CreateAdd(b_.CreateMul(elements_of_slot(along), number(fold_slots * packed_pitch(block, operand))), number(bytes_between_panels));
  Value* panel = b_.CreateMul(b_.CreateUDiv(b_.CreateSub(first, block.together.begin), number(block.count)), panel_bytes);
  return b_.CreateGEP(b_.getInt8Ty(), operand.packed, b_.CreateAdd(panel, b_.CreateMul(b_.CreateSub(axis_index_[block.row_axis()], first), number(bytes))));
}

// For the panel that begins at `index`.
void KernelEmitter::pack_operands(const Block& block, Range along, Value* index, Value* elements) {
  const Range panels = range_of(block.lanes.var.axis), leaves = range_of(block.fold.var.axis);
  Value* is_new = b_.CreateICmpEQ(index, panels.begin);
  if (block.leaves) {
    Value *is_first = b_.CreateICmpEQ(index, block.first_panel), *several = b_.CreateICmpSGT(b_.CreateSub(leaves.end, leaves.begin), number(fold_leaf));
    is_new = b_.CreateOr(is_new, b_.CreateAnd(is_first, several));
  }
  for (const BlockOperand& operand : block.operands) {
    if (!operand.packed) continue;
    if_then(operand.is_shared ? operand.is_packed : b_.CreateAnd(operand.is_packed, is_new), "pack", [&] {
      const Load& load = *operand.load;
      auto &lane = axis_index_[static_cast<std::size_t>(block.lanes.var.axis)], &row = axis_index_[block.row_axis()], &element = axis_index_[block.fold_axis()];
      lane = index, row = block.together.begin, element = along.begin;
      const int side = operand.is_shared ? block.lanes.var.axis : block.rows.var.axis;
      Value* length = operand.is_shared ? elements : b_.CreateSub(block.together.end, block.together.begin);
      call(pack_symbol(size_of(operand.dtype)), {operand.packed, number(packed_pitch(block, operand)), address(load.buffer, load.at), b_.CreateSub(along.end, along.begin),
                                                 stride_along(load.buffer, load.at, block.fold.var.axis), length, stride_along(load.buffer, load.at, side)});
      lane = row = element = nullptr;
    });
  }
}

}  // namespace weft
