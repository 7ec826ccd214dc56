#include "target.h"

#include <llvm/TargetParser/Host.h>

#include "features.h"

namespace weft {

// Code sits in one slab with small code model and PIC: constants are one load away. LLJIT would otherwise keep the large
// model, where every vector constant costs an address and a load.
llvm::orc::JITTargetMachineBuilder target_of_host() {
  llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(llvm::sys::getProcessTriple())};
  builder.setCPU(llvm::sys::getHostCPUName().str());
  builder.addFeatures({true_features()});
  builder.setCodeModel(llvm::CodeModel::Small);
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);               // Default takes 5 to 8 % more instructions to compile; loops run as fast
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;       // contraction is decided by the graph, nowhere else
  // At whole lines, not at any sixteen bytes: products of 1000 x 784 x 100 and 500 x 1000 x 700 take .84 to .91 of the time, others as long (Zen 3).
  builder.getOptions().LoopAlignment = 64;
  return builder;
}

}  // namespace weft
