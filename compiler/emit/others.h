// Products of all others along few elements (graph/include/weft/accumulator.h says in which order), in registers from the first to the last.
//
// Along the vectors the sixteen slots are lanes, and slots change places by shuffles. Across them a slot is a vector of its own for sixteen
// neighbours, and nothing moves.
#pragma once
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include <weft/dtype.h>

namespace weft {

llvm::Value* product(llvm::IRBuilder<>& b, DType dtype, llvm::Value* left, llvm::Value* right);      // null counts as 1
// Of vectors along a row, whose last one ends with ones; and the product of all.
std::vector<llvm::Value*> others_along_lanes(llvm::IRBuilder<>& b, DType dtype, const std::vector<llvm::Value*>& row, llvm::Value*& all);
// Of vectors that are one element of the row each.
std::vector<llvm::Value*> others_across_lanes(llvm::IRBuilder<>& b, DType dtype, const std::vector<llvm::Value*>& row, llvm::Value*& total);

}  // namespace weft
