// Elements wherever they lie, of the lanes of a mask; 0 in the others.
#include "lane_memory.h"

namespace weft {

using llvm::Value;

Value* LaneMemory::gather(Value* at, DType dtype, Value* mask) {
  llvm::Type* type = memory_type(context_, dtype, lane_count);
  if (!mask) mask = llvm::Constant::getAllOnesValue(register_type(context_, DType::bool_, lane_count));
  return from_memory(b_.CreateMaskedGather(type, at, llvm::Align(size_of(dtype)), mask, llvm::Constant::getNullValue(type)), dtype);
}

// Elements by so many bytes, where no instruction gathers. LLVM would make a branch for each lane of each vector: nine windows of a picture of two columns
// took 2 s to compile for AVX2, or of bytes for AVX-512.
Value* LaneMemory::gather_steps(Value* first, Value* step, DType dtype, Value* mask) {
  Value* bits = b_.CreateZExt(b_.CreateBitCast(mask, b_.getIntNTy(lane_count)), b_.getInt32Ty());
  return from_memory(b_.CreateBitCast(b_.CreateCall(function_for_steps(dtype), {first, step, bits}), memory_type(context_, dtype, lane_count)), dtype);
}

// One function for all dtypes of as many bytes. Most masks are whole.
llvm::Function* LaneMemory::function_for_steps(DType dtype) {
  const std::string symbol = concat("weft_gather_", 8 * size_of(dtype));
  if (llvm::Function* known = module_.getFunction(symbol)) return known;
  auto* element = b_.getIntNTy(static_cast<unsigned>(8 * size_of(dtype)));
  auto* type = llvm::FixedVectorType::get(element, lane_count);
  auto* function = new_function(llvm::FunctionType::get(type, {b_.getPtrTy(), b_.getInt64Ty(), b_.getInt32Ty()}, false), llvm::Function::InternalLinkage, symbol);
  function->addFnAttr(llvm::Attribute::NoInline);
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context_, name, function); };
  auto *entry = block("entry"), *whole = block("whole"), *dense = block("dense"), *apart = block("apart"), *part = block("part");
  llvm::IRBuilder<> b(entry);
  Value *first = function->getArg(0), *step = function->getArg(1), *bits = function->getArg(2);
  b.CreateCondBr(b.CreateICmpEQ(bits, b.getInt32((1U << lane_count) - 1)), whole, part);

  b.SetInsertPoint(whole);
  b.CreateCondBr(b.CreateICmpEQ(step, b.getInt64(size_of(dtype))), dense, apart);
  b.SetInsertPoint(dense);
  b.CreateRet(b.CreateAlignedLoad(type, first, llvm::Align(size_of(dtype))));
  b.SetInsertPoint(apart);
  Value* all = llvm::PoisonValue::get(type);
  for (std::uint64_t k = 0; k < lane_count; ++k) {
    Value* at = b.CreateGEP(b.getInt8Ty(), first, b.CreateMul(b.getInt64(k), step));
    all = b.CreateInsertElement(all, b.CreateAlignedLoad(element, at, llvm::Align(size_of(dtype))), k);
  }
  b.CreateRet(all);

  b.SetInsertPoint(part);
  Value* places = b.CreateGEP(b.getInt8Ty(), first, b.CreateMul(lane_numbers(64), b.CreateVectorSplat(lane_count, step)));
  Value* lanes = b.CreateBitCast(b.CreateTrunc(bits, b.getIntNTy(lane_count)), register_type(context_, DType::bool_, lane_count));
  b.CreateRet(b.CreateMaskedGather(type, places, llvm::Align(size_of(dtype)), lanes, llvm::Constant::getNullValue(type)));
  return function;
}

}  // namespace weft
