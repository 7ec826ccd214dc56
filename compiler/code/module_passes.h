// The lean LLVM pipeline: vectors, unrolling and loads are already placed, so only clean-up is left. LLVM's loop and SLP
// vectorisers and its unroller stay off: they cost three times the compile time and find nothing.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace weft {

void run_module_passes(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace weft
