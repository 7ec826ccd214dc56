#include "reducer.h"

#include <algorithm>
#include <limits>

#include "broadcast/align.h"
#include "maps.h"

namespace weft {

Reducer::Reducer(std::string_view what, const Expr& x, const Axes& axes, const ReduceOptions& options)
    : what_(what), x_(x), axes_(normalize_axes(what, x, axes)), options_(options) {
  if (!has_mask()) return;
  const Expr& mask = options_.where;
  check_same_graph(what_, x, mask, "where ");
  WEFT_REQUIRE(is_boolean(mask.dtype()), dtype, what_, ": where ", mask.name(), " is ", mask.dtype(), ", expected bool\n  compare it, as in ", mask.name(),
               " != 0");
  mask_map_ = align_onto(what_ + ": where", mask, x.shape());
}

Reducer Reducer::keeping_dims() const {
  Reducer result = *this;
  result.options_.keepdims = true;
  return result;
}

// ---- options

void Reducer::take_no_initial() const {
  WEFT_REQUIRE(!has_initial(), usage, what_, ": takes no initial value\n  sum, prod, max, min, any, all, count_nonzero, logsumexp and norm do");
}

void Reducer::take_no_dtype() const {
  WEFT_REQUIRE(!options_.dtype, usage, what_, ": takes no dtype\n  cast the operand or the result");
}

namespace {

// Whether an integer or bool literal keeps its value in dtype.
bool holds(DType dtype, const Scalar& literal) {
  if (is_floating(dtype)) return true;
  if (is_floating(literal.dtype())) return false;
  if (is_boolean(literal.dtype())) return true;
  if (is_boolean(dtype)) return false;
  const bool negative = is_signed_integer(literal.dtype()) && literal.integer() < 0;
  if (negative && !is_signed_integer(dtype)) return false;
  if (literal.dtype() == u64) return dtype == u64;           // a u64 literal is one that i64 does not hold
  return literal.cast(dtype).cast(i64) == literal;
}

}  // namespace

void Reducer::check_initial(std::optional<DType> dtype) const {
  if (!has_initial()) return;
  const Value& initial = *options_.initial;
  if (initial.is_literal()) {
    WEFT_REQUIRE(!dtype || holds(*dtype, initial.literal()), dtype, what_, ": the initial value ", to_text(initial.literal()), " does not fit ", *dtype, ", in which ",
                 x_.name(), " is folded\n  cast the operand to a wider dtype");
    return;
  }
  const Expr& expr = initial.expr();
  WEFT_REQUIRE(!expr.is_empty(), usage, what_, ": the initial value is an empty Expr");
  check_same_graph(what_, x_, expr, "the initial value ");
  WEFT_REQUIRE(expr.rank() == 0, shape, what_, ": the initial value ", expr.name(), " has shape ", to_text(expr.shape()),
               ", expected a number or rank 0\n  combine the result with it instead");
  if (!dtype) return;
  WEFT_REQUIRE(holds(*dtype, expr.dtype()), dtype, what_, ": the initial value ", expr.name(), " is ", expr.dtype(), ", which does not fit ",
               *dtype, ", in which ", x_.name(), " is folded\n  cast one of them");
}

Expr Reducer::initial(DType dtype) const {
  const Value& initial = *options_.initial;
  return initial.is_literal() ? x_.graph().constant(initial.literal().cast(dtype)) : cast(initial.expr(), dtype);
}

// ---- folds

bool Reducer::is_folded(int axis) const { return std::binary_search(axes_.begin(), axes_.end(), axis); }

Expr Reducer::fold(AccumulatorId acc, const Expr& value, DType dtype, const Scalar& filler) const {
  if (!has_mask()) return fold_axes(value, acc, axes_, options_.keepdims, dtype);
  Graph& graph = x_.graph();
  Folding folding = folding_of(x_.shape(), axes_, options_.keepdims);
  AxisMap mask = compose(mask_map_, folding.map);
  std::vector<Operand> operands{{options_.where.id(), std::move(mask)}, {cast(value, dtype).id(), std::move(folding.map)}, {graph.constant(filler).id(), {}}};
  return Expr(graph, graph.fold(acc, Op::where, dtype, std::move(folding.domain), folding.kept, std::move(operands)));
}

Operand Reducer::fold_mask(AccumulatorId acc, DType dtype) const {
  Graph& graph = x_.graph();
  const Shape shape = x_.shape();
  std::vector<int> position(shape.size(), -1);               // of each axis of x in the domain
  Shape domain;
  for (const bool folded : {false, true})
    for (const AxisRef& ref : mask_map_)
      if (ref.axis >= 0 && is_folded(ref.axis) == folded) {
        position[static_cast<std::size_t>(ref.axis)] = static_cast<int>(domain.size());
        domain.push_back(shape[static_cast<std::size_t>(ref.axis)]);
      }
  AxisMap beside;
  int axis_of_result = 0;
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    if (!is_folded(axis) && position[static_cast<std::size_t>(axis)] >= 0) beside.push_back(AxisRef{axis_of_result, 0, 1});
    if (!is_folded(axis) || options_.keepdims) ++axis_of_result;
  }
  const Op op = is_boolean(dtype) ? Op::copy : Op::cast;
  const int kept = static_cast<int>(beside.size());
  std::vector<Operand> operands{{options_.where.id(), renumber(mask_map_, position)}};
  return Operand{graph.fold(acc, op, dtype, std::move(domain), kept, std::move(operands)), std::move(beside)};
}

namespace {

Extent product_of(const Shape& shape, const std::vector<int>& axes) {
  Extent count = 1;
  for (int axis : axes) count = count * shape[static_cast<std::size_t>(axis)];
  return count;
}

// count - correction, and NaN in place of what is not positive.
Expr corrected(const Expr& count, double correction) {
  const Expr rest = count - correction;
  return where(rest > 0, rest, std::numeric_limits<double>::quiet_NaN());
}
Expr corrected(Graph& graph, const Extent& count, DType dtype, double correction) {
  const auto number = count.number();
  if (!number) return corrected(as_scalar(graph, count, dtype), correction);
  const double rest = static_cast<double>(*number) - correction;
  return graph.constant(Scalar::of(dtype, rest > 0 ? rest : std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

Expr Reducer::divide_by_count(const Expr& total, double correction) const {
  Graph& graph = x_.graph();
  const DType dtype = total.dtype();
  const Shape shape = x_.shape();
  if (!has_mask()) {
    const Extent count = product_of(shape, axes_);
    return total / (correction == 0 ? as_scalar(graph, count, dtype) : corrected(graph, count, dtype, correction));
  }
  Operand selected = fold_mask(AccumulatorId::sum, i64);
  std::vector<int> repeated;                                 // folded axes along which the mask is the same
  for (int axis : axes_)
    if (std::none_of(mask_map_.begin(), mask_map_.end(), [&](const AxisRef& ref) { return ref.axis == axis; })) repeated.push_back(axis);
  Expr count(graph, selected.node);
  const Extent times = product_of(shape, repeated);
  if (!times.is(1)) count = count * as_scalar(graph, times, i64);
  count = cast(count, dtype);
  selected.node = (correction == 0 ? count : corrected(count, correction)).id();
  return Expr(graph, graph.apply(Op::divide, dtype, total.shape(), {{total.id(), identity_map(total.rank())}, std::move(selected)}));
}

Expr Reducer::zero_where_nothing(const Expr& total) const {
  Graph& graph = x_.graph();
  Operand selects = fold_mask(AccumulatorId::any, bool_);
  const Expr zero = graph.constant(Scalar::of(total.dtype(), 0.0));
  return Expr(graph, graph.apply(Op::where, total.dtype(), total.shape(), {std::move(selects), {total.id(), identity_map(total.rank())}, {zero.id(), {}}}));
}

}  // namespace weft
