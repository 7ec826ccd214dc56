#include "target.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

namespace weft {
namespace {

std::string features_within(int lanes) {
  const auto is_too_wide = [&](llvm::StringRef name) {
    const bool of_256 = name.starts_with("avx") || name.starts_with("fma") || name == "f16c" || name == "xop" || name == "vaes" || name == "vpclmulqdq" || name == "gfni";
    return (lanes < 16 && (name.starts_with("avx512") || name.starts_with("avx10") || name == "evex512")) || (lanes < 8 && of_256);
  };
  std::string text;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    if (!text.empty()) text += ",";
    text += (feature.second && !is_too_wide(feature.first()) ? "+" : "-") + feature.first().str();
  }
  return text;
}

}  // namespace

const std::string& host_features(int lanes) {
  static const std::string of_4 = features_within(4), of_8 = features_within(8), all = features_within(16);
  return lanes == 4 ? of_4 : lanes == 8 ? of_8 : all;
}

// Code sits in one slab with small code model and PIC: constants are one load away. LLJIT would otherwise keep the large
// model, where every vector constant costs an address and a load.
llvm::orc::JITTargetMachineBuilder target_of_host() {
  llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(llvm::sys::getProcessTriple())};
  builder.setCPU(llvm::sys::getHostCPUName().str());
  builder.addFeatures({host_features()});
  builder.setCodeModel(llvm::CodeModel::Small);
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);               // Default takes 5 to 8 % more instructions to compile; loops run as fast
  builder.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;       // contraction is decided by the graph, nowhere else
  return builder;
}

}  // namespace weft
