#include <algorithm>

#include <weft/expr.h>

#include "axes.h"

namespace weft {

int normalize_axis(std::string_view what, const Expr& x, int axis) {
  WEFT_REQUIRE(!x.is_empty(), usage, what, ": the operand is an empty Expr");
  const int rank = x.rank();
  WEFT_REQUIRE(rank > 0, shape, what, ": ", x.name(), " has rank 0 and no axis ", axis);
  WEFT_REQUIRE(axis >= -rank && axis < rank, shape, what, ": axis ", axis, " is outside ", x.name(), " of shape ", to_text(x.shape()),
               "\n  axes run from ", -rank, " to ", rank - 1);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int> normalize_axes(std::string_view what, const Expr& x, const Axes& axes) {
  WEFT_REQUIRE(!x.is_empty(), usage, what, ": the operand is an empty Expr");
  std::vector<int> positions;
  if (axes.is_all())
    for (int axis = 0; axis < x.rank(); ++axis) positions.push_back(axis);
  else
    for (int axis : axes.list()) positions.push_back(normalize_axis(what, x, axis));
  std::sort(positions.begin(), positions.end());
  const auto twice = std::adjacent_find(positions.begin(), positions.end());
  WEFT_REQUIRE(twice == positions.end(), shape, what, ": axis ", *twice, " of ", x.name(), " is named twice");
  return positions;
}

Expr copy_through(const Expr& x, Shape domain, AxisMap map) {
  return Expr(x.graph(), x.graph().apply(Op::copy, x.dtype(), std::move(domain), {{x.id(), std::move(map)}}));
}

Expr permute_dims(const Expr& x, const std::vector<int>& axes) {
  WEFT_REQUIRE(!x.is_empty(), usage, "permute_dims: the operand is an empty Expr");
  WEFT_REQUIRE(static_cast<int>(axes.size()) == x.rank(), shape, "permute_dims: ", x.name(), " has rank ", x.rank(), " but ", axes.size(),
               " axes are given\n  name every axis once");
  normalize_axes("permute_dims", x, axes);                     // in range, no duplicates
  const Shape shape = x.shape();
  Shape domain(shape.size());
  AxisMap map(shape.size());
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto from = static_cast<std::size_t>(normalize_axis("permute_dims", x, axes[k]));
    domain[k] = shape[from];
    map[from].axis = static_cast<int>(k);
  }
  return copy_through(x, std::move(domain), std::move(map));
}

Expr transpose(const Expr& x) {
  WEFT_REQUIRE(!x.is_empty(), usage, "transpose: the operand is an empty Expr");
  std::vector<int> axes;
  for (int axis = x.rank() - 1; axis >= 0; --axis) axes.push_back(axis);
  return permute_dims(x, axes);
}

Expr matrix_transpose(const Expr& x) {
  WEFT_REQUIRE(!x.is_empty(), usage, "matrix_transpose: the operand is an empty Expr");
  WEFT_REQUIRE(x.rank() >= 2, shape, "matrix_transpose: expected rank 2 or more, got ", x.name(), " of rank ", x.rank());
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis) axes.push_back(axis);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return permute_dims(x, axes);
}

Expr expand_dims(const Expr& x, int axis) {
  WEFT_REQUIRE(!x.is_empty(), usage, "expand_dims: the operand is an empty Expr");
  const int rank = x.rank();
  WEFT_REQUIRE(axis >= -rank - 1 && axis <= rank, shape, "expand_dims: axis ", axis, " is outside ", x.name(), " of shape ", to_text(x.shape()),
               "\n  the new axis may be at ", -rank - 1, " to ", rank);
  if (axis < 0) axis += rank + 1;
  Shape domain = x.shape();
  domain.insert(domain.begin() + axis, Extent(1));
  AxisMap map = identity_map(rank);
  for (AxisRef& ref : map) ref.axis += ref.axis >= axis ? 1 : 0;
  return copy_through(x, std::move(domain), std::move(map));
}

Expr squeeze(const Expr& x, const Axes& axes) {
  std::vector<int> positions = normalize_axes("squeeze", x, axes);
  const Shape shape = x.shape();
  if (axes.is_all()) std::erase_if(positions, [&](int axis) { return !shape[static_cast<std::size_t>(axis)].is(1); });
  Shape domain;
  AxisMap map(shape.size());
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (std::binary_search(positions.begin(), positions.end(), static_cast<int>(k))) {
      WEFT_REQUIRE(shape[k].is(1), shape, "squeeze: axis ", k, " of ", x.name(), " has extent ", shape[k], ", expected 1",
                   "\n  slice or reduce the axis to drop it");
      continue;
    }
    map[k].axis = static_cast<int>(domain.size());
    domain.push_back(shape[k]);
  }
  return copy_through(x, std::move(domain), std::move(map));
}

Expr flip(const Expr& x, const Axes& axes) {
  const std::vector<int> positions = normalize_axes("flip", x, axes);
  const Shape shape = x.shape();
  AxisMap map = identity_map(x.rank());
  for (int axis : positions) {
    const auto k = static_cast<std::size_t>(axis);
    if (shape[k].is(0) || shape[k].is(1)) continue;
    map[k].start = shape[k] - 1;
    map[k].step = -1;
  }
  return copy_through(x, shape, std::move(map));
}

}  // namespace weft
