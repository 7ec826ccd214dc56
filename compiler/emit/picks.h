// A vector whose lanes come from lanes of several others.
#pragma once
#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace weft {

// Lanes of a result: from which lane of a vector each comes, or -1 if not from this one.
struct Picks {
  llvm::Value* vector = nullptr;
  std::vector<int> lanes;
};

llvm::Value* gathered(llvm::IRBuilderBase& builder, std::vector<Picks> parts);

}  // namespace weft
