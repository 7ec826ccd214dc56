// Square roots without the instruction for them, which keeps one unit busy for 13 cycles a vector and 25 for f64 (512 bits): from an
// estimate of the reciprocal with 14 bits, corrected to the same bits (vecmath/root.h). Where one lane is out of the range in which
// no step underflows or overflows, as zeros, negative numbers, infinities and NaN are, all go to the instruction.
#include <bit>

#include "emit_kernel.h"
#include "llvm_lane.h"
#include "vecmath/root.h"

namespace weft {

using llvm::Value;

bool KernelEmitter::estimates_roots(const Loop& loop) const {
  if (register_bytes() < 64 || fast_math_) return false;
  int roots = 0;
  bool is_f64 = false;
  for (const Item& item : loop.body)
    if (auto* compute = std::get_if<Compute>(&item); compute && compute->op == Op::sqrt) ++roots, is_f64 |= program_.values[static_cast<std::size_t>(compute->result)] == f64;
  return roots > 0 && estimates_pay(machine_, roots, loop.weight, is_f64);
}

Value* KernelEmitter::root_by_estimate(Value* number) {
  const Lane x{number, &b_};
  const bool is_f32 = x.bits() == 32;
  const auto least = is_f32 ? std::bit_cast<std::uint32_t>(0x1p-80f) : std::bit_cast<std::uint64_t>(0x1p-900);
  const auto most = is_f32 ? std::bit_cast<std::uint32_t>(0x1p120f) : std::bit_cast<std::uint64_t>(0x1p1000);
  auto* integers = number->getType()->getWithNewType(b_.getIntNTy(static_cast<unsigned>(x.bits())));
  Value* above = b_.CreateSub(b_.CreateBitCast(number, integers), llvm::ConstantInt::get(integers, least));
  const LaneMask outside{b_.CreateICmpUGE(above, llvm::ConstantInt::get(integers, most - least)), &b_};
  return rare(outside, vecmath::sqrt_from_estimate(x, root_estimate(x)), [&] { return sqrt(x); }).value;
}

}  // namespace weft
