// weft/function.h, for a machine that need not be this one.
#pragma once
#include <weft/function.h>

#include "schedule/machine.h"

namespace weft {

Function compile_for(const Machine& machine, const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const Options& options);
Function compile_for(const Machine& machine, const Graph& graph, const Options& options);

}  // namespace weft
