// Term: a value of any dtype on LLVM lanes, with the operators and simple functions of the meaning column of ops.def. Every
// function appends instructions at the builder's insert point and nothing else; none sets a fast-math flag.
#pragma once
#include <llvm/IR/IntrinsicInst.h>

#include "emit_op.h"
#include "llvm_lane.h"

namespace weft::lanes {

using llvm::Value;

// A value with its dtype: what the names in ops.def mean on lanes. Literals take the type of the other operand.
struct Term {
  Value* value;
  DType dtype;
  llvm::IRBuilderBase* builder;
  bool fast = false;                    // by the functions of vecmath/fast.h

  bool real() const { return is_floating(dtype); }
  bool is_signed() const { return is_signed_integer(dtype); }
  int width() const {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    return vector ? static_cast<int>(vector->getNumElements()) : 1;
  }
  Term with(Value* other) const { return {other, dtype, builder, fast}; }
  Term truth(Value* other) const { return {other, DType::bool_, builder, fast}; }
  Term like(double literal) const { return with(constant_value(builder->getContext(), Scalar::of(dtype, literal), width())); }
  Lane lane() const { return {value, builder}; }
  Term from(const Lane& lane) const { return with(lane.value); }
};

// ---- operators
inline Term operator+(Term a, Term b) { return a.with(a.real() ? a.builder->CreateFAdd(a.value, b.value) : a.builder->CreateAdd(a.value, b.value)); }
inline Term operator-(Term a, Term b) { return a.with(a.real() ? a.builder->CreateFSub(a.value, b.value) : a.builder->CreateSub(a.value, b.value)); }
inline Term operator*(Term a, Term b) { return a.with(a.real() ? a.builder->CreateFMul(a.value, b.value) : a.builder->CreateMul(a.value, b.value)); }
inline Term operator/(Term a, Term b) { return a.with(a.builder->CreateFDiv(a.value, b.value)); }
inline Term operator/(double a, Term b) { return b.like(a) / b; }
inline Term operator-(Term a) { return a.with(a.real() ? a.builder->CreateFNeg(a.value) : a.builder->CreateNeg(a.value)); }
inline Term operator&(Term a, Term b) { return a.with(a.builder->CreateAnd(a.value, b.value)); }
inline Term operator|(Term a, Term b) { return a.with(a.builder->CreateOr(a.value, b.value)); }
inline Term operator^(Term a, Term b) { return a.with(a.builder->CreateXor(a.value, b.value)); }
inline Term operator~(Term a) { return a.with(a.builder->CreateNot(a.value)); }
inline Term operator!(Term a) { return a.with(a.builder->CreateNot(a.value)); }

inline Term compare(Term a, Term b, llvm::CmpInst::Predicate real, llvm::CmpInst::Predicate with_sign, llvm::CmpInst::Predicate without) {
  return a.truth(a.real() ? a.builder->CreateFCmp(real, a.value, b.value) : a.builder->CreateICmp(a.is_signed() ? with_sign : without, a.value, b.value));
}
using P = llvm::CmpInst;
inline Term operator<(Term a, Term b) { return compare(a, b, P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT); }
inline Term operator<=(Term a, Term b) { return compare(a, b, P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE); }
inline Term operator>(Term a, Term b) { return compare(a, b, P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT); }
inline Term operator>=(Term a, Term b) { return compare(a, b, P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE); }
inline Term operator==(Term a, Term b) { return compare(a, b, P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ); }
inline Term operator!=(Term a, Term b) { return compare(a, b, P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE); }

inline Term select(Term mask, Term a, Term b) { return a.with(a.builder->CreateSelect(mask.value, a.value, b.value)); }

// ---- numbers
inline Term is_nan(Term a) { return a.real() ? a.truth(a.builder->CreateFCmpUNO(a.value, a.value)) : a.truth(llvm::Constant::getNullValue(register_type(a.builder->getContext(), DType::bool_, a.width()))); }
inline Term abs(Term a) {
  if (a.real()) return a.from(weft::abs(a.lane()));
  return a.is_signed() ? select(a < a.like(0), -a, a) : a;
}
inline Term is_inf(Term a) { return a.real() ? abs(a) == a.like(std::numeric_limits<double>::infinity()) : is_nan(a); }
inline Term is_finite(Term a) { return a.real() ? abs(a) < a.like(std::numeric_limits<double>::infinity()) : !is_nan(a); }
inline Term sign(Term a) {
  const Term zero = a.like(0), one = a.like(1);
  if (!a.real()) return select(a > zero, one, a.is_signed() ? select(a < zero, a.like(-1), zero) : zero);
  return select(a > zero, one, select(a < zero, a.like(-1), select(is_nan(a), a, zero)));
}

// A constant that is an ordinary number: the usual second operand of max, min, relu and clip, where one instruction does.
inline const llvm::ConstantFP* plain_constant(Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number && !number->isNaN() && !(number->isZero() && number->isNegative()) ? number : nullptr;
}
// The integer type that holds the bits of a.
inline llvm::Type* bits_type(const Term& a) {
  return a.value->getType()->getWithNewType(a.builder->getIntNTy(static_cast<unsigned>(8 * size_of(a.dtype))));
}
// Whether a value, if it is zero, is +0: as it was made, looking `depth` operations back.
inline bool never_minus_zero(Value* value, int depth = 2) {
  if (plain_constant(value)) return true;
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  if (!made || depth == 0) return false;
  const auto operand = [&](unsigned k) { return made->getOperand(k); };
  switch (made->getOpcode()) {
    case llvm::Instruction::FAdd: return never_minus_zero(operand(0), depth - 1) || never_minus_zero(operand(1), depth - 1);
    case llvm::Instruction::FSub: return never_minus_zero(operand(0), depth - 1);         // x - x is +0
    case llvm::Instruction::FMul: return operand(0) == operand(1);
    case llvm::Instruction::SIToFP: case llvm::Instruction::UIToFP: return true;
    case llvm::Instruction::Call: break;
    default: return false;
  }
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(made);
  if (!call) return false;
  if (call->getIntrinsicID() == llvm::Intrinsic::fabs) return true;
  // Not a product that underflows beside zero, but one so near to the constant's size that the difference does not.
  const auto* added = call->getIntrinsicID() == llvm::Intrinsic::fma ? plain_constant(operand(2)) : nullptr;
  return added && std::abs(added->getValueAPF().convertToDouble()) > 0x1p-32;
}
// The maximum, or minimum: +0 lies above -0, and NaN wins.
inline Term extreme(Term a, Term b, bool larger) {
  if (!a.real()) return select(larger ? a > b : a < b, a, b);
  if (plain_constant(a.value)) std::swap(a, b);
  if (auto* number = plain_constant(b.value)) {
    if (larger && number->isZero()) return select(a <= b, b, a);
    return select(larger ? b > a : b < a, b, a);
  }
  // One instruction takes the first if it lies beyond the second, else the second: of two zeros, or if one is NaN. Of zeros that is right where
  // what is never -0 is the second of a maximum, the first of a minimum.
  if (never_minus_zero(larger ? a.value : b.value)) std::swap(a, b);
  if (never_minus_zero(larger ? b.value : a.value)) return a.from(keep_nan(select(larger ? a > b : a < b, a, b).lane(), a.lane()));
  return a.from(weft::extreme(a.lane(), b.lane(), larger));
}
inline Term max(Term a, Term b) { return extreme(a, b, true); }
inline Term max(Term a, double b) { return extreme(a, a.like(b), true); }
inline Term min(Term a, Term b) { return extreme(a, b, false); }
inline Term fmax(Term a, Term b) { return select(is_nan(a), b, select(is_nan(b), a, max(a, b))); }
inline Term fmin(Term a, Term b) { return select(is_nan(a), b, select(is_nan(b), a, min(a, b))); }

inline Term floor(Term a) { return a.real() ? a.from(weft::floor(a.lane())) : a; }
inline Term trunc(Term a) { return a.real() ? a.from(weft::trunc(a.lane())) : a; }
inline Term round_even(Term a) { return a.real() ? a.from(weft::round_even(a.lane())) : a; }
inline Term ceil(Term a) { return a.real() ? -floor(-a) : a; }
inline Term fma(Term a, Term b, Term c) { return a.real() ? a.from(weft::fma(a.lane(), b.lane(), c.lane())) : a * b + c; }
inline Term copysign(Term a, Term b) { return a.from(weft::copysign(a.lane(), b.lane())); }
inline Term signbit(Term a) {
  if (!a.real()) return a.is_signed() ? a < a.like(0) : is_nan(a);
  auto* bits = bits_type(a);
  return a.truth(a.builder->CreateICmpSLT(a.builder->CreateBitCast(a.value, bits), llvm::Constant::getNullValue(bits)));
}

}  // namespace weft::lanes
