// Squares of elements in registers: what lies in rows becomes columns, and the reverse.
#pragma once
#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace weft {

// Sixteen vectors of sixteen elements -> vector k holds lane k of each. In squares of whole registers, for which there are instructions.
std::vector<llvm::Value*> transposed(llvm::IRBuilderBase& builder, const std::vector<llvm::Value*>& rows, std::size_t register_bytes);
// Sixteen short vectors, of up to sixteen elements -> vector k holds element k of each.
std::vector<llvm::Value*> columns_of(llvm::IRBuilderBase& builder, const std::vector<llvm::Value*>& rows, std::size_t register_bytes);
// The reverse: row k holds lane k of each column.
std::vector<llvm::Value*> rows_of(llvm::IRBuilderBase& builder, std::vector<llvm::Value*> columns, std::size_t register_bytes);

}  // namespace weft
