// One op on LLVM values: the meaning column of ops.def on vectors or scalars of any dtype.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <weft/accumulator.h>
#include <weft/op.h>

namespace weft {

// The LLVM type of a dtype in registers (bool is i1, f16 and bf16 are float), as a scalar (width 1) or a vector.
llvm::Type* register_type(llvm::LLVMContext& context, DType dtype, int width);
// The LLVM type in memory (bool is i8, f16 and bf16 are i16).
llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype, int width);
llvm::Constant* constant_value(llvm::LLVMContext& context, const Scalar& value, int width);

// May append basic blocks; continue at the builder's insert point. `fast`: by the functions of vecmath/fast.h.
llvm::Value* emit_op(llvm::IRBuilderBase& builder, Op op, const std::vector<llvm::Value*>& operands, const std::vector<DType>& dtypes, DType result, bool fast);
// exp of what is never above 0, but for NaN: the same bits with less work.
llvm::Value* emit_exp_of_nonpositive(llvm::IRBuilderBase& builder, llvm::Value* operand, DType dtype);
llvm::Value* emit_combine(llvm::IRBuilderBase& builder, AccumulatorId accumulator, DType dtype, llvm::Value* a, llvm::Value* b);

}  // namespace weft
