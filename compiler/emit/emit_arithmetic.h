// Quotients, remainders, shifts and integer powers of ops.def on Terms: none traps, none is poison.
#pragma once
#include "emit_function.h"

namespace weft::lanes {

// a / b towards zero, b neither 0 nor -1. Processors divide vectors of floats alone, and LLVM would divide lane by lane. The rounded quotient
// of numbers of a dtype that has them all, f32 for 16 bits and f64 for 32, has the same whole part as the exact one: that is 1 / |b| or
// more from the next whole number, and rounding moves it by less where |a| < 2^24, or 2^53. Of 64 bits that is looked at.
inline Term whole_quotient(Term a, Term b) {
  auto& builder = *a.builder;
  const auto by_integers = [&] { return a.is_signed() ? builder.CreateSDiv(a.value, b.value) : builder.CreateUDiv(a.value, b.value); };
  const std::size_t bytes = size_of(a.dtype);
  if (a.width() == 1 || (bytes < 8 && llvm::isa<llvm::Constant>(b.value))) return a.with(by_integers());        // by a constant: products
  llvm::Type* reals = a.value->getType()->getWithNewType(bytes <= 2 ? builder.getFloatTy() : builder.getDoubleTy());
  const auto real = [&](Term x) { return Lane{x.is_signed() ? builder.CreateSIToFP(x.value, reals) : builder.CreateUIToFP(x.value, reals), &builder}; };
  const Lane dividend = real(a), divisor = real(b), ratio = dividend / divisor;
  const auto by_reals = [&](Value* quotient) { return a.is_signed() ? builder.CreateFPToSI(quotient, a.value->getType()) : builder.CreateFPToUI(quotient, a.value->getType()); };
  if (bytes < 8) return a.with(by_reals(ratio.value));
  const Lane limit = dividend.like(0x1p53);
  const LaneMask beyond = !((abs(dividend) < limit) & (abs(divisor) < limit));
  Value* quotient = by_reals(select(beyond, dividend.like(0), ratio).value);
  RareBlock block(beyond);
  Value* exact = by_integers();
  block.leave();
  return a.with(block.join(Lane{quotient, &builder}, Lane{exact, &builder}).value);
}

// Integer division that never traps: a divisor of 0 or -1 is replaced and its result chosen afterwards.
struct SafeDivision {
  Term quotient, rest, by_zero, by_minus_one;
};
inline SafeDivision divide_safely(Term a, Term b) {
  const Term by_zero = b == b.like(0), by_minus_one = a.is_signed() ? b == b.like(-1) : by_zero;
  const Term divisor = select(by_zero | by_minus_one, b.like(1), b), quotient = whole_quotient(a, divisor);
  return {quotient, a - quotient * divisor, by_zero, by_minus_one};
}
// Exact, so all ways give the same bits. Where the rounded quotient has all digits before its point it is at most one too large, and fma takes so many
// divisors off exactly: what is left is a multiple of the last places of both, and no larger than either. The library does the rest, zeros, infinities and
// NaN too, lane by lane. 65536 floats 17 ns an element by the library, .08 so; remainders .20, floor_divide .32 (Zen 5).
inline Term real_fmod(Term a, Term b) {
  const Lane x = weft::abs(a.lane()), y = weft::abs(b.lane()), quotient = x / y, rest = weft::fma(-weft::floor(quotient), y, x);
  const Lane positive = weft::select(rest < rest.like(0), rest + y, rest);
  const LaneMask beyond = !(quotient < quotient.like(a.dtype == f64 ? 0x1p53 : 0x1p24));
  const Lane fast = weft::copysign(weft::select(x < y, x, positive), a.lane());          // an infinite y, too
  RareBlock block(beyond);
  const Lane exact{a.builder->CreateFRem(a.value, b.value), a.builder};
  block.leave();
  return a.from(block.join(fast, exact));
}
inline Term fmod(Term a, Term b) {
  if (a.real()) return real_fmod(a, b);
  const SafeDivision d = divide_safely(a, b);
  return select(d.by_zero | d.by_minus_one, a.like(0), d.rest);
}
// The nearest whole number to q, which is one but for rounding.
inline Term to_whole(Term q) {
  const Term below = floor(q);
  return select(q - below > q.like(0.5), below + q.like(1), below);
}
inline Term truncated_divide(Term a, Term b) {
  if (!a.real()) {
    const SafeDivision d = divide_safely(a, b);
    const Term quotient = a.is_signed() ? select(d.by_minus_one, -a, d.quotient) : d.quotient;
    return select(d.by_zero, a.like(0), quotient);
  }
  const Term ratio = a / b, quotient = copysign(to_whole(abs((a - fmod(a, b)) / b)), ratio);
  return select((b == b.like(0)) | !is_finite(a) | !is_finite(b), ratio, quotient);
}
inline Term floor_divide(Term a, Term b) {
  const Term zero = a.like(0), one = a.like(1);
  if (!a.real()) {
    const SafeDivision d = divide_safely(a, b);
    Term quotient = d.quotient;
    if (a.is_signed()) {
      quotient = select((d.rest != zero) & ((a < zero) ^ (b < zero)), quotient - one, quotient);
      quotient = select(d.by_minus_one, zero - a, quotient);
    }
    return select(d.by_zero, zero, quotient);
  }
  const Term rest = fmod(a, b), ratio = a / b;
  Term quotient = (a - rest) / b;
  quotient = select((rest != zero) & (signbit(rest) ^ signbit(b)), quotient - one, quotient);
  const Term result = select(quotient == zero, copysign(zero, ratio), to_whole(quotient));
  const Term special = (b == zero) | !is_finite(a) | !is_finite(b);
  return select(special, select(is_inf(a) & is_inf(b), a - a, ratio), result);
}
inline Term remainder(Term a, Term b) {
  const Term zero = a.like(0);
  if (!a.real()) {
    const SafeDivision d = divide_safely(a, b);
    Term rest = d.rest;
    if (a.is_signed()) rest = select((rest != zero) & ((a < zero) ^ (b < zero)), rest + b, rest);
    return select(d.by_zero | d.by_minus_one, zero, rest);
  }
  const Term rest = fmod(a, b);
  const Term same_sign = !(signbit(rest) ^ signbit(b));
  return select(rest == zero, copysign(zero, b), select(is_nan(rest) | same_sign, rest, rest + b));
}

inline Term shift(Term a, Term b, bool left) {
  if (is_boolean(a.dtype)) return a & !b;
  const Term zero = b.like(0), width = b.like(static_cast<double>(8 * size_of(a.dtype)));
  const Term inside = (b >= zero) & (b < width);
  const Term amount = select(inside, b, zero);
  if (left) return select(inside, a.with(a.builder->CreateShl(a.value, amount.value)), a.like(0));
  const Term shifted = a.with(a.is_signed() ? a.builder->CreateAShr(a.value, amount.value) : a.builder->CreateLShr(a.value, amount.value));
  const Term beyond = a.is_signed() ? select(a < a.like(0), a.like(-1), a.like(0)) : a.like(0);
  return select(inside, shifted, beyond);
}
inline Term shift_left(Term a, Term b) { return shift(a, b, true); }
inline Term shift_right(Term a, Term b) { return shift(a, b, false); }

// By squaring, in a loop that ends when every lane's exponent is used up.
inline Term integer_power(Term base, Term exponent) {
  auto& builder = *base.builder;
  auto& context = builder.getContext();
  auto* function = builder.GetInsertBlock()->getParent();
  auto* before = builder.GetInsertBlock();
  auto* body = llvm::BasicBlock::Create(context, "power", function);
  auto* after = llvm::BasicBlock::Create(context, "power.end", function);
  const Term one = base.like(1), zero = base.like(0);
  const Term negative = base.is_signed() ? exponent < zero : exponent != exponent;
  const Term start = select(negative, zero, exponent);
  builder.CreateBr(body);
  builder.SetInsertPoint(body);
  auto* type = base.value->getType();
  auto *result = builder.CreatePHI(type, 2), *square = builder.CreatePHI(type, 2), *left = builder.CreatePHI(type, 2);
  result->addIncoming(one.value, before);
  square->addIncoming(base.value, before);
  left->addIncoming(start.value, before);
  const Term odd = (base.with(left) & one) != zero;
  const Term next = select(odd, base.with(result) * base.with(square), base.with(result));
  Value* next_left = builder.CreateLShr(left, one.value);
  Value* more = (base.with(next_left) != zero).value;
  if (base.width() > 1) more = builder.CreateOrReduce(more);
  result->addIncoming(next.value, body);
  square->addIncoming(builder.CreateMul(square, square), body);
  left->addIncoming(next_left, body);
  builder.CreateCondBr(more, body, after);
  builder.SetInsertPoint(after);
  if (!base.is_signed()) return next;
  const Term minus_one = base.like(-1), even = (exponent & one) == zero;
  return select(negative, select(base == one, one, select(base == minus_one, select(even, one, minus_one), zero)), next);
}
inline Term power(Term a, Term b) { return a.real() ? float_power(a, b) : integer_power(a, b); }

}  // namespace weft::lanes
