#include "emit_half.h"

#include <llvm/IR/Function.h>

#include "llvm_lane.h"

namespace weft {
namespace {

using llvm::Value;

llvm::Type* like(Value* value, llvm::Type* element) { return value->getType()->getWithNewType(element); }

bool has_f16c(const llvm::IRBuilderBase& builder) {
  return builder.GetInsertBlock()->getParent()->getFnAttribute("target-features").getValueAsString().contains("+f16c");
}

// Bits above the lowest 16 of a float are a bf16: add a bit less than half of the last place, and the last place itself
// if it is odd. A NaN is made quiet first: its payload may lie in the lower bits alone.
Lane round_to_bf16(const Lane& x) {
  const LaneInt bits = to_bits(x), odd = shift_right_logical(bits, 16) & x.int_like(1);
  const LaneInt rounded = bits + (odd + x.int_like(0x7fff)), quiet = bits | x.int_like(0x400000);
  return from_bits(select(x != x, quiet, rounded) & x.int_like(0xffff0000));
}

// Without the instruction. Normal numbers as above, the exponent counted from another bias. Below 2^-14 the last place is
// 2^-24, which is that of floats from 0.5 to 1: adding 0.5 rounds.
LaneInt f16_bits(const Lane& x) {
  const Lane size = abs(x), half = x.like(0.5);
  const LaneInt bits = to_bits(size), sign = to_bits(x) ^ bits, odd = shift_right_logical(bits, 13) & x.int_like(1);
  const LaneInt normal = shift_right_logical(bits + (odd + x.int_like(0xfff - (112 << 23))), 13);
  const LaneInt subnormal = to_bits(size + half) - to_bits(half);
  const LaneInt finite = select(size < x.like(0x1p-14), subnormal, normal);
  const LaneInt large = select(x != x, x.int_like(0x7e00), x.int_like(0x7c00));
  return select(size < x.like(65520), finite, large) | shift_right_logical(sign, 16);
}

// The fraction and exponent at their places in a float, which is then too small by 2^112, subnormals included.
Lane from_f16_bits(const LaneInt& bits, const Lane& like) {
  const LaneInt size = (bits & like.int_like(0x7fff)) << 13, sign = (bits & like.int_like(0x8000)) << 16;
  const LaneInt scaled = to_bits(from_bits(size) * like.like(0x1p112));
  const LaneInt special = select(size < like.int_like(0x7c00 << 13), like.int_like(0), like.int_like(0x7f800000));
  return from_bits(scaled | special | sign);
}

// double -> float, rounded to odd: to zero, then the last bit is set if anything was lost. Rounding that to 22 bits or
// fewer is rounding the double once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums").
Value* to_odd_float(llvm::IRBuilderBase& builder, Value* value) {
  const Lane nearest{builder.CreateFPTrunc(value, like(value, builder.getFloatTy())), &builder};
  const Lane back{builder.CreateFPExt(nearest.value, value->getType()), &builder}, exact{value, &builder};
  auto* words = like(value, builder.getInt32Ty());
  const LaneInt beyond{builder.CreateZExt((abs(back) > abs(exact)).value, words), &builder};
  const LaneInt lost{builder.CreateZExt(builder.CreateFCmpONE(back.value, value), words), &builder};
  return from_bits((to_bits(nearest) - beyond) | lost).value;
}

// 64-bit integer -> double; numbers that do not fit its 53 bits lose the lowest 11, the bit above them set if any was.
Value* to_odd_double(llvm::IRBuilderBase& builder, Value* value, bool is_signed) {
  auto* type = value->getType();
  const auto number = [&](std::uint64_t k) { return llvm::ConstantInt::get(type, k); };
  Value* from_lowest = is_signed ? builder.CreateAdd(value, number(std::uint64_t{1} << 53)) : value;
  Value* fits = builder.CreateICmpULE(from_lowest, number(std::uint64_t{1} << (is_signed ? 54 : 53)));
  Value* lost = builder.CreateICmpNE(builder.CreateAnd(value, number(0x7ff)), number(0));
  Value* odd = builder.CreateOr(builder.CreateAnd(value, number(~std::uint64_t{0x7ff})), builder.CreateShl(builder.CreateZExt(lost, type), number(11)));
  Value* safe = builder.CreateSelect(fits, value, odd);
  auto* real = like(value, builder.getDoubleTy());
  return is_signed ? builder.CreateSIToFP(safe, real) : builder.CreateUIToFP(safe, real);
}

// A float that rounds to a half as `value` does.
Value* float_before_half(llvm::IRBuilderBase& builder, Value* value, DType from) {
  if (from == f32) return value;
  if (from == f64) return to_odd_float(builder, value);
  const bool is_signed = is_signed_integer(from);
  if (size_of(from) == 8) return to_odd_float(builder, to_odd_double(builder, value, is_signed));
  auto* real = like(value, size_of(from) == 4 ? builder.getDoubleTy() : builder.getFloatTy());
  Value* exact = is_signed ? builder.CreateSIToFP(value, real) : builder.CreateUIToFP(value, real);
  return size_of(from) == 4 ? to_odd_float(builder, exact) : exact;
}

}  // namespace

Value* to_half_bits(llvm::IRBuilderBase& builder, Value* value, DType half) {
  auto* shorts = like(value, builder.getInt16Ty());
  if (half == bf16) return builder.CreateTrunc(shift_right_logical(to_bits(Lane{value, &builder}), 16).value, shorts);
  if (has_f16c(builder)) return builder.CreateBitCast(builder.CreateFPTrunc(value, like(value, builder.getHalfTy())), shorts);
  return builder.CreateTrunc(f16_bits(Lane{value, &builder}).value, shorts);
}

Value* from_half_bits(llvm::IRBuilderBase& builder, Value* bits, DType half) {
  auto* floats = like(bits, builder.getFloatTy());
  if (half == f16 && has_f16c(builder)) return builder.CreateFPExt(builder.CreateBitCast(bits, like(bits, builder.getHalfTy())), floats);
  const LaneInt wide{builder.CreateZExt(bits, like(bits, builder.getInt32Ty())), &builder};
  if (half == bf16) return from_bits(wide << 16).value;
  return from_f16_bits(wide, Lane{llvm::Constant::getNullValue(floats), &builder}).value;
}

Value* round_to_half(llvm::IRBuilderBase& builder, Value* value, DType half) {
  if (half == bf16) return round_to_bf16(Lane{value, &builder}).value;
  return from_half_bits(builder, to_half_bits(builder, value, half), half);
}

Value* cast_to_half(llvm::IRBuilderBase& builder, Value* value, DType from, DType half) {
  if (from == half) return value;
  return round_to_half(builder, float_before_half(builder, value, computed_in(from)), half);
}

}  // namespace weft
