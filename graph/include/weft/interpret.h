// The reference: what a graph computes, in the most obvious way, without LLVM.
//
// Every node that the outputs need is evaluated once into a dense array, element by element with libm, and folds run in the
// order of weft/accumulator.h. What a compiled function computes is its final_graph(), in which products that are added or summed are not rounded, and
// log(sum(exp(x))) and the like have forms that do not overflow (weft/passes.h): of that graph it gives the same bits where ops are exact, and else what is
// within the accuracy of the vector functions; f16 and bf16, which it rounds less often (weft/function.h), within a rounding for each op.
//
//   std::vector<Array> out = interpret({loss}, {x, w}, {xa, wa});
//
// With loops = compiled_math (weft/compiled_math.h) exp, sin and the like are those of compiled code, and every bit is that of
// the Function whose final_graph() is interpreted: libm makes the interpreter an independent oracle, compiled_math an exact one.
//
// Arrays are bound to inputs by position and may have any strides; outputs are new arrays in order c. Every call that a
// compiled function would refuse is refused here, in the same words (weft/binding.h), before anything is computed.
// Thread-safe on a finished graph. Cost: 10^7 to 10^8 elements a second and node; memory for all live values at once.
#pragma once
#include <vector>

#include <weft/binding.h>

namespace weft {

std::vector<Array> interpret(const Graph& graph, const std::vector<NodeId>& outputs, const std::vector<NodeId>& inputs,
                             const std::vector<Array>& arrays, const Bindings& extra = {}, OpLoops loops = op_loop);
std::vector<Array> interpret(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const std::vector<Array>& arrays,
                             const Bindings& extra = {}, OpLoops loops = op_loop);

}  // namespace weft
