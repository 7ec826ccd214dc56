#include <algorithm>

#include <weft/expr.h>

#include "axes.h"

namespace weft {

Expr fold_axes(const Expr& x, AccumulatorId acc, const std::vector<int>& axes, bool keepdims, DType dtype, Order order) {
  const Shape shape = x.shape();
  AxisMap map(shape.size());
  Shape domain;
  for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const bool folded = std::find(axes.begin(), axes.end(), k) != axes.end();
    if (!folded) map[axis].axis = static_cast<int>(domain.size());
    if (!folded || keepdims) domain.push_back(folded ? Extent(1) : shape[axis]);
  }
  const int kept = static_cast<int>(domain.size());
  for (int k : axes) {
    map[static_cast<std::size_t>(k)].axis = static_cast<int>(domain.size());
    domain.push_back(shape[static_cast<std::size_t>(k)]);
  }
  const Op op = x.dtype() == dtype ? Op::copy : Op::cast;
  return Expr(x.graph(), x.graph().fold(acc, op, dtype, std::move(domain), kept, {{x.id(), std::move(map)}}, order));
}

namespace {

constexpr std::string_view known_reductions = "sum, prod, max, min, any, all, reduce_or, reduce_and, reduce_xor";

DType wide_dtype(DType dtype) {
  if (is_floating(dtype)) return dtype;
  return is_unsigned_integer(dtype) ? u64 : i64;
}

// The dtype a mean is computed in, before the result is rounded to that of x.
DType mean_dtype(DType dtype) {
  if (dtype == f16 || dtype == bf16) return f32;
  return is_floating(dtype) ? dtype : f64;
}
DType mean_result(DType dtype) { return is_floating(dtype) ? dtype : f64; }

Expr sum_or_prod(const Expr& x, AccumulatorId acc, const Axes& axes, bool keepdims, DType dtype) {
  const auto positions = normalize_axes(name_of(acc), x, axes);
  const DType wide = wide_dtype(x.dtype());
  const bool mixed = (wide == u64 && is_signed_integer(dtype)) || (dtype == u64 && is_signed_integer(wide));
  WEFT_REQUIRE(!mixed && promote(wide, dtype) == dtype, dtype, name_of(acc), ": ", x.name(), " is ", x.dtype(), " and accumulates in ", wide,
               ", which does not fit ", dtype, "\n  cast the result instead");
  return fold_axes(x, acc, positions, keepdims, dtype);
}

// How many elements fold into one, as a scalar of `dtype`.
Expr count_of(const Expr& x, const std::vector<int>& axes, DType dtype) {
  Extent count = 1;
  const Shape shape = x.shape();
  for (int axis : axes) count = count * shape[static_cast<std::size_t>(axis)];
  if (auto number = count.number()) return x.graph().constant(Scalar::of(dtype, *number));
  return cast(x.graph().extent(count), dtype);
}

Expr mean_in(const Expr& x, const std::vector<int>& axes, bool keepdims, DType dtype) {
  const Expr total = fold_axes(x, AccumulatorId::sum, axes, keepdims, dtype);
  return total / count_of(x, axes, dtype);
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
Expr sum(const Expr& x, const Axes& axes, bool keepdims, DType dtype) { return sum_or_prod(x, AccumulatorId::sum, axes, keepdims, dtype); }
Expr prod(const Expr& x, const Axes& axes, bool keepdims, DType dtype) { return sum_or_prod(x, AccumulatorId::prod, axes, keepdims, dtype); }

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

Expr reduce(const Expr& x, AccumulatorId acc, const Axes& axes, bool keepdims) {
  const auto positions = normalize_axes(acc == AccumulatorId::none ? "reduce" : name_of(acc), x, axes);
  return fold_axes(x, acc, positions, keepdims, reduced_dtype(x, acc));
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

Expr mean(const Expr& x, const Axes& axes, bool keepdims) {
  const auto positions = normalize_axes("mean", x, axes);
  return cast(mean_in(x, positions, keepdims, mean_dtype(x.dtype())), mean_result(x.dtype()));
}

Expr var(const Expr& x, const Axes& axes, bool keepdims, double correction) {
  const auto positions = normalize_axes("var", x, axes);
  const DType dtype = mean_dtype(x.dtype());
  const Expr wide = cast(x, dtype);
  const Expr center = mean_in(wide, positions, true, dtype);
  const Expr squares = fold_axes(square(wide - center), AccumulatorId::sum, positions, keepdims, dtype);
  const Expr count = count_of(x, positions, dtype);
  return cast(squares / (correction == 0 ? count : count - correction), mean_result(x.dtype()));
}

Expr std(const Expr& x, const Axes& axes, bool keepdims, double correction) { return sqrt(var(x, axes, keepdims, correction)); }

Expr norm(const Expr& x, const Axes& axes, bool keepdims) {
  const auto positions = normalize_axes("norm", x, axes);
  const DType dtype = mean_dtype(x.dtype());
  const Expr squares = fold_axes(square(cast(x, dtype)), AccumulatorId::sum, positions, keepdims, dtype);
  return cast(sqrt(squares), mean_result(x.dtype()));
}

Expr count_nonzero(const Expr& x, const Axes& axes, bool keepdims) {
  const auto positions = normalize_axes("count_nonzero", x, axes);
  return fold_axes(cast(x, bool_), AccumulatorId::sum, positions, keepdims, i64);
}

}  // namespace weft
