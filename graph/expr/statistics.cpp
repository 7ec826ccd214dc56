// Functions of the sums over axes: mean, var, std, norm, count_nonzero, logsumexp.
#include <limits>

#include "reducer.h"

namespace weft {
namespace {

// The floating dtype that a function computes in, and the one it is rounded to at the end.
struct Precision {
  DType compute, result;
};
Precision precision_of(std::string_view what, const Expr& x, const std::optional<DType>& asked) {
  const auto computed_in = [](DType dtype) { return size_of(dtype) == 2 ? f32 : dtype; };
  const DType own = is_floating(x.dtype()) ? x.dtype() : f64;
  if (!asked) return {computed_in(own), own};
  WEFT_REQUIRE(is_floating(*asked) && holds(*asked, own), dtype, what, ": ", x.name(), " is ", x.dtype(), " and accumulates in ", own,
               ", which does not fit ", *asked, "\n  cast the result instead");
  return {computed_in(*asked), *asked};
}

// Integers of up to 32 bits are summed exactly, in 64: by instructions that take many at once. Means of 1 Mi bytes 114 -> 16 us (Zen 4).
Expr mean_in(const Reducer& reducer, const Expr& x, DType dtype) {
  if (!is_floating(x.dtype()) && size_of(x.dtype()) <= size_of(DType::i32))
    return reducer.divide_by_count(cast(reducer.fold(AccumulatorId::sum, x, is_unsigned_integer(x.dtype()) ? DType::u64 : DType::i64), dtype));
  return reducer.divide_by_count(reducer.fold(AccumulatorId::sum, x, dtype));
}

// The sum of values that are not negative: a 0 among them changes nothing.
Expr sum_of_positive(const Reducer& reducer, const Expr& x, DType dtype) {
  return reducer.fold(AccumulatorId::sum, x, dtype, Scalar::of(dtype, 0.0));
}

Expr var_in(const Reducer& reducer, const Expr& x, DType dtype, double correction) {
  const Expr wide = cast(x, dtype);
  const Expr center = mean_in(reducer.keeping_dims(), wide, dtype);
  return reducer.divide_by_count(sum_of_positive(reducer, square(wide - center), dtype), correction);
}

// The square root of a sum of squares. Where that is 0 so are all the differences, and the derivative is taken as 0, as that
// of hypot and abs: infinity times 0 would be NaN.
Expr root(const Expr& squares) { return where(squares != 0, sqrt(squares), 0); }

}  // namespace

Expr mean(const Expr& x, const Axes& axes, bool keepdims) { return mean(x, axes, {.keepdims = keepdims}); }
Expr mean(const Expr& x, const Axes& axes, const ReduceOptions& options) {
  const Reducer reducer("mean", x, axes, options);
  reducer.take_no_initial();
  const auto [compute, result] = precision_of("mean", x, options.dtype);
  return cast(mean_in(reducer, x, compute), result);
}

Expr var(const Expr& x, const Axes& axes, bool keepdims, double correction) { return var(x, axes, {.keepdims = keepdims}, correction); }
Expr var(const Expr& x, const Axes& axes, const ReduceOptions& options, double correction) {
  const Reducer reducer("var", x, axes, options);
  reducer.take_no_initial();
  const auto [compute, result] = precision_of("var", x, options.dtype);
  return cast(var_in(reducer, x, compute, correction), result);
}

Expr std(const Expr& x, const Axes& axes, bool keepdims, double correction) { return std(x, axes, {.keepdims = keepdims}, correction); }
Expr std(const Expr& x, const Axes& axes, const ReduceOptions& options, double correction) {
  const Reducer reducer("std", x, axes, options);
  reducer.take_no_initial();
  const auto [compute, result] = precision_of("std", x, options.dtype);
  return cast(root(var_in(reducer, x, compute, correction)), result);
}

Expr norm(const Expr& x, const Axes& axes, bool keepdims) { return norm(x, axes, {.keepdims = keepdims}); }
Expr norm(const Expr& x, const Axes& axes, const ReduceOptions& options) {
  const Reducer reducer("norm", x, axes, options);
  const auto [compute, result] = precision_of("norm", x, options.dtype);
  reducer.check_initial(compute);
  const Expr squares = sum_of_positive(reducer, square(cast(x, compute)), compute);
  return cast(root(reducer.has_initial() ? squares + square(reducer.initial(compute)) : squares), result);
}

Expr count_nonzero(const Expr& x, const Axes& axes, bool keepdims) { return count_nonzero(x, axes, {.keepdims = keepdims}); }
Expr count_nonzero(const Expr& x, const Axes& axes, const ReduceOptions& options) {
  const Reducer reducer("count_nonzero", x, axes, options);
  reducer.take_no_dtype();
  reducer.check_initial(i64);
  const Expr count = reducer.fold(AccumulatorId::sum, cast(x, bool_), i64);
  return reducer.has_initial() ? count + reducer.initial(i64) : count;
}

// The result does not depend on what is subtracted, so no gradient runs through it. A maximum that is not finite would give
// inf - inf: 0 is subtracted instead.
Expr logsumexp(const Expr& x, const Axes& axes, bool keepdims) { return logsumexp(x, axes, {.keepdims = keepdims}); }
Expr logsumexp(const Expr& x, const Axes& axes, const ReduceOptions& options) {
  const Reducer reducer("logsumexp", x, axes, options);
  const auto [compute, result] = precision_of("logsumexp", x, options.dtype);
  reducer.check_initial(compute);
  Expr wide = cast(x, compute);
  if (reducer.has_mask()) wide = where(options.where, wide, -std::numeric_limits<double>::infinity());
  const Expr initial = reducer.has_initial() ? reducer.initial(compute) : Expr();
  Expr top = fold_axes(wide, AccumulatorId::supremum, reducer.axes(), true, compute);
  if (!initial.is_empty()) top = maximum(top, initial);
  top = stop_gradient(top);
  const Expr shift = where(isfinite(top), top, 0);
  Expr total = fold_axes(exp(wide - shift), AccumulatorId::sum, reducer.axes(), true, compute);
  if (!initial.is_empty()) total = total + exp(initial - shift);
  const Expr logarithm = where(total != 0, log(total), -std::numeric_limits<double>::infinity());   // no gradient where nothing adds up
  const Expr all_dims = cast(logarithm + shift, result);
  return options.keepdims || reducer.axes().empty() ? all_dims : squeeze(all_dims, reducer.axes());
}

}  // namespace weft
