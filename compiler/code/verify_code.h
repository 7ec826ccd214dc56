// The law that equal nodes have equal bits, where LLVM could break it: no float instruction may be reassociated, contracted or
// approximated, and none may call what LLVM has several implementations of. Holds with Options::fast_math too: what that allows is
// chosen when code is emitted, so that a Function has the same bits with every version of LLVM.
#pragma once
#include <llvm/IR/Module.h>

namespace weft {

void verify(const llvm::Module& module);         // throws Error(internal)

}  // namespace weft
