// In-place programs of NumPy: "x += x[0]", "x[1:] = x[:-1]; x *= 2 - x.T".
//
//   program     statement (';' or newline) ..        statement   target ('=' '+=' '-=' '*=' '/=' '//=' '%=' '**=' '&=' '|=' '^=') expression
//   target      name, with .T and [index] after it   expression  + - * / // % ** & | ^, unary - and ~, parentheses, numbers, targets, f(..)
//
// Names are those of the inputs; x is the first, y the second, if no input is named so. Each statement is compiled into a
// function whose output is the target itself: weft must read everything before it writes.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "evaluate.h"
#include "views.h"

namespace conformance {

// Window of input `which` = value(window), in the caller's memory; interpreted and compiled. The shape of the window never
// changes (weft::assign). The result is the whole array.
Array assign_window(Operands& operands, std::size_t which, const std::vector<AxisIndex>& index, const std::function<Expr(const Expr&)>& value);

void run_program(Operands& operands, const std::string& program);     // writes operands.arrays

// An expression over scalars: "log(exp(c)+exp(m))".
weft::Value parse_formula(const std::string& formula, const std::map<std::string, Expr>& names);

}  // namespace conformance
