// Arithmetic on lanes: one LLVM instruction each.
#include "llvm_lane.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "lane_parts.h"

namespace weft {

using namespace lane_parts;
namespace Intrinsic = llvm::Intrinsic;

static Lane unary(Intrinsic::ID id, const Lane& a) { return {a.builder->CreateUnaryIntrinsic(id, a.value), a.builder}; }

LaneMask operator&(const LaneMask& a, const LaneMask& b) { return {a.builder->CreateAnd(a.value, b.value), a.builder}; }
LaneMask operator|(const LaneMask& a, const LaneMask& b) { return {a.builder->CreateOr(a.value, b.value), a.builder}; }
LaneMask operator!(const LaneMask& a) { return {a.builder->CreateNot(a.value), a.builder}; }

LaneInt operator+(const LaneInt& a, const LaneInt& b) { return {a.builder->CreateAdd(a.value, b.value), a.builder}; }
LaneInt operator-(const LaneInt& a, const LaneInt& b) { return {a.builder->CreateSub(a.value, b.value), a.builder}; }
LaneInt operator&(const LaneInt& a, const LaneInt& b) { return {a.builder->CreateAnd(a.value, b.value), a.builder}; }
LaneInt operator|(const LaneInt& a, const LaneInt& b) { return {a.builder->CreateOr(a.value, b.value), a.builder}; }
LaneInt operator^(const LaneInt& a, const LaneInt& b) { return {a.builder->CreateXor(a.value, b.value), a.builder}; }
LaneInt operator<<(const LaneInt& a, int k) { return {a.builder->CreateShl(a.value, static_cast<uint64_t>(k)), a.builder}; }
LaneInt operator>>(const LaneInt& a, int k) { return {a.builder->CreateAShr(a.value, static_cast<uint64_t>(k)), a.builder}; }
LaneInt shift_right_logical(const LaneInt& a, int k) { return {a.builder->CreateLShr(a.value, static_cast<uint64_t>(k)), a.builder}; }
LaneMask operator<(const LaneInt& a, const LaneInt& b) { return {a.builder->CreateICmpSLT(a.value, b.value), a.builder}; }
LaneMask operator>(const LaneInt& a, const LaneInt& b) { return {a.builder->CreateICmpSGT(a.value, b.value), a.builder}; }
LaneMask operator==(const LaneInt& a, const LaneInt& b) { return {a.builder->CreateICmpEQ(a.value, b.value), a.builder}; }
LaneInt select(const LaneMask& m, const LaneInt& a, const LaneInt& b) {
  return {a.builder->CreateSelect(m.value, a.value, b.value), a.builder};
}

int Lane::width() const { return lane_count(value->getType()); }
Lane Lane::like(double constant) const { return {llvm::ConstantFP::get(value->getType(), constant), builder}; }
LaneInt Lane::int_like(int64_t constant) const {
  auto* type = same_lanes(builder->getIntNTy(static_cast<unsigned>(bits())), value->getType());
  const auto truncated = bits() == 32 ? static_cast<uint32_t>(constant) : static_cast<uint64_t>(constant);
  return {llvm::ConstantInt::get(type, truncated), builder};
}

Lane operator+(const Lane& a, const Lane& b) { return {a.builder->CreateFAdd(a.value, b.value), a.builder}; }
Lane operator-(const Lane& a, const Lane& b) { return {a.builder->CreateFSub(a.value, b.value), a.builder}; }
Lane operator*(const Lane& a, const Lane& b) { return {a.builder->CreateFMul(a.value, b.value), a.builder}; }
Lane operator/(const Lane& a, const Lane& b) { return {a.builder->CreateFDiv(a.value, b.value), a.builder}; }
Lane operator-(const Lane& a) { return {a.builder->CreateFNeg(a.value), a.builder}; }
LaneMask operator<(const Lane& a, const Lane& b) { return {a.builder->CreateFCmpOLT(a.value, b.value), a.builder}; }
LaneMask operator<=(const Lane& a, const Lane& b) { return {a.builder->CreateFCmpOLE(a.value, b.value), a.builder}; }
LaneMask operator>(const Lane& a, const Lane& b) { return {a.builder->CreateFCmpOGT(a.value, b.value), a.builder}; }
LaneMask operator>=(const Lane& a, const Lane& b) { return {a.builder->CreateFCmpOGE(a.value, b.value), a.builder}; }
LaneMask operator==(const Lane& a, const Lane& b) { return {a.builder->CreateFCmpOEQ(a.value, b.value), a.builder}; }
LaneMask operator!=(const Lane& a, const Lane& b) { return {a.builder->CreateFCmpUNE(a.value, b.value), a.builder}; }
Lane fma(const Lane& a, const Lane& b, const Lane& c) {
  return {a.builder->CreateIntrinsic(Intrinsic::fma, {a.value->getType()}, {a.value, b.value, c.value}), a.builder};
}
Lane sqrt(const Lane& a) { return unary(Intrinsic::sqrt, a); }
Lane abs(const Lane& a) { return unary(Intrinsic::fabs, a); }
Lane copysign(const Lane& a, const Lane& sign) {
  return {a.builder->CreateBinaryIntrinsic(Intrinsic::copysign, a.value, sign.value), a.builder};
}
Lane floor(const Lane& a) { return unary(Intrinsic::floor, a); }
Lane trunc(const Lane& a) { return unary(Intrinsic::trunc, a); }
Lane round_even(const Lane& a) { return unary(Intrinsic::roundeven, a); }
Lane min_raw(const Lane& a, const Lane& b) { return select(a < b, a, b); }
Lane max_raw(const Lane& a, const Lane& b) { return select(a > b, a, b); }
Lane select(const LaneMask& m, const Lane& a, const Lane& b) {
  return {a.builder->CreateSelect(m.value, a.value, b.value), a.builder};
}
LaneInt to_bits(const Lane& a) {
  auto* type = same_lanes(a.builder->getIntNTy(static_cast<unsigned>(a.bits())), a.value->getType());
  return {a.builder->CreateBitCast(a.value, type), a.builder};
}
Lane from_bits(const LaneInt& i) {
  auto* element = i.value->getType()->getScalarSizeInBits() == 32 ? i.builder->getFloatTy() : i.builder->getDoubleTy();
  return {i.builder->CreateBitCast(i.value, same_lanes(element, i.value->getType())), i.builder};
}

}  // namespace weft
