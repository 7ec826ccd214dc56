// Functions made of others. They are plain nodes: the maximum and the sums of a row are folds that later passes fuse.
#include <numbers>

#include <weft/broadcast.h>
#include <weft/expr.h>

#include "axes.h"
#include "broadcast/align.h"

namespace weft {
namespace {

Expr to_floating(const Expr& x) { return is_floating(x.dtype()) ? x : cast(x, f64); }

// x minus its maximum along the axis. The result of every caller does not depend on what is subtracted, so no gradient
// runs through it.
Expr subtract_max(const Expr& x, int axis) { return x - stop_gradient(max(x, axis, true)); }

// gamma or beta beside an x of a higher rank: rank 1 follows `axis`, anything else the last axes.
Expr along_axis(const Expr& parameter, const Expr& x, int axis) {
  if (parameter.rank() != 1 || axis == x.rank() - 1) return parameter;
  Shape domain(static_cast<std::size_t>(x.rank() - axis), Extent(1));
  domain[0] = parameter.shape()[0];
  return copy_through(parameter, std::move(domain), identity_map(1));
}

void check_parameter(const Expr& parameter, const char* name, const Expr& x, int axis) {
  WEFT_REQUIRE(!parameter.is_empty(), usage, "layer_norm: ", name, " is an empty Expr");
  check_same_graph("layer_norm", x, parameter);
  WEFT_REQUIRE(is_floating(parameter.dtype()), dtype, "layer_norm: ", name, " ", parameter.name(), " is ", parameter.dtype(),
               "\n  cast it to a floating dtype");
  const Shape own = parameter.shape(), shape = x.shape();
  bool fits = own.size() <= shape.size();
  if (own.size() == 1) fits = fits && (own[0].is(1) || own[0] == shape[static_cast<std::size_t>(axis)]);
  else for (std::size_t k = 0; fits && k < own.size(); ++k) fits = own[k].is(1) || own[k] == shape[shape.size() - own.size() + k];
  WEFT_REQUIRE(fits, shape, "layer_norm: ", name, " ", parameter.name(), " has shape ", to_text(own), " but ", x.name(), " has shape ",
               to_text(shape), " and is normalized along axis ", axis, "\n  give it the extent of that axis");
}

}  // namespace

Expr silu(const Expr& x) {
  const Expr a = to_floating(positive(x));
  return a * sigmoid(a);
}

Expr gelu(const Expr& x) {
  const Expr a = to_floating(x);
  const Expr both_sides = erf(a * (1 / std::numbers::sqrt2)) + 1;
  return a * 0.5 * both_sides;
}

Expr softmax(const Expr& x, int axis) {
  axis = normalize_axis("softmax", x, axis);
  const Expr weights = exp(subtract_max(to_floating(x), axis));
  return weights / sum(weights, axis, true);
}

Expr log_softmax(const Expr& x, int axis) {
  axis = normalize_axis("log_softmax", x, axis);
  const Expr shifted = subtract_max(to_floating(x), axis);
  return shifted - log(sum(exp(shifted), axis, true));
}

Expr layer_norm(const Expr& x, const Expr& gamma, const Expr& beta, int axis, double epsilon) {
  axis = normalize_axis("layer_norm", x, axis);
  check_parameter(gamma, "gamma", x, axis);
  check_parameter(beta, "beta", x, axis);
  const Expr a = to_floating(x);
  const Expr centered = a - mean(a, axis, true);
  const Expr scale = rsqrt(mean(square(centered), axis, true) + epsilon);
  const Expr normalized = centered * scale;
  const Expr scaled = normalized * along_axis(gamma, x, axis);
  return scaled + along_axis(beta, x, axis);
}

}  // namespace weft
