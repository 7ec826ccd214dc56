// LLVM modules -> object code or assembly text for this machine.
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/CodeGen.h>

#include "owned_module.h"

namespace weft {

using Bytes = llvm::SmallVector<char, 0>;

// Runs the passes of module_passes.h and then LLVM's code generation. Takes the module, which is gone afterwards. Instruction selection recurses over large
// blocks: call it on a large stack. Thread-safe.
Bytes generate_code(OwnedModule owned, llvm::CodeGenFileType type);

}  // namespace weft
