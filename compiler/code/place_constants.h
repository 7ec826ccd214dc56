// Constants of a loop are loaded in front of it. LLVM takes them out of all loops around, sixty of them in bodies with exponentials and logarithms,
// where they are in the way of other loops: it spent a sixth of code generation on finding out which to read again.
#pragma once
#include <llvm/IR/PassManager.h>

namespace weft {

// Loads constants in front of innermost loops, as many as there are registers, those first that spare most loads. LLVM reads those again for
// which it has no register. The others stay operands in memory, and LLVM must leave them where they are (llvm_options.h). Linear in the
// instructions of loops.
class PlaceConstants : public llvm::PassInfoMixin<PlaceConstants> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft
