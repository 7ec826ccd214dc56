// Quotients by a divisor that is the same for a whole loop, without the divider (which takes ten cycles a vector).
//
// With y the rounded reciprocal of b: q0 = a y, and twice q += (a - q b) y with the remainder exact by fma. After the first
// step q is within one unit in the last place, so by Markstein's theorem the second gives the correctly rounded quotient:
// the same bits as the divider. It needs remainders and quotients that do not underflow or overflow: |b| in
// [2^-30, 2^30] and |a| in [2^-90, 2^90]. Vectors with a lane outside go to the divider.
#include <bit>

#include "emit_half.h"
#include "emit_kernel.h"
#include "llvm_lane.h"

namespace weft {

using llvm::Value;

Value* KernelEmitter::divide_by_invariant(Value* dividend, const Arg& divisor) {
  const DType dtype = computed_in(dtype_of_arg(divisor));
  const int bits = static_cast<int>(8 * size_of(dtype));
  auto* integers = llvm::FixedVectorType::get(b_.getIntNTy(static_cast<unsigned>(bits)), lane_count);
  auto bits_of = [&](double value) { return dtype == f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : std::bit_cast<std::uint64_t>(value); };
  const std::uint64_t magnitude = dtype == f32 ? 0x7fffffffu : 0x7fffffffffffffffu;

  InvariantDivisor& d = divisors_[divisor.constant ? to_text(*divisor.constant) + to_text(divisor.constant->dtype()) : std::to_string(divisor.value)];
  if (!d.divisor) {
    llvm::IRBuilder<> before(before_lanes_);
    llvm::Type* word = before.getIntNTy(static_cast<unsigned>(bits));
    auto number_of = [&](std::uint64_t value) { return llvm::ConstantInt::get(word, value); };
    Value* b = scalar(divisor);
    Value* one = constant_value(context_, Scalar::of(dtype, 1.0), 1);
    Value* size_of_b = before.CreateAnd(before.CreateBitCast(b, word), number_of(magnitude));
    Value* usable = before.CreateICmpULT(before.CreateSub(size_of_b, number_of(bits_of(0x1p-30))), number_of(bits_of(0x1p30) - bits_of(0x1p-30)));
    Value* span = before.CreateSelect(usable, number_of(bits_of(0x1p90) - bits_of(0x1p-90)), number_of(0));
    d.divisor = before.CreateVectorSplat(lane_count, b);
    d.reciprocal = before.CreateVectorSplat(lane_count, before.CreateFDiv(one, b));
    d.span = before.CreateVectorSplat(lane_count, span);
  }
  const Lane a{dividend, &b_}, b{d.divisor, &b_}, y{d.reciprocal, &b_};
  const Lane q0 = a * y;
  const Lane q1 = fma(fma(-q0, b, a), y, q0);
  const Lane q2 = fma(fma(-q1, b, a), y, q1);
  Value* size_of_a = b_.CreateAnd(b_.CreateBitCast(dividend, integers), llvm::ConstantInt::get(integers, magnitude));
  Value* above = b_.CreateSub(size_of_a, llvm::ConstantInt::get(integers, bits_of(0x1p-90)));
  const LaneMask outside{b_.CreateICmpUGE(above, d.span), &b_};
  Value* quotient = rare(outside, q2, [&] { return a / b; }).value;
  return is_half(dtype_of_arg(divisor)) ? round_to_half(b_, quotient, dtype_of_arg(divisor)) : quotient;
}

}  // namespace weft
