// The vector registers of the processor that a function is for, and how many of them a value takes.
#pragma once
#include <llvm/IR/Function.h>

#include "features.h"

namespace weft {

struct VectorRegisters {
  unsigned count, bits;

  explicit VectorRegisters(const llvm::Function& function) {
    const std::string features = function.getFnAttribute("target-features").getValueAsString().str();
    const bool has_avx512 = has_feature(features, "+avx512f");
    count = has_avx512 ? 32 : 16;
    bits = has_avx512 ? 512 : has_feature(features, "+avx") ? 256 : 128;
  }
  // None for integers, addresses and conditions.
  unsigned of(const llvm::Type& type) const {
    const llvm::Type* element = type.getScalarType();
    if (element->isIntegerTy(1) || !(type.isVectorTy() || element->isFloatingPointTy()) || element->isPointerTy()) return 0;
    return (static_cast<unsigned>(type.getPrimitiveSizeInBits().getFixedValue()) + bits - 1) / bits;
  }
};

}  // namespace weft
