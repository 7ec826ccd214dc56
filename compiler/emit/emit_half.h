// f16 and bf16 in compiled code: 16 bits in memory, in registers a float that is exactly such a number.
//
// Rounding is half to even, keeps subnormals, goes to infinity beyond the largest number and makes NaN quiet. f16 is
// converted by instruction where the function has the target feature F16C and by integer arithmetic elsewhere; bf16 always
// by integer arithmetic, because the instruction for it takes subnormals for zero. On vectors of any width and on scalars;
// no calls. Tested in tests/compiler/emit/emit_half_test.cpp.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "vecmath/half.h"

namespace weft {

// float -> the nearest number of `half`, as a float.
llvm::Value* round_to_half(llvm::IRBuilderBase& builder, llvm::Value* value, DType half);
// A number of `half` as a float <-> its 16 bits.
llvm::Value* to_half_bits(llvm::IRBuilderBase& builder, llvm::Value* value, DType half);
llvm::Value* from_half_bits(llvm::IRBuilderBase& builder, llvm::Value* bits, DType half);
// A number of any dtype (as in registers) -> the nearest number of `half`, rounded once, as a float.
llvm::Value* cast_to_half(llvm::IRBuilderBase& builder, llvm::Value* value, DType from, DType half);

}  // namespace weft
