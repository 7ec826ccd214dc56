// f16 and bf16, the dtypes whose numbers are computed in f32: every op widens its operands, computes and rounds once.
#pragma once
#include <weft/op.h>

namespace weft {

constexpr DType computed_in(DType dtype) { return is_half(dtype) ? DType::f32 : dtype; }

// Whether the op gives a number of the dtype for all operands of it, so that there is nothing to round.
constexpr bool keeps_half(Op op) {
  switch (op) {
    case Op::copy: case Op::stop_gradient: case Op::where: case Op::maximum: case Op::minimum: case Op::clip: case Op::relu:
    case Op::fmax: case Op::fmin: case Op::clip_min: case Op::clip_max:
      return true;                                     // one of the operands, or 0
    case Op::negative: case Op::abs: case Op::copysign: return true;   // only the sign changes
    case Op::nextafter: return true;                   // steps in the dtype
    case Op::sign: return true;                        // 0, 1, -1 or NaN
    case Op::floor: case Op::ceil: case Op::round: case Op::trunc:
      return true;                                     // a neighbouring whole number: no power of two lies in between
    default: return false;
  }
}

}  // namespace weft
