// What Theano cases are made of: elemwise nodes from their JSON, accumulators by name, observations of folds.
#pragma once
#include "evaluate.h"

namespace conformance {

// attrs.order and attrs.outputs: [{expr, mode: "broadcast" or {"accumulate": name}}]. Expressions name the inputs.
std::vector<Expr> build_elemwise(const Case& test, Operands& operands);

// In which dtype compiled sums of `dtype` really fold: a small term beside large ones that cancel survives or not.
DType observed_accumulator_dtype(DType dtype);

}  // namespace conformance
