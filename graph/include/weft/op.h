// The op table as data: names, arity and dtype rule of every elementwise operation, and its value on numbers.
// Source: ops.def, one row per op. Pure functions; thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <weft/dtype.h>
#include <weft/shape.h>

namespace weft {

enum class Op : std::uint8_t {
#define WEFT_UNARY(name, ...) name,
#define WEFT_BINARY(name, ...) name,
#define WEFT_TERNARY(name, ...) name,
#include <weft/ops.def>
};

enum class DTypeRule : std::uint8_t { any, numeric, floating, comparison, logical, bitwise, predicate, select, conversion };

struct OpInfo {
  Op op;
  std::string_view name;
  int arity;
  DTypeRule rule;
};

std::span<const OpInfo> op_table();                   // in enum order
const OpInfo& info(Op op);
std::optional<Op> find_op(std::string_view name);

// The result dtype for operands that obey the rule, nullopt if they do not (no promotion here).
// For conversion the result is the node's own dtype: `requested`.
std::optional<DType> result_dtype(Op op, std::span<const DType> operands, DType requested);

// An op along a line of elements: operand p's element k is at operands[p] + k * steps[p], the result's at result + k * step;
// steps in bytes. No alignment beyond the element's is assumed. About 1e8 to 1e9 elements a second for cheap ops.
using OpLoop = void (*)(Index count, const std::byte* const* operands, const Index* steps, std::byte* result, Index step);
// `operand`: the dtype of the last operand; throws Error(dtype) if the rule does not admit it.
OpLoop op_loop(Op op, DType operand, DType result);
using OpLoops = OpLoop (*)(Op op, DType operand, DType result);           // op_loop, or one that computes functions its own way

// The value of an op on numbers: the oracle and the constant folder. Operands obey the rule.
// Each operation is done in the operands' dtype (f32 in float; f16 and bf16 in float, rounded once at the end).
Scalar evaluate(Op op, std::span<const Scalar> operands, DType result, OpLoops loops = op_loop);

}  // namespace weft
