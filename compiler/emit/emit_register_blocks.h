// What is known of blocks of sums in registers while they are emitted.
#pragma once
#include "emit_kernel.h"

namespace weft {

inline constexpr int slot_levels = 5;   // of the tree over sixteen slots: partial sums of 1, 2, 4 and 8 of them, and all
static_assert(fold_slots == 1 << (slot_levels - 1));

// That read operands as they lie, with masks at the ends of rows: what packing takes is shared by too few. x^T y of 1000 rows, 17 x 17 26.8 -> 11.0 us (Zen 4),
// 15 x 64 33.6 -> 18.4, 33 x 33 50 -> 37; of sixteen blocks, 30 x 100, only 99 -> 94.
inline constexpr Index few_blocks = 8;

// A load.
struct KernelEmitter::BlockOperand {
  const Item* item;
  const Load* load;
  DType dtype;
  bool in_lanes, is_shared;             // is_shared: by all rows
  Value* packed = nullptr;              // where it is packed, if it may be
  Value* is_packed = nullptr;           // whether it is, for the rows that go together
};

struct KernelEmitter::BlockSum {
  const Accumulate* item;
  const Fold* fold;
  Value *memory, *pitch;                // the rows of results, bytes from one to the next
  Value* stack;                         // of the trees over leaves: one for each block of each panel
};

struct KernelEmitter::Block {
  using Sum = BlockSum;
  struct Cell {                         // a sum in a register
    const Fold* fold;
    llvm::Type* type;
    llvm::AllocaInst *sum, *tree;       // tree: a partial sum for each level
  };
  struct Pointer {                      // where an operand is read, for one row or for all
    const BlockOperand* operand;
    std::size_t copy;
    LaneAccess access;                  // at the leaf's first element
    Value *slot_stride, *stride;        // to the first element of the next slot, to the next element of a slot
    llvm::AllocaInst* place;            // now
    Value* here = nullptr;              // at the current element
    bool is_of(std::size_t row, bool lanes) const { return (copy == row || operand->is_shared) && operand->in_lanes == lanes; }
  };

  const Loop &rows, &fold, &lanes;
  std::size_t fold_at;                  // in the body of the rows
  Index count;                          // rows of a block
  Index panel;                          // vectors of a block
  Index panels, most_rows;              // so many go together, at most
  bool leaves;                          // perhaps several
  bool in_whole;                        // the vector loop has whole steps
  bool packs_always = false;            // what all rows share, whatever their number
  std::vector<Sum> sums = {};
  std::vector<BlockOperand> operands = {};
  Range together = {};                  // rows whose operands are packed together
  Value* first_panel = nullptr;         // of those that go together
  std::vector<Pointer> pointers = {};
  std::vector<Cell> cells = {};         // by copy, sum and vector

  Index stride() const { return panel * lane_count; }
  std::size_t row_axis() const { return static_cast<std::size_t>(rows.var.axis); }
  std::size_t fold_axis() const { return static_cast<std::size_t>(fold.var.axis); }
};

}  // namespace weft
