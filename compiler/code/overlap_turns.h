// Long loop bodies in two halves, which work on different turns at the same time. A body of long functions is a chain of instructions each of which waits
// for the one before. Processors look for others to begin meanwhile, but not as far as the next turn of a long body: what waits fills their queues.
// So each turn of the loop has the second half of its elements and the first half of those after them: gelu and its gradient take seven eighths of the
// time (Zen 4). What that gains, more vectors side by side gain at more compile time, and not where registers end.
#pragma once
#include <llvm/IR/PassManager.h>

namespace weft {

// Of loops of one block with many turns (loop_hints.h), those whose chain is long for what they do, where there are registers for what the halves hand
// on. The first half of the first turn is in front of the loop, and that of the last is made once again for nothing. Linear in their instructions.
class OverlapTurns : public llvm::PassInfoMixin<OverlapTurns> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace weft
