#include "windows.h"

namespace weft {

void check_fill(std::string_view what, const Value& value, DType dtype) {
  if (value.is_literal()) {
    const Scalar& number = value.literal();
    WEFT_REQUIRE(!is_floating(number.dtype()) || !is_integer(dtype), dtype, what, ": the number ", to_text(number), " is ", number.dtype(), ", expected an integer for ", dtype,
                 "\n  write an integer, or cast the operand");
    const bool fits = is_floating(dtype) ? number.dtype() != bool_ : !is_floating(number.dtype()) && number.cast(dtype).cast(number.dtype()) == number;
    WEFT_REQUIRE(fits && is_boolean(dtype) == is_boolean(number.dtype()), dtype, what, ": the number ", to_text(number), " does not fit ", dtype,
                 "\n  cast the operand to a wider dtype");
    return;
  }
  const Expr& expr = value.expr();
  WEFT_REQUIRE(!expr.is_empty(), usage, what, ": the value is an empty Expr");
  WEFT_REQUIRE(expr.rank() == 0, shape, what, ": the value ", expr.name(), " has shape ", to_text(expr.shape()), ", expected a scalar");
  WEFT_REQUIRE(expr.dtype() == dtype, dtype, what, ": the value ", expr.name(), " is ", expr.dtype(), ", expected ", dtype, "\n  cast it");
}

Expr fill_of(Graph& graph, const Value& value, DType dtype) {
  return value.is_literal() ? graph.constant(value.literal().cast(dtype)) : value.expr();
}

Expr scatter(const Expr& window, const Shape& shape, AxisMap places) {
  Node node;
  node.kind = Kind::update;
  node.dtype = window.dtype();
  node.domain = shape;
  node.kept = static_cast<int>(shape.size());
  node.payload = std::move(places);
  Graph& graph = window.graph();
  return Expr(graph, graph.add(std::move(node), {Operand{window.id(), identity_map(window.rank())}}));
}

Expr index_below(Graph& graph, const Extent& axis, const Extent& bound) { return less(iota(graph, axis), graph.extent(bound)); }

Expr index_reached(Graph& graph, const Extent& axis, const AxisRef& ref, const Extent& count) {
  const Expr index = iota(graph, axis);
  if (ref.axis < 0) return equal(index, graph.extent(ref.start));
  const Extent far = ref.start + Extent(ref.step) * count;                     // the first index that is not reached
  const bool forward = ref.step > 0;
  Expr result = forward ? less(index, graph.extent(far)) : greater(index, graph.extent(far));
  if (!(forward && ref.start.is(0))) {
    const Expr start = graph.extent(ref.start);
    result = logical_and(forward ? greater_equal(index, start) : less_equal(index, start), result);
  }
  const Index stride = forward ? ref.step : -ref.step;
  if (stride > 1) result = logical_and(result, equal(remainder(subtract(index, graph.extent(ref.start)), stride), 0));
  return result;
}

Expr select_along(const Expr& condition, int axis, const Expr& yes, const Expr& no, const Shape& shape) {
  Graph& graph = condition.graph();
  const auto operand = [](const Expr& e) { return Operand{e.id(), identity_map(e.rank())}; };
  return Expr(graph, graph.apply(Op::where, yes.dtype(), shape, {Operand{condition.id(), AxisMap{AxisRef{axis, 0, 1}}}, operand(yes), operand(no)}));
}

}  // namespace weft
