// Quotients by a divisor that is the same for a whole loop, without the divider (which takes ten cycles a vector).
//
// With y the rounded reciprocal of b: q0 = a y, and twice q += (a - q b) y with the remainder exact by fma. After the first
// step q is within one unit in the last place, so by Markstein's theorem the second gives the correctly rounded quotient:
// the same bits as the divider. It needs remainders and quotients that do not underflow or overflow: |b| in
// [2^-30, 2^30] and |a| in [2^-90, 2^90]. Vectors with a lane outside go to the divider.
//
// With Options::fast_math it is a y, unless y is not a normal number.
#include <bit>

#include "emit_half.h"
#include "emit_kernel.h"
#include "llvm_lane.h"

namespace weft {

using llvm::Value;

namespace {

std::uint64_t bits_of(DType dtype, double value) {
  return dtype == f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : std::bit_cast<std::uint64_t>(value);
}

// The bits of |number|, one or a vector of them.
Value* bits_of_size(llvm::IRBuilderBase& b, Value* number) {
  auto* integers = number->getType()->getWithNewType(b.getIntNTy(number->getType()->getScalarSizeInBits()));
  const bool is_f32 = number->getType()->getScalarSizeInBits() == 32;
  return b.CreateAnd(b.CreateBitCast(number, integers), llvm::ConstantInt::get(integers, is_f32 ? 0x7fffffffu : 0x7fffffffffffffffu));
}

}  // namespace

const InvariantDivisor& KernelEmitter::invariant_divisor(const Arg& divisor) {
  InvariantDivisor& d = divisors_[divisor.constant ? to_text(*divisor.constant) + to_text(divisor.constant->dtype()) : std::to_string(divisor.value)];
  if (d.divisor) return d;
  const DType dtype = computed_in(dtype_of_arg(divisor));
  llvm::IRBuilder<> before(before_lanes_);
  Value* b = scalar(divisor);
  Value* y = before.CreateFDiv(constant_value(context_, Scalar::of(dtype, 1.0), 1), b);
  // Whether the size of the number is in [least, most).
  const auto is_within = [&](Value* number, double least, double most) {
    Value* size = bits_of_size(before, number);
    const std::uint64_t first = bits_of(dtype, least);
    return before.CreateICmpULT(before.CreateSub(size, llvm::ConstantInt::get(size->getType(), first)), llvm::ConstantInt::get(size->getType(), bits_of(dtype, most) - first));
  };
  d.divisor = before.CreateVectorSplat(lane_count, b);
  d.reciprocal = before.CreateVectorSplat(lane_count, y);
  if (fast_math_) {
    d.refused = before.CreateVectorSplat(lane_count, before.CreateNot(is_within(y, dtype == f32 ? 0x1p-126 : 0x1p-1022, std::numeric_limits<double>::infinity())));
  } else {
    llvm::Type* word = before.getIntNTy(b->getType()->getScalarSizeInBits());
    Value* span = before.CreateSelect(is_within(b, 0x1p-30, 0x1p30), llvm::ConstantInt::get(word, bits_of(dtype, 0x1p90) - bits_of(dtype, 0x1p-90)), llvm::ConstantInt::get(word, 0));
    d.span = before.CreateVectorSplat(lane_count, span);
  }
  return d;
}

Value* KernelEmitter::divide_by_invariant(Value* dividend, const Arg& divisor) {
  const InvariantDivisor& d = invariant_divisor(divisor);
  // as many lanes as the dividend has: several steps at once
  const auto wide = [&](Value* splat) {
    const auto lanes = llvm::cast<llvm::FixedVectorType>(dividend->getType())->getNumElements();
    return lanes == lane_count ? splat : b_.CreateShuffleVector(splat, std::vector<int>(lanes, 0));
  };
  const Lane a{dividend, &b_}, b{wide(d.divisor), &b_}, y{wide(d.reciprocal), &b_};
  const Lane q0 = a * y;
  Value* quotient = nullptr;
  if (fast_math_) {
    quotient = rare(LaneMask{wide(d.refused), &b_}, q0, [&] { return a / b; }).value;
  } else {
    const Lane q1 = fma(fma(-q0, b, a), y, q0);
    const Lane q2 = fma(fma(-q1, b, a), y, q1);
    Value* size = bits_of_size(b_, dividend);
    Value* above = b_.CreateSub(size, llvm::ConstantInt::get(size->getType(), bits_of(computed_in(dtype_of_arg(divisor)), 0x1p-90)));
    quotient = rare(LaneMask{b_.CreateICmpUGE(above, wide(d.span)), &b_}, q2, [&] { return a / b; }).value;
  }
  return is_half(dtype_of_arg(divisor)) ? round_to_half(b_, quotient, dtype_of_arg(divisor)) : quotient;
}

}  // namespace weft
