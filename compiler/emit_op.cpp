#include "emit_op.h"

#include <cmath>

#include <llvm/IR/Intrinsics.h>

#include "emit_half.h"
#include "llvm_lane.h"
#include "vecmath.h"

namespace weft {
namespace {

using llvm::Value;

// A value with its dtype: what the names in ops.def mean on lanes. Literals take the type of the other operand.
struct Term {
  Value* value;
  DType dtype;
  llvm::IRBuilderBase* builder;

  bool real() const { return is_floating(dtype); }
  bool is_signed() const { return is_signed_integer(dtype); }
  int width() const {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    return vector ? static_cast<int>(vector->getNumElements()) : 1;
  }
  Term with(Value* other) const { return {other, dtype, builder}; }
  Term truth(Value* other) const { return {other, DType::bool_, builder}; }
  Term like(double literal) const { return with(constant_value(builder->getContext(), Scalar::of(dtype, literal), width())); }
  Lane lane() const { return {value, builder}; }
  Term from(const Lane& lane) const { return with(lane.value); }
};

// ---- operators
Term operator+(Term a, Term b) { return a.with(a.real() ? a.builder->CreateFAdd(a.value, b.value) : a.builder->CreateAdd(a.value, b.value)); }
Term operator-(Term a, Term b) { return a.with(a.real() ? a.builder->CreateFSub(a.value, b.value) : a.builder->CreateSub(a.value, b.value)); }
Term operator*(Term a, Term b) { return a.with(a.real() ? a.builder->CreateFMul(a.value, b.value) : a.builder->CreateMul(a.value, b.value)); }
Term operator/(Term a, Term b) { return a.with(a.builder->CreateFDiv(a.value, b.value)); }
Term operator/(double a, Term b) { return b.like(a) / b; }
Term operator-(Term a) { return a.with(a.real() ? a.builder->CreateFNeg(a.value) : a.builder->CreateNeg(a.value)); }
Term operator&(Term a, Term b) { return a.with(a.builder->CreateAnd(a.value, b.value)); }
Term operator|(Term a, Term b) { return a.with(a.builder->CreateOr(a.value, b.value)); }
Term operator^(Term a, Term b) { return a.with(a.builder->CreateXor(a.value, b.value)); }
Term operator~(Term a) { return a.with(a.builder->CreateNot(a.value)); }
Term operator!(Term a) { return a.with(a.builder->CreateNot(a.value)); }

Term compare(Term a, Term b, llvm::CmpInst::Predicate real, llvm::CmpInst::Predicate with_sign, llvm::CmpInst::Predicate without) {
  return a.truth(a.real() ? a.builder->CreateFCmp(real, a.value, b.value) : a.builder->CreateICmp(a.is_signed() ? with_sign : without, a.value, b.value));
}
using P = llvm::CmpInst;
Term operator<(Term a, Term b) { return compare(a, b, P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT); }
Term operator<=(Term a, Term b) { return compare(a, b, P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE); }
Term operator>(Term a, Term b) { return compare(a, b, P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT); }
Term operator>=(Term a, Term b) { return compare(a, b, P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE); }
Term operator==(Term a, Term b) { return compare(a, b, P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ); }
Term operator!=(Term a, Term b) { return compare(a, b, P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE); }

Term select(Term mask, Term a, Term b) { return a.with(a.builder->CreateSelect(mask.value, a.value, b.value)); }

// ---- numbers
Term is_nan(Term a) { return a.real() ? a.truth(a.builder->CreateFCmpUNO(a.value, a.value)) : a.truth(llvm::Constant::getNullValue(register_type(a.builder->getContext(), DType::bool_, a.width()))); }
Term abs(Term a) {
  if (a.real()) return a.from(weft::abs(a.lane()));
  return a.is_signed() ? select(a < a.like(0), -a, a) : a;
}
Term is_inf(Term a) { return a.real() ? abs(a) == a.like(std::numeric_limits<double>::infinity()) : is_nan(a); }
Term is_finite(Term a) { return a.real() ? abs(a) < a.like(std::numeric_limits<double>::infinity()) : !is_nan(a); }
Term sign(Term a) {
  const Term zero = a.like(0), one = a.like(1);
  if (!a.real()) return select(a > zero, one, a.is_signed() ? select(a < zero, a.like(-1), zero) : zero);
  return select(a > zero, one, select(a < zero, a.like(-1), select(is_nan(a), a, zero)));
}

// A constant that is an ordinary number: the usual second operand of max, min, relu and clip, where one instruction does.
const llvm::ConstantFP* plain_constant(Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number && !number->isNaN() && !(number->isZero() && number->isNegative()) ? number : nullptr;
}
// Bits of equal numbers differ only in the sign of zero: `and` gives +0 if either is, `or` gives -0.
Term equal_bits(Term a, Term b, bool conjunction) {
  auto* bits = a.value->getType()->getWithNewBitWidth(static_cast<unsigned>(8 * size_of(a.dtype)));
  Value* x = a.builder->CreateBitCast(a.value, bits);
  Value* y = a.builder->CreateBitCast(b.value, bits);
  return a.with(a.builder->CreateBitCast(conjunction ? a.builder->CreateAnd(x, y) : a.builder->CreateOr(x, y), a.value->getType()));
}
Term extreme(Term a, Term b, bool larger) {
  if (!a.real()) return select(larger ? a > b : a < b, a, b);
  if (plain_constant(a.value)) std::swap(a, b);
  if (auto* number = plain_constant(b.value)) {
    if (larger && number->isZero()) return select(a <= b, b, a);
    return select(larger ? b > a : b < a, b, a);
  }
  const Term chosen = select(a == b, equal_bits(a, b, larger), select(larger ? a > b : a < b, a, b));
  return select(a.truth(a.builder->CreateFCmpUNO(a.value, b.value)), a + b, chosen);
}
Term max(Term a, Term b) { return extreme(a, b, true); }
Term max(Term a, double b) { return extreme(a, a.like(b), true); }
Term min(Term a, Term b) { return extreme(a, b, false); }

Term floor(Term a) { return a.real() ? a.from(weft::floor(a.lane())) : a; }
Term trunc(Term a) { return a.real() ? a.from(weft::trunc(a.lane())) : a; }
Term round_even(Term a) { return a.real() ? a.from(weft::round_even(a.lane())) : a; }
Term ceil(Term a) { return a.real() ? -floor(-a) : a; }
Term fma(Term a, Term b, Term c) { return a.real() ? a.from(weft::fma(a.lane(), b.lane(), c.lane())) : a * b + c; }
Term copysign(Term a, Term b) { return a.from(weft::copysign(a.lane(), b.lane())); }

Term sqrt(Term a) { return a.from(weft::sqrt(a.lane())); }
Term exp(Term a) { return a.from(vecmath::exp(a.lane())); }
Term expm1(Term a) { return a.from(vecmath::expm1(a.lane())); }
Term log(Term a) { return a.from(vecmath::log(a.lane())); }
Term log1p(Term a) { return a.from(vecmath::log1p(a.lane())); }
Term sin(Term a) { return a.from(vecmath::sin(a.lane())); }
Term cos(Term a) { return a.from(vecmath::cos(a.lane())); }
Term tan(Term a) { return a.from(vecmath::tan(a.lane())); }
Term tanh(Term a) { return a.from(vecmath::tanh(a.lane())); }
Term sigmoid(Term a) { return a.from(vecmath::sigmoid(a.lane())); }
Term softplus(Term a) { return a.from(vecmath::softplus(a.lane())); }
Term erf(Term a) { return a.from(vecmath::erf(a.lane())); }

Term signbit(Term a) {
  auto* bits = a.value->getType()->getWithNewBitWidth(static_cast<unsigned>(8 * size_of(a.dtype)));
  return a.truth(a.builder->CreateICmpSLT(a.builder->CreateBitCast(a.value, bits), llvm::Constant::getNullValue(bits)));
}
// fmod is exact, so the library's per lane gives the same bits as any other.
Term fmod(Term a, Term b) { return a.with(a.builder->CreateFRem(a.value, b.value)); }

// Integer division that never traps: a divisor of 0 or -1 is replaced and its result chosen afterwards.
struct SafeDivision {
  Term quotient, rest, by_zero, by_minus_one;
};
SafeDivision divide_safely(Term a, Term b) {
  const Term by_zero = b == b.like(0), by_minus_one = a.is_signed() ? b == b.like(-1) : by_zero;
  const Term divisor = select(by_zero | by_minus_one, b.like(1), b);
  auto* builder = a.builder;
  if (a.is_signed()) return {a.with(builder->CreateSDiv(a.value, divisor.value)), a.with(builder->CreateSRem(a.value, divisor.value)), by_zero, by_minus_one};
  return {a.with(builder->CreateUDiv(a.value, divisor.value)), a.with(builder->CreateURem(a.value, divisor.value)), by_zero, by_minus_one};
}
Term floor_divide(Term a, Term b) {
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
  const Term below = floor(quotient);
  Term result = select(quotient - below > a.like(0.5), below + one, below);
  result = select(quotient == zero, copysign(zero, ratio), result);
  const Term special = (b == zero) | !is_finite(a) | !is_finite(b);
  return select(special, select(is_inf(a) & is_inf(b), a - a, ratio), result);
}
Term remainder(Term a, Term b) {
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

Term shift(Term a, Term b, bool left) {
  if (is_boolean(a.dtype)) return a & !b;
  const Term zero = b.like(0), width = b.like(static_cast<double>(8 * size_of(a.dtype)));
  const Term inside = (b >= zero) & (b < width);
  const Term amount = select(inside, b, zero);
  if (left) return select(inside, a.with(a.builder->CreateShl(a.value, amount.value)), a.like(0));
  const Term shifted = a.with(a.is_signed() ? a.builder->CreateAShr(a.value, amount.value) : a.builder->CreateLShr(a.value, amount.value));
  const Term beyond = a.is_signed() ? select(a < a.like(0), a.like(-1), a.like(0)) : a.like(0);
  return select(inside, shifted, beyond);
}
Term shift_left(Term a, Term b) { return shift(a, b, true); }
Term shift_right(Term a, Term b) { return shift(a, b, false); }

// By squaring, in a loop that ends when every lane's exponent is used up.
Term integer_power(Term base, Term exponent) {
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
Term power(Term a, Term b) { return a.real() ? a.from(vecmath::pow(a.lane(), b.lane())) : integer_power(a, b); }

// ---- casts: the operand of a conversion knows where it goes
struct Source {
  Term term;
  DType to;
};
Term convert(Source source) {
  const Term a = source.term;
  auto& builder = *a.builder;
  auto* type = register_type(builder.getContext(), source.to, a.width());
  const Term result{nullptr, source.to, a.builder};
  if (a.dtype == source.to) return a;
  if (is_boolean(source.to)) return a != a.like(0);
  if (a.real() && is_floating(source.to)) return result.with(builder.CreateFPCast(a.value, type));
  if (a.real()) {
    // Saturating, NaN to 0. The bounds are powers of two, so exact in every float type; inside them the conversion is
    // defined. Narrow integers go through 32 bits, which vectors convert to directly.
    const bool with_sign = is_signed_integer(source.to);
    const int digits = static_cast<int>(8 * size_of(source.to)) - (with_sign ? 1 : 0);
    const Term low = a.like(with_sign ? -std::ldexp(1.0, digits) : 0.0), high = a.like(std::ldexp(1.0, digits));
    const Term inside = (a >= low) & (a < high), safe = select(inside, a, a.like(0));
    auto* wide = size_of(source.to) < 4 ? register_type(builder.getContext(), i32, a.width()) : type;
    Value* whole = with_sign || wide != type ? builder.CreateFPToSI(safe.value, wide) : builder.CreateFPToUI(safe.value, wide);
    const Scalar largest = Scalar::of(source.to, std::numeric_limits<double>::infinity());
    const Scalar smallest = Scalar::of(source.to, -std::numeric_limits<double>::infinity());
    auto limit = [&](const Scalar& value) { return result.with(constant_value(builder.getContext(), value, a.width())); };
    const Term beyond = select(a >= high, limit(largest), select(a < low, limit(smallest), limit(Scalar::of(source.to, 0))));
    return select(inside, result.with(builder.CreateTrunc(whole, type)), beyond);
  }
  if (is_floating(source.to)) return result.with(a.is_signed() ? builder.CreateSIToFP(a.value, type) : builder.CreateUIToFP(a.value, type));
  return result.with(builder.CreateIntCast(a.value, type, a.is_signed()));
}

template <Op op> struct Meaning;
#define WEFT_UNARY(name, rule, meaning, ...) \
  template <> struct Meaning<Op::name> { template <class A> static auto of(A a) { return meaning; } };
#define WEFT_BINARY(name, rule, meaning, ...) \
  template <> struct Meaning<Op::name> { template <class A> static auto of(A a, A b) { return meaning; } };
#define WEFT_TERNARY(name, rule, meaning, ...) \
  template <> struct Meaning<Op::name> { template <class A> static auto of(A a, A b, A c) { return meaning; } };
#include <weft/ops.def>

// cast is the one op whose operand needs more than its own type.
template <Op op, class... Terms> Value* value_of(Terms... terms) {
  if constexpr (op == Op::cast) return nullptr;
  else return Meaning<op>::of(terms...).value;
}

Value* emit_meaning(Op op, const std::vector<Term>& terms) {
  switch (op) {
#define WEFT_UNARY(name, ...) case Op::name: return value_of<Op::name>(terms[0]);
#define WEFT_BINARY(name, ...) case Op::name: return value_of<Op::name>(terms[0], terms[1]);
#define WEFT_TERNARY(name, ...) case Op::name: return value_of<Op::name>(terms[0], terms[1], terms[2]);
#include <weft/ops.def>
  }
  fail(ErrorKind::internal, "no such op");
}

}  // namespace

llvm::Type* register_type(llvm::LLVMContext& context, DType dtype, int width) {
  llvm::Type* type = nullptr;
  if (is_boolean(dtype)) type = llvm::Type::getInt1Ty(context);
  else if (is_integer(dtype)) type = llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * size_of(dtype)));
  else type = dtype == f64 ? llvm::Type::getDoubleTy(context) : llvm::Type::getFloatTy(context);
  return width == 1 ? type : llvm::FixedVectorType::get(type, static_cast<unsigned>(width));
}

llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype, int width) {
  return register_type(context, is_boolean(dtype) ? u8 : is_half(dtype) ? u16 : dtype, width);
}

llvm::Constant* constant_value(llvm::LLVMContext& context, const Scalar& value, int width) {
  llvm::Type* type = register_type(context, value.dtype(), 1);
  llvm::Constant* constant = is_floating(value.dtype())
      ? llvm::ConstantFP::get(type, value.real())
      : static_cast<llvm::Constant*>(llvm::ConstantInt::get(type, value.unsigned_integer(), is_signed_integer(value.dtype())));
  return width == 1 ? constant : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(static_cast<unsigned>(width)), constant);
}

Value* emit_op(llvm::IRBuilderBase& builder, Op op, const std::vector<Value*>& operands, const std::vector<DType>& dtypes, DType result) {
  if (op == Op::cast && is_half(result)) return cast_to_half(builder, operands[0], dtypes[0], result);
  std::vector<Term> terms;
  for (std::size_t k = 0; k < operands.size(); ++k) terms.push_back({operands[k], computed_in(dtypes[k]), &builder});
  if (op == Op::cast) return convert(Source{terms[0], result}).value;
  Value* value = emit_meaning(op, terms);
  return is_half(result) && !keeps_half(op) ? round_to_half(builder, value, result) : value;
}

Value* emit_combine(llvm::IRBuilderBase& builder, AccumulatorId accumulator, DType dtype, Value* a, Value* b) {
  WEFT_ASSERT(!is_half(dtype), "folds of ", dtype, " are folds in f32");
  const Term x{a, dtype, &builder}, y{b, dtype, &builder};
  switch (accumulator) {
    case AccumulatorId::sum: return (x + y).value;
    case AccumulatorId::prod: return (x * y).value;
    case AccumulatorId::max: return max(x, y).value;
    case AccumulatorId::min: return min(x, y).value;
    case AccumulatorId::any: return (x | y).value;
    case AccumulatorId::all: return (x & y).value;
    case AccumulatorId::none: break;
  }
  fail(ErrorKind::internal, "no such accumulator");
}

}  // namespace weft
