// Names of elementwise ops and reductions in the Array API, NumPy, ONNX, XLA, Theano and TML, and what they are in weft.
//
// Names are compared in lower case without underscores: "GreaterOrEqual" is greater_or_equal. Where two systems give one
// name two meanings the dialect decides: div of integers truncates in onnx, rem follows the dividend in xla.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <weft/weft.h>

#include "case.h"

namespace conformance {

using weft::Expr;

std::string plain_name(const std::string& name);

// The row of ops.def that `name` means for operands of `dtype` (and, or, xor, not: logical for bool, else bitwise).
std::optional<weft::Op> find_elementwise(const std::string& name, DType dtype, const std::string& dialect = "");
bool knows_elementwise(const std::string& name);

// Any elementwise op, composite ones (prelu, softsign, n-ary max, ..) too, by the Array API broadcasting rule. Attributes:
// fmod, direction, alpha, min, max. BadCase for an unknown name or a wrong number of operands.
Expr apply_elementwise(const std::string& name, const std::vector<Expr>& operands, const Json& attrs, const std::string& dialect);

// x between bounds that may be missing.
Expr clipped(const Expr& x, const std::optional<Expr>& low, const std::optional<Expr>& high);

// ["mul", ["add", "x", 1.5], "y"]: nested lists of op, operands. `look_up` gives the Exprs of names.
Expr build_expression(const Json& expression, const std::function<Expr(const std::string&)>& look_up);

// "sum", "reduce_add", "ReduceMean", ..: the plain name of the reduction ("sum", "mean"), nothing if it is none.
std::optional<std::string> find_reduction(const std::string& name);
// Attributes: axis or axes, keepdims, dtype, initial, correction; `mask` is the where operand, if any.
Expr apply_reduction(const std::string& reduction, const Expr& x, const Json& attrs, const std::string& dialect, const std::optional<Expr>& mask = {});

}  // namespace conformance
