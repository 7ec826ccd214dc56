#include "emit_op.h"

#include <cmath>

#include "emit_arithmetic.h"
#include "emit_half.h"

namespace weft {
namespace {

using lanes::Term;
using llvm::Value;

// ---- casts: the operand of a conversion knows where it goes
struct Source {
  Term term;
  DType to;
};

// Saturating, NaN to 0, into integers all of which are floats: by the smaller and the larger of two, where others are selected. Rows of floats to bytes by
// their largest .158 -> .128 ns an element (Zen 5). Orders of operands are those of vector instructions: NaN gives the second.
Term convert_to_narrow(Source source) {
  const Term a = source.term;
  auto& builder = *a.builder;
  const bool with_sign = is_signed_integer(source.to);
  const double limit = std::ldexp(1.0, static_cast<int>(8 * size_of(source.to)) - (with_sign ? 1 : 0));
  const Term least = a.like(with_sign ? -limit : 0.0), most = a.like(limit - 1), above = select(a > least, a, least), inside = select(above < most, above, most);
  const Term number = with_sign ? select(a == a, inside, a.like(0)) : inside;
  llvm::Type *type = register_type(builder.getContext(), source.to, a.width()), *wide = size_of(source.to) < 4 ? register_type(builder.getContext(), i32, a.width()) : type;
  Value* whole = with_sign || wide != type ? builder.CreateFPToSI(number.value, wide) : builder.CreateFPToUI(number.value, wide);
  return Term{nullptr, source.to, a.builder}.with(builder.CreateTrunc(whole, type));
}

Term convert(Source source) {
  const Term a = source.term;
  auto& builder = *a.builder;
  auto* type = register_type(builder.getContext(), source.to, a.width());
  const Term result{nullptr, source.to, a.builder};
  if (a.dtype == source.to) return a;
  if (is_boolean(source.to)) return a != a.like(0);
  if (a.real() && is_floating(source.to)) return result.with(builder.CreateFPCast(a.value, type));
  if (a.real() && 2 * size_of(source.to) <= size_of(a.dtype)) return convert_to_narrow(source);
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

Value* emit_op(llvm::IRBuilderBase& builder, Op op, const std::vector<Value*>& operands, const std::vector<DType>& dtypes, DType result, bool fast) {
  if (op == Op::cast && is_half(result)) return cast_to_half(builder, operands[0], dtypes[0], result);
  std::vector<Term> terms;
  for (std::size_t k = 0; k < operands.size(); ++k) terms.push_back({operands[k], computed_in(dtypes[k]), &builder, fast});
  if (op == Op::cast) return convert(Source{terms[0], result}).value;
  if (op == Op::nextafter && is_half(result)) return lanes::next_half(terms[0], terms[1], result).value;
  Value* value = emit_meaning(op, terms);
  return is_half(result) && !keeps_half(op) ? round_to_half(builder, value, result) : value;
}

Value* emit_exp_of_nonpositive(llvm::IRBuilderBase& builder, Value* operand, DType dtype) {
  Value* value = vecmath::exp_nonpositive(Lane{operand, &builder}).value;
  return is_half(dtype) ? round_to_half(builder, value, dtype) : value;
}

Value* emit_combine(llvm::IRBuilderBase& builder, AccumulatorId accumulator, DType dtype, Value* a, Value* b) {
  WEFT_ASSERT(!is_half(dtype), "folds of ", dtype, " are folds in f32");
  const Term x{a, dtype, &builder}, y{b, dtype, &builder};
  switch (accumulator) {
    case AccumulatorId::sum: return (x + y).value;
    case AccumulatorId::prod: return (x * y).value;
    case AccumulatorId::max: case AccumulatorId::supremum: return max(x, y).value;
    case AccumulatorId::min: case AccumulatorId::infimum: return min(x, y).value;
    case AccumulatorId::any: case AccumulatorId::bitwise_or: return (x | y).value;
    case AccumulatorId::all: case AccumulatorId::bitwise_and: return (x & y).value;
    case AccumulatorId::bitwise_xor: return (x ^ y).value;
    case AccumulatorId::none: break;
  }
  fail(ErrorKind::internal, "no such accumulator");
}

}  // namespace weft
