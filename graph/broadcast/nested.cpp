// Tensors: an Expr whose axes are read as levels. An operation is planned on types, then becomes one node with index maps.
#include <weft/tml.h>

#include "expr/axes.h"
#include "align.h"
#include "nested.h"

namespace weft::tml {
namespace {

void check_not_empty(const Expr& expr) { WEFT_REQUIRE(!expr.is_empty(), usage, "tml: the operand is an empty Expr"); }

Nesting one_level(const Expr& expr) {
  check_not_empty(expr);
  return expr.rank() == 0 ? nested() : nested(expr.shape());
}

// A type whose errors name the value.
Type type_of(const Expr& expr, const Nesting& nesting) {
  check_not_empty(expr);
  try {
    return Type(expr.dtype(), nesting);
  } catch (const Error& error) {
    const std::string text = error.what();
    fail(error.kind(), "tml: " + expr.name() + text.substr(text.find(": type: ") + 6));
  }
}

enum class Family { arithmetic, relational, logical, bitwise };

Family family_of(const OpInfo& row) {
  switch (row.rule) {
    case DTypeRule::comparison: return Family::relational;
    case DTypeRule::logical: return Family::logical;
    case DTypeRule::bitwise: return Family::bitwise;
    default: return Family::arithmetic;
  }
}

void check_root(const OpInfo& row, const Side& side) {
  const DType root = side.type.root();
  const std::string shown = side.name.empty() ? to_text(side.type) : side.name;
  switch (family_of(row)) {
    case Family::arithmetic:
    case Family::relational: {
      const bool compares = family_of(row) == Family::relational;
      WEFT_REQUIRE(is_numeric(root), dtype, row.name, ": expected uint, int or real, got ", show(side), "\n  ",
                   root == bool_ && compares ? "logical_xor tells where bools differ"
                   : root == bool_           ? concat("cast it, as in cast(", shown, ", i64)")
                                             : std::string("chars are compared while the graph is built: weft::tml::Str"));
      return;
    }
    case Family::logical:
      WEFT_REQUIRE(root == bool_, dtype, row.name, ": expected bool, got ", show(side), "\n  compare it, as in ", shown, " != 0");
      return;
    case Family::bitwise: WEFT_REQUIRE(root == u64, dtype, row.name, ": expected uint, got ", show(side), "\n  cast it, as in cast(", shown, ", u64)"); return;
  }
}

// The root in which the row computes operands of `root`: float functions take reals.
DType computed_root(const OpInfo& row, DType root) {
  const DType operands[] = {root, root, root};
  return result_dtype(row.op, std::span(operands, static_cast<std::size_t>(row.arity)), root) ? root : f64;
}
DType result_root(const OpInfo& row, DType root) {
  const DType operands[] = {root, root, root};
  return *result_dtype(row.op, std::span(operands, static_cast<std::size_t>(row.arity)), root);
}

const OpInfo& check_row(Op op, int arity) {
  const OpInfo& row = info(op);
  WEFT_REQUIRE(row.rule != DTypeRule::conversion, usage, row.name, ": needs a dtype\n  write cast(a, dtype)");
  WEFT_REQUIRE(row.arity == arity, usage, row.name, ": expected ", row.arity, " operands, got ", arity);
  return row;
}

struct Plan {
  DType root;                                  // of the operands
  Type result;
};

Plan plan_binary(const OpInfo& row, const Side& a, const Side& b, Mixed mixed) {
  check_root(row, a);
  check_root(row, b);
  if (family_of(row) == Family::arithmetic) {
    const DType root = computed_root(row, larger_root(a.type.root(), b.type.root()));
    return {root, join_nesting(row.name, a, b, result_root(row, root), mixed)};
  }
  const DType root = family_of(row) == Family::relational ? larger_root(a.type.root(), b.type.root()) : a.type.root();
  return {root, same_nesting(row.name, a, b, result_root(row, root))};
}

}  // namespace

Side side_of(const Argument& argument, DType beside) {
  const bool is_uint = argument.is_literal() && argument.literal().dtype() == i64 && argument.literal().integer() >= 0 && beside == u64;
  return {is_uint ? Type(u64) : argument.type(), argument.name()};
}

Graph& common_graph(std::string_view what, const Argument& a, const Argument& b) {
  WEFT_REQUIRE(!a.is_literal() || !b.is_literal(), usage, what, ": no operand is a Tensor or an Expr");
  Graph& graph = (a.is_literal() ? b : a).expr().graph();
  if (!a.is_literal() && !b.is_literal()) check_same_graph(what, a.expr(), b.expr());
  return graph;
}

void check_fits(std::string_view what, const Argument& argument, DType root) {
  WEFT_REQUIRE(!argument.is_literal() || argument.literal().dtype() != u64 || root != i64, dtype, what, ": the number ", argument.name(),
               " does not fit int\n  the other operand must be uint or real: cast it");
}

Expr materialise(Graph& graph, const Argument& argument, DType root) {
  return argument.is_literal() ? graph.constant(argument.literal().cast(root)) : weft::cast(argument.expr(), root);
}

Expr repeat(Graph& graph, const Argument& argument, const Type& from, const Type& part, const Type& whole, int offset) {
  if (from.nest() == whole.nest()) return materialise(graph, argument, whole.root());
  const Expr operand = argument.is_literal() ? materialise(graph, argument, whole.root()) : argument.expr();
  const Op op = operand.dtype() == whole.root() ? Op::copy : Op::cast;
  return Expr(graph, graph.apply(op, whole.root(), whole.shape(), {{operand.id(), map_onto(from, part, offset)}}));
}

Tensor::Tensor(const Expr& expr) : Tensor(expr, one_level(expr)) {}
Tensor::Tensor(const Expr& expr, const Nesting& nesting) : expr_(expr), type_(type_of(expr, nesting)) {
  WEFT_REQUIRE(type_.shape() == expr.shape(), shape, "tml: ", expr.name(), " of shape ", weft::to_text(expr.shape()), " is no ", type_, ", which takes ",
               weft::to_text(type_.shape()), "\n  the levels, one after the other, must be the shape");
}
Tensor Tensor::operator[](Index i) const { return index(*this, std::vector<Index>{i}); }

Type join(const Type& a, const Type& b, Mixed mixed) {
  const OpInfo row{Op::add, "join", 2, DTypeRule::numeric};
  return plan_binary(row, {a, ""}, {b, ""}, mixed).result;
}

Tensor elementwise(Op op, const Argument& a, const Argument& b, Mixed mixed) {
  const OpInfo& row = check_row(op, 2);
  Graph& graph = common_graph(row.name, a, b);
  const Side sides[] = {side_of(a, family_of(row) == Family::bitwise ? u64 : b.type().root()),
                        side_of(b, family_of(row) == Family::bitwise ? u64 : a.type().root())};
  const Plan plan = plan_binary(row, sides[0], sides[1], mixed);
  check_fits(row.name, a, plan.root);
  check_fits(row.name, b, plan.root);
  // Everything is checked: from here on nodes are added.
  const Expr ea = materialise(graph, a, plan.root), eb = materialise(graph, b, plan.root);
  const NodeId id = graph.apply(op, plan.result.root(), plan.result.shape(),
                                {{ea.id(), map_onto(sides[0].type, plan.result)}, {eb.id(), map_onto(sides[1].type, plan.result)}});
  return Tensor(Expr(graph, id), Nesting(plan.result.nest()));
}

Tensor elementwise(Op op, const Tensor& a) {
  const OpInfo& row = check_row(op, 1);
  if (row.rule != DTypeRule::any) check_root(row, {a.type(), a.name()});
  const DType root = computed_root(row, a.dtype());
  Graph& graph = a.expr().graph();
  const Expr operand = weft::cast(a, root);
  return Tensor(Expr(graph, graph.apply(op, result_root(row, root), operand.shape(), {{operand.id(), identity_map(operand.rank())}})), Nesting(a.nest()));
}

Tensor cast(const Tensor& a, DType root) {
  const Type target(root, Nesting(a.nest()));
  return Tensor(weft::cast(a.expr(), root), Nesting(target.nest()));
}

Tensor input(Graph& graph, const std::string& name, const Type& type, Order order) {
  return Tensor(graph.input(name, type.root(), type.shape(), order), Nesting(type.nest()));
}

Tensor assign(const Tensor& lhs, const Argument& rhs, Mixed mixed) {
  common_graph("assign", lhs, rhs);
  const Side to{lhs.type(), lhs.name()}, from = side_of(rhs, lhs.dtype());
  check_assignable("assign", to, from, mixed);
  check_fits("assign", rhs, lhs.dtype());
  return Tensor(repeat(lhs.expr().graph(), rhs, from.type, lhs.type(), lhs.type()), Nesting(lhs.nest()));
}

Tensor declare(Graph& graph, const Type& type, const Argument& initial, Mixed mixed) {
  WEFT_REQUIRE(initial.is_literal() || &initial.expr().graph() == &graph, usage, "declare: ", initial.name(), " is in graph \"", initial.expr().graph().name,
               "\", not in \"", graph.name, "\"\n  build both in one graph");
  const Side from = side_of(initial, type.root());
  check_assignable("declare", {type, ""}, from, mixed);
  check_fits("declare", initial, type.root());
  return Tensor(repeat(graph, initial, from.type, type, type), Nesting(type.nest()));
}

Tensor narrow(const Tensor& a) {
  if (a.type().is_scalar()) return a;
  std::vector<Shape> levels = a.nest();
  std::erase_if(levels[0], [](const Extent& length) { return length.is(1); });
  if (levels[0] == a.nest()[0]) return a;
  if (levels[0].empty()) levels.erase(levels.begin());
  AxisMap map;
  int axis = 0;
  const Shape shape = a.expr().shape();
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const bool is_dropped = k < a.nest()[0].size() && shape[k].is(1);
    map.push_back(AxisRef{is_dropped ? -1 : axis++, 0, 1});
  }
  const Nesting nesting(std::move(levels));
  return Tensor(copy_through(a, Type(a.dtype(), nesting).shape(), std::move(map)), nesting);
}

}  // namespace weft::tml
