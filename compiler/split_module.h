// Parts of a large module, so that several threads can generate its code: functions are shared out by size, each part has a context of
// its own, and functions call each other across parts by name.
#pragma once
#include <memory>
#include <vector>

#include <llvm/IR/Module.h>

namespace weft {

struct ModulePart {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

// At most `most` parts, and only as many as are worth a thread. Names of functions must be unique in the process.
std::vector<ModulePart> split_module(ModulePart whole, std::size_t most);

}  // namespace weft
