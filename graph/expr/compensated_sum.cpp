// Sums as if added in twice the precision.
//
// f64 in two parts: with S three times a power of two above the sum of magnitudes, (x + S) - S is x rounded to a multiple of one
// unit, the same for all elements, so that these add up exactly; what is left of each element is 2^-52 of the whole at most,
// and its sum carries the only rounding errors.
#include "reducer.h"

namespace weft {
namespace {

// The smallest power of two that is not below p, for p > 0 that is neither tiny nor huge.
Expr next_power_of_two(const Expr& p) {
  const Expr large = p * 0x1p53, power = (large + p) - large;
  return where(power == 0, p, power);
}

Expr sum_of_parts(const Reducer& reducer, const Expr& x, bool keepdims) {
  const Expr size = stop_gradient(fold_axes(abs(x), AccumulatorId::sum, reducer.axes(), true, f64));
  const auto by_size = [&](const Expr& of, double huge, double tiny) { return where(of > 0x1p900, huge, where(of < 0x1p-800, tiny, 1.0)); };
  const Expr shift = 3 * next_power_of_two(2 * size * by_size(size, 0x1p-200, 0x1p200));
  const Expr scaled = x * by_size(size, 0x1p-200, 0x1p200);
  const Expr rest = stop_gradient(scaled - ((scaled + shift) - shift));      // the gradient runs through the other part alone
  const auto total = [&](const Expr& part) { return fold_axes(part, AccumulatorId::sum, reducer.axes(), true, f64); };
  const Expr sum = (total(scaled - rest) + total(rest)) * by_size(size, 0x1p200, 0x1p-200);
  const Expr plain = total(x);                                                // zeros of either sign, infinities, NaN
  const Expr all_dims = where(isfinite(size) && size > 0, sum, plain);
  return keepdims || reducer.axes().empty() ? all_dims : squeeze(all_dims, reducer.axes());
}

}  // namespace

Expr compensated_sum(const Expr& x, const Axes& axes, bool keepdims) { return compensated_sum(x, axes, {.keepdims = keepdims}); }
Expr compensated_sum(const Expr& x, const Axes& axes, const ReduceOptions& options) {
  const Reducer reducer("compensated_sum", x, axes, options);
  const DType dtype = options.dtype.value_or(x.dtype());
  WEFT_REQUIRE(is_floating(x.dtype()), dtype, "compensated_sum: ", x.name(), " is ", x.dtype(), ", and sums of integers are exact\n  use sum");
  WEFT_REQUIRE(is_floating(dtype) && holds(dtype, x.dtype()), dtype, "compensated_sum: ", x.name(), " is ", x.dtype(), ", which does not fit ", dtype,
               "\n  cast the result instead");
  reducer.check_initial(dtype);
  if (dtype != f64) return cast(sum(x, axes, {.keepdims = options.keepdims, .dtype = f64, .initial = options.initial, .where = options.where}), dtype);
  const Expr wide = cast(x, f64), selected = reducer.has_mask() ? where(options.where, wide, 0.0) : wide;
  const Expr total = sum_of_parts(reducer, selected, options.keepdims);
  return reducer.has_initial() ? total + reducer.initial(f64) : total;
}

}  // namespace weft
