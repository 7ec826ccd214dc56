// The machine that code is generated for: this one.
#pragma once
#include <string>

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>

namespace weft {

// The features of this CPU as LLVM writes them: "+avx2,+fma,..". Those of registers with more f32 lanes than these, if not 0,
// are switched off.
const std::string& host_features(int lanes = 0);

// What every module is compiled for. Functions carry features of their own, which are these or fewer.
llvm::orc::JITTargetMachineBuilder target_of_host();

}  // namespace weft
