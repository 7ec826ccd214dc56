// An LLVM module and the context it lives in: each has its own, since contexts are not for several threads.
#pragma once
#include <memory>

#include <llvm/IR/Module.h>

namespace weft {

struct OwnedModule {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
};

}  // namespace weft
