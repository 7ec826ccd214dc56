// The machine that code is generated for: this one.
#pragma once
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>

namespace weft {

// What every module is compiled for. Functions carry features of their own, which are these or fewer.
llvm::orc::JITTargetMachineBuilder target_of_host();

}  // namespace weft
