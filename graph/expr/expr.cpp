#include <weft/expr.h>

#include <algorithm>
#include <cmath>

#include "broadcast/align.h"

namespace weft {
namespace {

std::string name_of(const Value& value) { return value.is_literal() ? to_text(value.literal()) : value.expr().name(); }

Graph& common_graph(const OpInfo& row, std::span<const Value> operands) {
  const Expr* first = nullptr;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].is_literal()) continue;
    const Expr& expr = operands[k].expr();
    WEFT_REQUIRE(!expr.is_empty(), usage, row.name, ": operand ", k, " is an empty Expr");
    if (!first) first = &expr;
    check_same_graph(row.name, *first, expr);
  }
  WEFT_REQUIRE(first, usage, row.name, ": no operand is an Expr");
  return first->graph();
}

// The dtype that Exprs and weak literals share.
DType shared_dtype(const OpInfo& row, std::span<const Value> operands) {
  const Expr* widest = nullptr;
  std::optional<DType> dtype;
  for (const Value& value : operands) {
    if (value.is_literal()) continue;
    const DType own = value.expr().dtype();
    const auto common = dtype ? common_dtype(*dtype, own) : own;
    if (!common)
      fail(ErrorKind::dtype, concat(row.name, ": ", widest->name(), " is ", *dtype, " and ", value.expr().name(), " is ", own,
                                    ", which have no common dtype\n  cast one of them"));
    if (common != dtype) widest = &value.expr();
    dtype = common;
  }
  for (const Value& value : operands) {
    if (!value.is_literal()) continue;
    const DType literal = value.literal().dtype();
    if (!dtype || (is_floating(literal) && !is_floating(*dtype)) || (is_boolean(*dtype) && is_integer(literal))) dtype = literal;
  }
  return *dtype;
}

// A number takes the dtype of the operation; one that would wrap, or become infinite, is a mistake.
void check_literal(const OpInfo& row, const Scalar& literal, DType dtype) {
  if (is_floating(dtype) && !is_boolean(literal.dtype()))
    WEFT_REQUIRE(!std::isfinite(literal.as_double()) || std::isfinite(literal.cast(dtype).real()), dtype, row.name, ": the number ", to_text(literal), " is beyond ", dtype,
                 "\n  cast the other operand to a wider dtype, or write infinity");
  if (!is_integer(literal.dtype()) || !is_integer(dtype)) return;
  const bool negative = is_signed_integer(literal.dtype()) && literal.integer() < 0;
  const bool keeps_sign = negative ? is_signed_integer(dtype) : literal.dtype() == i64 || dtype == u64;
  WEFT_REQUIRE(keeps_sign && literal.cast(dtype).cast(literal.dtype()) == literal, dtype, row.name, ": the number ", to_text(literal),
               " does not fit ", dtype, "\n  cast the other operand to a wider dtype");
}

std::string remedy(const OpInfo& row, std::span<const Value> operands) {
  const auto expr = std::find_if(operands.begin(), operands.end(), [](const Value& v) { return !v.is_literal(); });
  switch (row.rule) {
    case DTypeRule::numeric: return "cast an operand, as in cast(" + name_of(*expr) + ", i64)";
    case DTypeRule::bitwise: return "cast the operands to an integer dtype, as in cast(" + name_of(*expr) + ", i64)";
    case DTypeRule::select: return "the condition must be bool: compare it, as in " + name_of(operands[0]) + " != 0";
    default: return "cast the operands";
  }
}

struct Typing {
  std::vector<DType> operands;
  DType result;
};

Typing infer_dtypes(const OpInfo& row, std::span<const Value> operands) {
  Typing typing;
  if (row.rule == DTypeRule::logical) {
    typing.operands.assign(operands.size(), bool_);
  } else if (row.rule == DTypeRule::select) {
    typing.operands.assign(operands.size(), shared_dtype(row, operands.subspan(1)));
    typing.operands[0] = operands[0].is_literal() ? operands[0].literal().dtype() : operands[0].expr().dtype();
  } else {
    DType dtype = shared_dtype(row, operands);
    if (row.rule == DTypeRule::floating && !is_floating(dtype)) dtype = f64;
    typing.operands.assign(operands.size(), dtype);
  }
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (operands[k].is_literal()) check_literal(row, operands[k].literal(), typing.operands[k]);
  if (row.op == Op::power && operands[1].is_literal() && is_integer(typing.operands[1]))
    WEFT_REQUIRE(operands[1].literal().as_double() >= 0, usage, row.name, ": ", name_of(operands[0]), " is ", typing.operands[0], ", and the exponent ", to_text(operands[1].literal()),
                 " is negative\n  cast the base to a floating dtype");
  const auto result = result_dtype(row.op, typing.operands, typing.operands.back());
  if (!result) {
    std::string got;
    for (std::size_t k = 0; k < operands.size(); ++k)
      got += concat(k == 0 ? "" : ", ", operands[k].is_literal() ? operands[k].literal().dtype() : operands[k].expr().dtype(), " ", name_of(operands[k]));
    fail(ErrorKind::dtype, concat(row.name, ": no such operation on ", got, "\n  ", remedy(row, operands)));
  }
  typing.result = *result;
  return typing;
}

}  // namespace

Expr elementwise(Op op, std::span<const Value> operands) {
  const OpInfo& row = info(op);
  WEFT_REQUIRE(row.rule != DTypeRule::conversion, usage, row.name, ": needs a dtype\n  write cast(x, dtype)");
  WEFT_REQUIRE(static_cast<int>(operands.size()) == row.arity, usage, row.name, ": expected ", row.arity, " operands, got ", operands.size());
  Graph& graph = common_graph(row, operands);
  const Typing typing = infer_dtypes(row, operands);
  std::vector<Shape> shapes;
  shapes.reserve(operands.size());
  for (const Value& value : operands) shapes.push_back(value.is_literal() ? Shape() : value.expr().shape());
  Alignment alignment = align_array_api(row.name, shapes, [&](std::size_t k) { return name_of(operands[k]); });
  // Everything is checked: from here on nodes are added.
  std::vector<Operand> nodes;
  nodes.reserve(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Expr expr = operands[k].is_literal() ? graph.constant(operands[k].literal().cast(typing.operands[k]))
                                               : cast(operands[k].expr(), typing.operands[k]);
    nodes.push_back({expr.id(), std::move(alignment.maps[k])});
  }
  return Expr(graph, graph.apply(op, typing.result, std::move(alignment.domain), std::move(nodes)));
}

Expr cast(const Expr& x, DType dtype) {
  WEFT_REQUIRE(!x.is_empty(), usage, "cast: the operand is an empty Expr");
  if (x.dtype() == dtype) return x;
  return Expr(x.graph(), x.graph().apply(Op::cast, dtype, x.shape(), {{x.id(), identity_map(x.rank())}}));
}

Expr iota(Graph& graph, const Extent& extent, DType dtype) {
  WEFT_REQUIRE(!is_boolean(dtype), dtype, "iota: expected a numeric dtype, got bool");
  Node node;
  node.kind = Kind::iota;
  node.dtype = i64;
  node.domain = {extent};
  node.kept = 1;
  return cast(Expr(graph, graph.add(std::move(node))), dtype);
}

}  // namespace weft
