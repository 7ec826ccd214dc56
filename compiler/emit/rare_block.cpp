// Blocks that run where a mask has any lane.
#include <llvm/IR/MDBuilder.h>

#include "lane_parts.h"
#include "llvm_lane.h"

namespace weft {

using llvm::Value;
using namespace lane_parts;

namespace {

Value* either_half(llvm::IRBuilderBase* builder, Value* v) {
  const int half = lane_count(v->getType()) / 2;
  return builder->CreateOr(take(builder, v, 0, half), take(builder, v, half, half));
}

// Of what a mask compares.
unsigned bits_compared(Value* mask) {
  if (auto* compare = llvm::dyn_cast<llvm::CmpInst>(mask)) return compare->getOperand(0)->getType()->getScalarSizeInBits();
  if (auto* joined = llvm::dyn_cast<llvm::BinaryOperator>(mask)) return bits_compared(joined->getOperand(0));
  return 32;
}

// Some lanes of a mask, from narrower comparisons: cutting mask registers takes several instructions.
Value* part_of_mask(llvm::IRBuilderBase* builder, Value* mask, int first, int count) {
  const auto part = [&](Value* v) { return part_of_mask(builder, v, first, count); };
  if (auto* compare = llvm::dyn_cast<llvm::CmpInst>(mask))
    return builder->CreateCmp(compare->getPredicate(), take(builder, compare->getOperand(0), first, count), take(builder, compare->getOperand(1), first, count));
  if (auto* joined = llvm::dyn_cast<llvm::BinaryOperator>(mask)) return builder->CreateBinOp(joined->getOpcode(), part(joined->getOperand(0)), part(joined->getOperand(1)));
  return take(builder, mask, first, count);
}

// Halves of a wider vector are joined until one register is left. Without mask registers that holds whole elements, and is tested by one
// instruction as a number of as many bits.
Value* any_set(llvm::IRBuilderBase* builder, Value* any) {
  const auto bits = [&] { return any->getType()->getPrimitiveSizeInBits(); };
  const bool is_mask = any->getType()->getScalarSizeInBits() == 1;
  if (!any->getType()->isVectorTy()) return is_mask ? any : builder->CreateIsNotNull(any);
  if (has_feature(builder, "+avx512f")) {
    if (!is_mask) {
      while (bits() > 512) any = either_half(builder, any);
      return builder->CreateOrReduce(builder->CreateIsNotNull(any));
    }
    const int lanes = lane_count(any->getType()), each = std::min(lanes, 512 / static_cast<int>(bits_compared(any)));
    Value* joined = part_of_mask(builder, any, 0, each);
    for (int first = each; first < lanes; first += each) joined = builder->CreateOr(joined, part_of_mask(builder, any, first, each));
    return builder->CreateOrReduce(joined);
  }
  if (is_mask) any = builder->CreateSExt(any, same_lanes(builder->getIntNTy(bits_compared(any)), any->getType()));
  const auto one_register = static_cast<unsigned>(register_bits(builder));
  while (bits() > one_register && lane_count(any->getType()) > 1) any = either_half(builder, any);
  return builder->CreateIsNotNull(builder->CreateBitCast(any, builder->getIntNTy(static_cast<unsigned>(bits()))));
}

}  // namespace

RareBlock::RareBlock(const LaneMask& mask) : mask_(mask), before_(mask.builder->GetInsertBlock()) { open(any_set(mask.builder, mask.value)); }

RareBlock::RareBlock(const LaneInt& bits) : mask_{nullptr, bits.builder}, before_(bits.builder->GetInsertBlock()) {
  open(any_set(bits.builder, bits.value));
  mask_.value = bits.builder->CreateIsNotNull(bits.value);
}

void RareBlock::open(Value* any) {
  auto* builder = mask_.builder;
  auto& context = builder->getContext();
  rare_ = llvm::BasicBlock::Create(context, "rare", before_->getParent());
  after_ = llvm::BasicBlock::Create(context, "after", before_->getParent());
  builder->CreateCondBr(any, rare_, after_, llvm::MDBuilder(context).createBranchWeights(1, 1 << 16));
  builder->SetInsertPoint(rare_);
}

void RareBlock::leave() {
  rare_ = mask_.builder->GetInsertBlock();
  mask_.builder->CreateBr(after_);
  mask_.builder->SetInsertPoint(after_);
}

Lane RareBlock::join(const Lane& fast, const Lane& slow) {
  auto* phi = mask_.builder->CreatePHI(fast.value->getType(), 2);
  phi->addIncoming(fast.value, before_);
  phi->addIncoming(slow.value, rare_);
  return {phi, mask_.builder};
}

}  // namespace weft
