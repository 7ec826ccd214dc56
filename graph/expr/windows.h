// Windows written into zeros, and conditions on the index of an axis: what joining, padding and writing are made of.
#pragma once
#include <string_view>

#include <weft/expr.h>

namespace weft {

// A number as a scalar of `dtype`, or an Expr of that dtype and rank 0. Error(dtype | shape) names what does not fit; no node
// is added.
void check_fill(std::string_view what, const Value& value, DType dtype);
Expr fill_of(Graph& graph, const Value& value, DType dtype);                   // the checked value as an Expr

// `window` at its places in zeros of the given shape (Kind::update).
Expr scatter(const Expr& window, const Shape& shape, AxisMap places);

// A condition on the index of one axis: rank 1, over that axis.
Expr index_below(Graph& graph, const Extent& axis, const Extent& bound);
// Whether ref reaches an index: start + step * w for some w in [0, count); a fixed ref reaches one.
Expr index_reached(Graph& graph, const Extent& axis, const AxisRef& ref, const Extent& count);

// where(condition along `axis`, yes, no); yes and no have one dtype, and the shape or rank 0.
Expr select_along(const Expr& condition, int axis, const Expr& yes, const Expr& no, const Shape& shape);

}  // namespace weft
