// Quotients by a divisor that is the same for a whole loop, without the divider (which takes ten cycles a vector).
//
// With y the rounded reciprocal of b and z what it lost: q = a y + a z, whose error is hardly more than that of its rounding, and
// q + (a - q b) y with the remainder exact by fma. As the first is within one unit in the last place, by Markstein's theorem the
// second is the correctly rounded quotient: the same bits as the divider. It needs remainders and quotients that do not underflow or
// overflow: |b| in [2^-30, 2^30] and |a| in [2^-90, 2^90]. Where one lane is outside, all go to the divider. Of dividends that are known to be
// in [+0, 1], such as those of softmax, that is one instruction a vector instead of three; of whole numbers by a positive constant, such as pixels by
// 255, nothing is asked. (0 is outside otherwise, for -0 is the quotient of one of them.)
//
// By a power of two it is a y, which is exact where the quotient is; and with Options::fast_math for any b of which y is a normal number.
#include "quotients.h"

#include <bit>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Intrinsics.h>

#include "emit_half.h"
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

// Whether one of `numbers` is `limit` or more, or where they must not be below is less, as a mask: of the largest or smallest ones, if registers
// have those of such numbers.
Value* any_outside(llvm::IRBuilderBase& b, Value* numbers, Value* limit, bool below, unsigned register_bits) {
  const auto lanes = [&] { return llvm::cast<llvm::FixedVectorType>(numbers->getType())->getNumElements(); };
  for (const unsigned bits = numbers->getType()->getScalarSizeInBits(); lanes() * bits > register_bits && (bits == 32 || register_bits == 512);) {
    const unsigned half = lanes() / 2;
    Value* upper = b.CreateShuffleVector(numbers, llvm::createSequentialMask(half, half, 0));
    numbers = b.CreateBinaryIntrinsic(below ? llvm::Intrinsic::umin : llvm::Intrinsic::umax, b.CreateShuffleVector(numbers, llvm::createSequentialMask(0, half, 0)), upper);
  }
  return b.CreateICmp(below ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_UGE, numbers, b.CreateShuffleVector(limit, std::vector<int>(lanes(), 0)));
}

}  // namespace

const InvariantDivisor& Quotients::invariant_divisor(const Arg& divisor) {
  InvariantDivisor& d = divisors_[divisor.constant ? to_text(*divisor.constant) + to_text(divisor.constant->dtype()) : std::to_string(divisor.value)];
  if (d.divisor) return d;
  const DType dtype = computed_in(program_.dtype_of(divisor));
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
    const std::uint64_t least = bits_of(dtype, 0x1p-90);
    Value* fits = is_within(b, 0x1p-30, 0x1p30);
    d.span = before.CreateVectorSplat(lane_count, before.CreateSelect(fits, llvm::ConstantInt::get(word, bits_of(dtype, 0x1p90) - least), llvm::ConstantInt::get(word, 0)));
    d.least = before.CreateVectorSplat(lane_count, before.CreateSelect(fits, llvm::ConstantInt::get(word, least), llvm::Constant::getAllOnesValue(word)));
    Value* lost = before.CreateIntrinsic(llvm::Intrinsic::fma, {b->getType()}, {before.CreateFNeg(b), y, constant_value(context_, Scalar::of(dtype, 1.0), 1)});
    d.reciprocal_low = before.CreateVectorSplat(lane_count, before.CreateFMul(lost, y));
  }
  return d;
}

// Which dividends, or the least or most of several, the fast quotient is not exact of; all where the divisor is out of range. NaN passes as `unit`.
Value* Quotients::outside(Value* dividend, const InvariantDivisor& d, bool unit) {
  const unsigned register_bits = 8 * static_cast<unsigned>(register_bytes());
  if (unit) return any_outside(b_, b_.CreateBitCast(dividend, dividend->getType()->getWithNewType(d.least->getType()->getScalarType())), d.least, true, register_bits);
  Value* size = bits_of_size(b_, dividend);
  const DType dtype = dividend->getType()->getScalarType()->isFloatTy() ? f32 : f64;
  return any_outside(b_, b_.CreateSub(size, llvm::ConstantInt::get(size->getType(), bits_of(dtype, 0x1p-90))), d.span, false, register_bits);
}

// Null if not of a power of two.
static llvm::Constant* exact_reciprocal(Value* divisor) {
  const auto* known = llvm::dyn_cast<llvm::ConstantFP>(divisor);
  if (!known) return nullptr;
  llvm::APFloat reciprocal = known->getValueAPF();
  return known->getValueAPF().getExactInverse(&reciprocal) ? llvm::ConstantFP::get(divisor->getType(), reciprocal) : nullptr;
}

// Whole numbers are +0 or at least 1, and below 2^90.
bool Quotients::is_always_inside(const Bounds& dividend, const Arg& divisor) const {
  return dividend.whole_bits > 0 && divisor.constant && divisor.constant->real() >= 0x1p-30 && divisor.constant->real() < 0x1p30;
}

Value* Quotients::divide_by_invariant(Value* dividend, const Arg& divisor, const Bounds& bounds) {
  const auto rounded = [&](Value* quotient) { return is_half(program_.dtype_of(divisor)) ? round_to_half(b_, quotient, program_.dtype_of(divisor)) : quotient; };
  if (llvm::Constant* reciprocal = exact_reciprocal(scalar(divisor)))
    return rounded(b_.CreateFMul(dividend, llvm::ConstantVector::getSplat(llvm::cast<llvm::FixedVectorType>(dividend->getType())->getElementCount(), reciprocal)));
  const InvariantDivisor& d = invariant_divisor(divisor);
  // as many lanes as the dividend has: several steps at once
  const auto wide = [&](Value* splat) {
    const auto lanes = llvm::cast<llvm::FixedVectorType>(dividend->getType())->getNumElements();
    return lanes == lane_count ? splat : b_.CreateShuffleVector(splat, std::vector<int>(lanes, 0));
  };
  const Lane a{dividend, &b_}, b{wide(d.divisor), &b_}, y{wide(d.reciprocal), &b_};
  Value* quotient = nullptr;
  if (fast_math_) {
    quotient = rare(LaneMask{wide(d.refused), &b_}, a * y, [&] { return a / b; }).value;
  } else {
    const Lane q = fma(a, y, a * Lane{wide(d.reciprocal_low), &b_}), exact = fma(fma(-q, b, a), y, q);
    if (is_always_inside(bounds, divisor)) return rounded(exact.value);
    RareBlock block(LaneMask{outside(dividend, d, bounds.unit), &b_});
    const Lane divided = a / b;
    block.leave();
    quotient = block.join(exact, divided).value;
  }
  return rounded(quotient);
}

}  // namespace weft
