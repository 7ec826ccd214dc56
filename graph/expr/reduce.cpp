#include <algorithm>

#include <weft/expr.h>

#include "reducer.h"

namespace weft {

Expr as_scalar(Graph& graph, const Extent& extent, DType dtype) {
  if (auto number = extent.number()) return graph.constant(Scalar::of(dtype, *number));
  return cast(graph.extent(extent), dtype);
}

Folding folding_of(const Shape& shape, const std::vector<int>& axes, bool keepdims) {
  Folding folding;
  folding.map = AxisMap(shape.size());
  for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const bool folded = std::find(axes.begin(), axes.end(), k) != axes.end();
    if (!folded) folding.map[axis].axis = static_cast<int>(folding.domain.size());
    if (!folded || keepdims) folding.domain.push_back(folded ? Extent(1) : shape[axis]);
  }
  folding.kept = static_cast<int>(folding.domain.size());
  for (int k : axes) {
    folding.map[static_cast<std::size_t>(k)].axis = static_cast<int>(folding.domain.size());
    folding.domain.push_back(shape[static_cast<std::size_t>(k)]);
  }
  return folding;
}

Expr fold_axes(const Expr& x, AccumulatorId acc, const std::vector<int>& axes, bool keepdims, DType dtype, Order order) {
  Folding folding = folding_of(x.shape(), axes, keepdims);
  const Op op = x.dtype() == dtype ? Op::copy : Op::cast;
  return Expr(x.graph(), x.graph().fold(acc, op, dtype, std::move(folding.domain), folding.kept, {{x.id(), std::move(folding.map)}}, order));
}

namespace {

constexpr std::string_view known_reductions = "sum, prod, max, min, any, all, reduce_or, reduce_and, reduce_xor";

DType wide_dtype(DType dtype) {
  if (is_floating(dtype)) return dtype;
  return is_unsigned_integer(dtype) ? u64 : i64;
}

bool is_sum_or_prod(AccumulatorId acc) { return acc == AccumulatorId::sum || acc == AccumulatorId::prod; }
bool is_extreme(AccumulatorId acc) { return acc == AccumulatorId::max || acc == AccumulatorId::min; }

// How an initial value joins the result.
Op joining(AccumulatorId acc) {
  if (const auto op = combining_op(acc)) return *op;
  return acc == AccumulatorId::supremum ? Op::maximum : Op::minimum;     // which no scan combines
}

Expr reduce_with(const Reducer& reducer, const Expr& x, AccumulatorId acc, DType dtype) {
  const bool truth = acc == AccumulatorId::any || acc == AccumulatorId::all;
  reducer.check_initial(truth ? std::nullopt : std::optional(dtype));                // any and all: whether it differs from zero
  if (!reducer.has_initial()) {
    WEFT_REQUIRE(!reducer.has_mask() || !is_extreme(acc), usage, reducer.what(), ": where may select no element of ", x.name(), ", and ", reducer.what(),
                 " of nothing has no value\n  give an initial value");
    const Expr total = reducer.fold(acc, x, dtype);
    const bool may_be_minus_zero = reducer.has_mask() && acc == AccumulatorId::sum && is_floating(dtype);
    return may_be_minus_zero ? reducer.zero_where_nothing(total) : total;
  }
  if (acc == AccumulatorId::max) acc = AccumulatorId::supremum;
  if (acc == AccumulatorId::min) acc = AccumulatorId::infimum;
  const DType wide = is_sum_or_prod(acc) && is_floating(dtype) && size_of(dtype) == 2 ? f32 : dtype;   // one rounding
  return cast(elementwise(joining(acc), {reducer.fold(acc, x, wide), reducer.initial(wide)}), dtype);
}

}  // namespace

Expr sum(const Expr& x, const Axes& axes, bool keepdims) { return reduce(x, AccumulatorId::sum, axes, keepdims); }
Expr prod(const Expr& x, const Axes& axes, bool keepdims) { return reduce(x, AccumulatorId::prod, axes, keepdims); }
Expr max(const Expr& x, const Axes& axes, bool keepdims) { return reduce(x, AccumulatorId::max, axes, keepdims); }
Expr min(const Expr& x, const Axes& axes, bool keepdims) { return reduce(x, AccumulatorId::min, axes, keepdims); }
Expr any(const Expr& x, const Axes& axes, bool keepdims) { return reduce(x, AccumulatorId::any, axes, keepdims); }
Expr all(const Expr& x, const Axes& axes, bool keepdims) { return reduce(x, AccumulatorId::all, axes, keepdims); }
Expr reduce_or(const Expr& x, const Axes& axes, bool keepdims) { return reduce(x, AccumulatorId::bitwise_or, axes, keepdims); }
Expr reduce_and(const Expr& x, const Axes& axes, bool keepdims) { return reduce(x, AccumulatorId::bitwise_and, axes, keepdims); }
Expr reduce_xor(const Expr& x, const Axes& axes, bool keepdims) { return reduce(x, AccumulatorId::bitwise_xor, axes, keepdims); }
Expr sum(const Expr& x, const Axes& axes, bool keepdims, DType dtype) { return sum(x, axes, {.keepdims = keepdims, .dtype = dtype}); }
Expr prod(const Expr& x, const Axes& axes, bool keepdims, DType dtype) { return prod(x, axes, {.keepdims = keepdims, .dtype = dtype}); }

#define WEFT_REDUCTION(name, acc) \
  Expr name(const Expr& x, const Axes& axes, const ReduceOptions& options) { return reduce(x, AccumulatorId::acc, axes, options); }
WEFT_REDUCTION(sum, sum)
WEFT_REDUCTION(prod, prod)
WEFT_REDUCTION(max, max)
WEFT_REDUCTION(min, min)
WEFT_REDUCTION(any, any)
WEFT_REDUCTION(all, all)
WEFT_REDUCTION(reduce_or, bitwise_or)
WEFT_REDUCTION(reduce_and, bitwise_and)
WEFT_REDUCTION(reduce_xor, bitwise_xor)
#undef WEFT_REDUCTION

void check_accumulation(std::string_view what, const Expr& x, DType least, DType dtype) {
  WEFT_REQUIRE(holds(dtype, least), dtype, what, ": ", x.name(), " is ", x.dtype(), " and accumulates in ", least, ", which does not fit ", dtype,
               "\n  cast the result instead");
}

DType reduced_dtype(const Expr& x, AccumulatorId acc) {
  switch (acc) {
    case AccumulatorId::sum:
    case AccumulatorId::prod: return wide_dtype(x.dtype());
    case AccumulatorId::max:
    case AccumulatorId::min:
    case AccumulatorId::supremum:
    case AccumulatorId::infimum:
      WEFT_REQUIRE(!is_boolean(x.dtype()), dtype, name_of(acc), ": ", x.name(), " is bool\n  use any or all, or cast it to an integer dtype");
      return x.dtype();
    case AccumulatorId::any:
    case AccumulatorId::all: return bool_;
    case AccumulatorId::bitwise_or:
    case AccumulatorId::bitwise_and:
    case AccumulatorId::bitwise_xor:
      WEFT_REQUIRE(!is_floating(x.dtype()), dtype, name_of(acc), ": ", x.name(), " is ", x.dtype(), ", and bits are folded of integers and bool\n",
                   "  cast it to an integer dtype");
      return x.dtype();
    case AccumulatorId::none: break;
  }
  fail(ErrorKind::usage, concat("reduce: expected an accumulator, got none\n  use one of ", known_reductions));
}

Expr reduce(const Expr& x, AccumulatorId acc, const Axes& axes, bool keepdims) { return reduce(x, acc, axes, {.keepdims = keepdims}); }

Expr reduce(const Expr& x, AccumulatorId acc, const Axes& axes, const ReduceOptions& options) {
  const Reducer reducer(acc == AccumulatorId::none ? "reduce" : name_of(acc), x, axes, options);
  DType dtype = reduced_dtype(x, acc);
  if (options.dtype) {
    if (!is_sum_or_prod(acc)) reducer.take_no_dtype();
    check_accumulation(reducer.what(), x, dtype, *options.dtype);
    dtype = *options.dtype;
  }
  return reduce_with(reducer, x, acc, dtype);
}

AccumulatorId accumulator_of(Reduction reduction) {
  constexpr std::pair<Reduction, AccumulatorId> known[] = {
      {sum, AccumulatorId::sum}, {prod, AccumulatorId::prod}, {max, AccumulatorId::max}, {min, AccumulatorId::min}, {any, AccumulatorId::any},
      {all, AccumulatorId::all}, {reduce_or, AccumulatorId::bitwise_or}, {reduce_and, AccumulatorId::bitwise_and},
      {reduce_xor, AccumulatorId::bitwise_xor}};
  for (const auto& [function, acc] : known)
    if (function == reduction) return acc;
  fail(ErrorKind::usage, concat("accumulate: the function is not an accumulator\n  use one of ", known_reductions));
}
Expr reduce(const Expr& x, Reduction reduction, const Axes& axes, bool keepdims) { return reduce(x, accumulator_of(reduction), axes, keepdims); }
Expr reduce(const Expr& x, Reduction reduction, const Axes& axes, const ReduceOptions& options) {
  return reduce(x, accumulator_of(reduction), axes, options);
}

}  // namespace weft
