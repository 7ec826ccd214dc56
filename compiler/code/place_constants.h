// Where loops read their constants. LLVM takes them all out of all loops around, sixty of them in bodies with exponentials and logarithms, and where
// there are no registers left it reads them again and again, with instructions of their own: that took a tenth of code generation, and long bodies
// up to one and a half times as long.
#pragma once
#include <llvm/IR/PassManager.h>

namespace weft {

// Innermost loops whose values fit in registers have their constants loaded in front of them, as many as there are registers, those first that
// spare most loads. Others load theirs in every turn, again from another place in memory where they are wanted much later: LLVM
// makes one of loads from one place, and would write its register to the stack. Linear in the instructions of loops.
class PlaceConstants : public llvm::PassInfoMixin<PlaceConstants> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft
