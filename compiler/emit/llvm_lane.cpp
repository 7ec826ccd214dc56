#include "llvm_lane.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <weft/error.h>

#include "code/loop_hints.h"
#include "lane_parts.h"

namespace weft {

using llvm::Value;
using namespace lane_parts;
namespace Intrinsic = llvm::Intrinsic;

namespace {

Lane unary(Intrinsic::ID id, const Lane& a) { return {a.builder->CreateUnaryIntrinsic(id, a.value), a.builder}; }

Value* either_half(llvm::IRBuilderBase* builder, Value* v) {
  const int half = lane_count(v->getType()) / 2;
  return builder->CreateOr(take(builder, v, 0, half), take(builder, v, half, half));
}

// 512, 256 or 128 where the target has the AVX-512 instruction at this vector size; else 0.
int avx512_size(const Lane& x) {
  const int size = x.bits() * x.width();
  if (size == 512 && has_feature(x.builder, "+avx512f")) return size;
  if ((size == 256 || size == 128) && x.width() > 1 && has_feature(x.builder, "+avx512vl")) return size;
  return 0;
}

bool is_wide(const Lane& x) { return x.bits() * x.width() > 512 && x.width() % 2 == 0 && has_feature(x.builder, "+avx512f"); }

Lane half_of(const Lane& x, int which) {
  return {take(x.builder, x.value, which * x.width() / 2, x.width() / 2), x.builder};
}

// The intrinsic for (f32, f64) at 512, 256, 128 bits.
Intrinsic::ID by_size(bool f32, int size, const std::array<Intrinsic::ID, 6>& ids) {
  return ids[(f32 ? 0 : 3) + (size == 512 ? 0 : size == 256 ? 1 : 2)];
}

// A masked AVX-512 intrinsic with all lanes on, in the current rounding mode.
Lane call_masked(const Lane& x, Intrinsic::ID id, int size, llvm::SmallVector<Value*, 6> arguments) {
  auto* builder = x.builder;
  auto* mask_type = builder->getIntNTy(static_cast<unsigned>(std::max(8, x.width())));
  arguments.push_back(llvm::Constant::getNullValue(x.value->getType()));
  arguments.push_back(llvm::Constant::getAllOnesValue(mask_type));
  if (size == 512) arguments.push_back(builder->getInt32(4));
  return {builder->CreateIntrinsic(id, {}, arguments), builder};
}

}  // namespace

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

Lane keep_nan(const Lane& number, const Lane& source) {
  if (is_wide(number)) {
    const Lane low = keep_nan(half_of(number, 0), half_of(source, 0)), high = keep_nan(half_of(number, 1), half_of(source, 1));
    return {concatenate(number.builder, low.value, high.value), number.builder};
  }
  const int size = avx512_size(number);
  if (!size) return select(source != source, source + source, number);
  // One instruction chooses by the class of the source: of each class four bits of the table, from the lowest quiet and signalling NaN. 2 makes
  // a quiet NaN of the source, 0 keeps the number.
  const auto id = by_size(number.bits() == 32, size,
                          {Intrinsic::x86_avx512_mask_fixupimm_ps_512, Intrinsic::x86_avx512_mask_fixupimm_ps_256, Intrinsic::x86_avx512_mask_fixupimm_ps_128,
                           Intrinsic::x86_avx512_mask_fixupimm_pd_512, Intrinsic::x86_avx512_mask_fixupimm_pd_256, Intrinsic::x86_avx512_mask_fixupimm_pd_128});
  auto* builder = number.builder;
  llvm::SmallVector<Value*, 6> arguments{number.value, source.value, source.int_like(0x22).value, builder->getInt32(0),
                                         llvm::Constant::getAllOnesValue(builder->getIntNTy(static_cast<unsigned>(std::max(8, number.width()))))};
  if (size == 512) arguments.push_back(builder->getInt32(4));
  return {builder->CreateIntrinsic(id, {}, arguments), builder};
}

namespace {

bool orders_zeros(const Lane& x) { return (is_wide(x) || avx512_size(x) != 0) && has_feature(x.builder, "+avx512dq"); }

// One instruction takes the second of two zeros, and the second where either is NaN: asked both ways it takes each, and the same number otherwise. Of the
// bits of both `and` makes the larger zero; `or` makes the smaller one, and a NaN of a NaN and anything.
LaneInt both_ways(const Lane& a, const Lane& b, bool larger) {
  const LaneInt x = to_bits(larger ? max_raw(a, b) : min_raw(a, b)), y = to_bits(larger ? max_raw(b, a) : min_raw(b, a));
  return larger ? x & y : x | y;
}

}  // namespace

Lane extreme_number(const Lane& a, const Lane& b, bool larger) {
  if (!orders_zeros(a)) return from_bits(both_ways(a, b, larger));
  if (is_wide(a)) {
    const Lane low = extreme_number(half_of(a, 0), half_of(b, 0), larger), high = extreme_number(half_of(a, 1), half_of(b, 1), larger);
    return {concatenate(a.builder, low.value, high.value), a.builder};
  }
  const int size = avx512_size(a);
  const auto id = by_size(a.bits() == 32, size,
                          {Intrinsic::x86_avx512_mask_range_ps_512, Intrinsic::x86_avx512_mask_range_ps_256, Intrinsic::x86_avx512_mask_range_ps_128,
                           Intrinsic::x86_avx512_mask_range_pd_512, Intrinsic::x86_avx512_mask_range_pd_256, Intrinsic::x86_avx512_mask_range_pd_128});
  return call_masked(a, id, size, {a.value, b.value, a.builder->getInt32(larger ? 5 : 4)});
}

Lane extreme(const Lane& a, const Lane& b, bool larger) {
  if (orders_zeros(a)) return keep_nan(keep_nan(extreme_number(a, b, larger), a), b);
  const LaneInt bits = both_ways(a, b, larger);
  if (!larger) return from_bits(bits);
  return from_bits(bits | LaneInt{a.builder->CreateSExt(a.builder->CreateFCmpUNO(a.value, b.value), bits.value->getType()), a.builder});
}

namespace {

// p * 2^n by AVX-512's instruction.
Lane scaled(const Lane& p, const Lane& n) {
  if (is_wide(p)) {
    const Lane low = scaled(half_of(p, 0), half_of(n, 0)), high = scaled(half_of(p, 1), half_of(n, 1));
    return {concatenate(p.builder, low.value, high.value), p.builder};
  }
  const int size = avx512_size(p);
  const auto id = by_size(p.bits() == 32, size,
                          {Intrinsic::x86_avx512_mask_scalef_ps_512, Intrinsic::x86_avx512_mask_scalef_ps_256,
                           Intrinsic::x86_avx512_mask_scalef_ps_128, Intrinsic::x86_avx512_mask_scalef_pd_512,
                           Intrinsic::x86_avx512_mask_scalef_pd_256, Intrinsic::x86_avx512_mask_scalef_pd_128});
  return call_masked(p, id, size, {p.value, n.value});
}

}  // namespace

namespace {

// By the instruction of this dtype, for whole registers.
Lane estimate(const Lane& x, llvm::Intrinsic::ID of_f32, llvm::Intrinsic::ID of_f64) {
  if (is_wide(x)) {
    const Lane low = estimate(half_of(x, 0), of_f32, of_f64), high = estimate(half_of(x, 1), of_f32, of_f64);
    return {concatenate(x.builder, low.value, high.value), x.builder};
  }
  WEFT_ASSERT(x.bits() * x.width() == 512, "estimates of whole registers, got ", x.width(), " lanes");
  const bool is_f32 = x.bits() == 32;
  return {x.builder->CreateIntrinsic(is_f32 ? of_f32 : of_f64, {},
                                     {x.value, llvm::Constant::getNullValue(x.value->getType()), llvm::Constant::getAllOnesValue(x.builder->getIntNTy(is_f32 ? 16 : 8))}),
          x.builder};
}

}  // namespace

Lane root_estimate(const Lane& x) { return estimate(x, Intrinsic::x86_avx512_rsqrt14_ps_512, Intrinsic::x86_avx512_rsqrt14_pd_512); }
Lane reciprocal_estimate(const Lane& x) { return estimate(x, Intrinsic::x86_avx512_rcp14_ps_512, Intrinsic::x86_avx512_rcp14_pd_512); }

namespace {

bool has_scaling(const Lane& p) { return is_wide(p) || avx512_size(p) != 0; }

}  // namespace

Lane scale_by_power(const Lane& p, const Power<Lane>& power) { return has_scaling(p) ? scaled(p, power.n) : portable::scale_by_power(p, power); }
Lane scale_down(const Lane& p, const Power<Lane>& power) { return has_scaling(p) ? scaled(p, power.n) : portable::scale_down(p, power); }

MantissaExponent<Lane> split_power(const Lane& x, double least) {
  if (is_wide(x)) {
    const auto low = split_power(half_of(x, 0), least), high = split_power(half_of(x, 1), least);
    return {{concatenate(x.builder, low.mantissa.value, high.mantissa.value), x.builder},
            {concatenate(x.builder, low.exponent.value, high.exponent.value), x.builder}};
  }
  const int size = avx512_size(x);
  if (!size) return portable::split_power(x, least);
  const bool f32 = x.bits() == 32;
  const auto mantissa_id = by_size(f32, size,
                                   {Intrinsic::x86_avx512_mask_getmant_ps_512, Intrinsic::x86_avx512_mask_getmant_ps_256,
                                    Intrinsic::x86_avx512_mask_getmant_ps_128, Intrinsic::x86_avx512_mask_getmant_pd_512,
                                    Intrinsic::x86_avx512_mask_getmant_pd_256, Intrinsic::x86_avx512_mask_getmant_pd_128});
  const auto exponent_id = by_size(f32, size,
                                   {Intrinsic::x86_avx512_mask_getexp_ps_512, Intrinsic::x86_avx512_mask_getexp_ps_256,
                                    Intrinsic::x86_avx512_mask_getexp_ps_128, Intrinsic::x86_avx512_mask_getexp_pd_512,
                                    Intrinsic::x86_avx512_mask_getexp_pd_256, Intrinsic::x86_avx512_mask_getexp_pd_128});
  // Interval [1, 2) or [0.75, 1.5), NaN for a negative x.
  const Lane mantissa = call_masked(x, mantissa_id, size, {x.value, x.builder->getInt32(least == 1 ? 8 : 11)});
  const Lane floor_log = call_masked(x, exponent_id, size, {x.value});
  if (least == 1) return {mantissa, floor_log};
  const Lane one = x.like(1);
  return {mantissa, select(mantissa < one, floor_log + one, floor_log)};
}

namespace {

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

namespace {

// No loop over registers runs inside another, and all of a function share their cells. A cell of the type that is not among those in use.
llvm::AllocaInst* shared_cell(llvm::IRBuilderBase* builder, llvm::Type* type, llvm::ArrayRef<llvm::AllocaInst*> in_use) {
  constexpr const char* mark = "weft.registers";
  auto& entry = function_of(builder)->getEntryBlock();
  for (llvm::Instruction& instruction : entry)
    if (auto* cell = llvm::dyn_cast<llvm::AllocaInst>(&instruction); cell && cell->getAllocatedType() == type && cell->getMetadata(mark) && !llvm::is_contained(in_use, cell)) return cell;
  auto* cell = llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(type);
  cell->setAlignment(llvm::Align(64));
  cell->setMetadata(mark, llvm::MDNode::get(builder->getContext(), {}));
  return cell;
}

// Lanes of a turn: one register waits for itself. Sines of huge numbers take 1.4 times as long as four registers side by side, one by one, and 1.2
// times in pairs; sines are 384 and 575 instructions then, of 946 (AVX2).
int lanes_of_turn(const Lane& x) { return 2 * register_bits(x.builder) / x.bits(); }

}  // namespace

bool RegisterLoop::pays(const Lane& x) { return x.width() > lanes_of_turn(x) && x.width() % lanes_of_turn(x) == 0; }

RegisterLoop::RegisterLoop(const Lane& x) : part_(x), lanes_(x.width()) {
  auto* builder = x.builder;
  auto* all = new_cell(x.value->getType());
  builder->CreateStore(x.value, all);
  auto* before = builder->GetInsertBlock();
  body_ = llvm::BasicBlock::Create(builder->getContext(), "registers", before->getParent());
  builder->CreateBr(body_);
  builder->SetInsertPoint(body_);
  first_ = builder->CreatePHI(builder->getInt64Ty(), 2);
  first_->addIncoming(builder->getInt64(0), before);
  part_.value = builder->CreateLoad(llvm::FixedVectorType::get(x.value->getType()->getScalarType(), static_cast<unsigned>(lanes_of_turn(x))), at_part(all));
}

Value* RegisterLoop::at_part(llvm::AllocaInst* whole) const { return part_.builder->CreateGEP(whole->getAllocatedType()->getScalarType(), whole, first_); }

llvm::AllocaInst* RegisterLoop::new_cell(llvm::Type* type) { return cells_.emplace_back(shared_cell(part_.builder, type, cells_)); }

llvm::AllocaInst* RegisterLoop::keep(const Lane& result) {
  auto* all = new_cell(llvm::FixedVectorType::get(result.value->getType()->getScalarType(), static_cast<unsigned>(lanes_)));
  result.builder->CreateStore(result.value, at_part(all));
  return all;
}

void RegisterLoop::end() {
  auto* builder = part_.builder;
  auto* next = builder->CreateAdd(first_, builder->getInt64(static_cast<uint64_t>(part_.width())));
  first_->addIncoming(next, builder->GetInsertBlock());
  auto* after = llvm::BasicBlock::Create(builder->getContext(), "registers.end", body_->getParent());
  auto* turn = builder->CreateCondBr(builder->CreateICmpULT(next, builder->getInt64(static_cast<uint64_t>(lanes_))), body_, after);
  set_hint(*turn, over_registers);
  builder->SetInsertPoint(after);
}

Lane RegisterLoop::whole(llvm::AllocaInst* kept) const { return {part_.builder->CreateLoad(kept->getAllocatedType(), kept), part_.builder}; }

}  // namespace weft
