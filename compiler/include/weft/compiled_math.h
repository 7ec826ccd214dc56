// The vector functions of compiled code, for the interpreter: the same formulas on one number at a time, without LLVM.
//
//   const auto expected = interpret(f.final_graph(), f.final_graph().outputs, f.final_graph().inputs, arrays, {}, compiled_math);
//
// Those are the bits that f(arrays) gives, but for the sign and payload of NaN. Pure, thread-safe. Cost: 10 to 100 ns an element.
#pragma once
#include <weft/op.h>

namespace weft {

// Throws Error(dtype) where op_loop does.
OpLoop compiled_math(Op op, DType operand, DType result);

}  // namespace weft
