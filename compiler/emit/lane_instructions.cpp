// What AVX-512 has an instruction for: extremes, NaN, scaling, splitting, estimates. Elsewhere the same bits by other means.
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <weft/error.h>

#include "lane_parts.h"
#include "llvm_lane.h"

namespace weft {

using llvm::Value;
using namespace lane_parts;
namespace Intrinsic = llvm::Intrinsic;

namespace {

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

}  // namespace weft
