// Square roots and quotients without the instructions for them, which keep one unit busy for 13 and 10 cycles a vector, 25 and 16 for f64
// (512 bits): from an estimate of a reciprocal with 14 bits, corrected to the same bits (vecmath/root.h). Where one lane is out of the
// range in which no step underflows or overflows, as zeros, negative numbers, infinities and NaN are, all go to the instruction.
#include "quotients.h"

#include <algorithm>
#include <bit>

#include "llvm_lane.h"
#include "vecmath/root.h"

namespace weft {

using llvm::Value;

// The first of those that are worth it; of the last of each kind, perhaps every second vector.
std::vector<Quotients::Estimated> Quotients::find_estimated(const Loop& loop, int steps) const {
  if (register_bytes() < 64 || fast_math_) return {};
  std::vector<Estimated> roots, quotients;
  std::vector<int> made;                // values of this loop, none of which has its vectors yet
  DividerUse use;
  bool is_f64 = false;
  for (const Item& item : loop.body) {
    if (const auto* load = std::get_if<Load>(&item)) made.push_back(load->result);
    const auto* compute = std::get_if<Compute>(&item);
    if (!compute) continue;
    made.push_back(compute->result);
    const DType dtype = program_.dtype_of(compute->result);
    if (dtype != f32 && dtype != f64) continue;
    const auto varies = [&](const Arg& arg) { return !arg.constant && std::find(made.begin(), made.end(), arg.value) != made.end(); };
    if (compute->op == Op::divide && !varies(compute->args[1])) continue;               // quotients.cpp
    const DividerUse own = divider_use(compute->op, dtype == f64);
    use.roots += own.roots, use.quotients += own.quotients;
    is_f64 |= own != DividerUse() && dtype == f64;
    if (compute->op == Op::sqrt) roots.push_back({compute});
    if (compute->op == Op::divide && dtype == f64) quotients.push_back({compute});
  }
  const DividerUse halves = halves_by_estimates(machine_, use, loop.weight, is_f64, steps > 1);
  const auto keep = [](std::vector<Estimated>& all, int halves) {
    const auto some = static_cast<std::size_t>(halves + 1) / 2;
    if (some > all.size()) return;
    all.resize(some);
    if (halves % 2 != 0) all.back().every_second = true;
  };
  keep(roots, halves.roots);
  keep(quotients, halves.quotients);
  roots.insert(roots.end(), quotients.begin(), quotients.end());
  return roots;
}

Value* Quotients::by_estimates(Op op, const std::vector<Value*>& operands) {
  return op == Op::sqrt ? root_by_estimate(operands[0]) : quotient_by_estimate(operands[0], operands[1]);
}

Value* Quotients::root_by_estimate(Value* number) {
  const Lane x{number, &b_};
  const bool is_f32 = x.bits() == 32;
  const auto least = is_f32 ? std::bit_cast<std::uint32_t>(0x1p-80f) : std::bit_cast<std::uint64_t>(0x1p-900);
  const auto most = is_f32 ? std::bit_cast<std::uint32_t>(0x1p120f) : std::bit_cast<std::uint64_t>(0x1p1000);
  auto* integers = number->getType()->getWithNewType(b_.getIntNTy(static_cast<unsigned>(x.bits())));
  Value* above = b_.CreateSub(b_.CreateBitCast(number, integers), llvm::ConstantInt::get(integers, least));
  const LaneMask outside{b_.CreateICmpUGE(above, llvm::ConstantInt::get(integers, most - least)), &b_};
  return rare(outside, vecmath::sqrt_from_estimate(x, root_estimate(x)), [&] { return sqrt(x); }).value;
}

// Of f64. Sizes less 2^-500 are small numbers if they are in the range: the larger one decides. A unit more, and divisors all of whose bits
// are set have none.
Value* Quotients::quotient_by_estimate(Value* dividend, Value* divisor) {
  const Lane a{dividend, &b_}, b{divisor, &b_};
  constexpr auto least = std::bit_cast<std::uint64_t>(0x1p-500), most = std::bit_cast<std::uint64_t>(0x1p500), mantissa = (std::uint64_t{1} << 52) - 1;
  auto* integers = dividend->getType()->getWithNewType(b_.getInt64Ty());
  const auto word = [&](std::uint64_t bits) { return llvm::ConstantInt::get(integers, bits); };
  const auto above = [&](Value* number, std::uint64_t from) { return b_.CreateSub(b_.CreateAnd(b_.CreateBitCast(number, integers), word(~std::uint64_t{0} >> 1)), word(from)); };
  Value *above_a = above(dividend, least), *above_b = above(divisor, least - 1);
  Value* far = b_.CreateICmpUGE(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, above_a, above_b), word(most - least));
  Value* full = b_.CreateICmpEQ(b_.CreateAnd(above_b, word(mantissa)), word(0));
  return rare(LaneMask{b_.CreateOr(far, full), &b_}, vecmath::quotient_from_estimate(a, b, reciprocal_estimate(b)), [&] { return a / b; }).value;
}

}  // namespace weft
