// Axes given by a user, as positions, and the nodes built over them.
#pragma once
#include <string_view>
#include <vector>

#include <weft/expr.h>

namespace weft {

int normalize_axis(std::string_view what, const Expr& x, int axis);                            // 0 .. rank-1; Error(shape)
std::vector<int> normalize_axes(std::string_view what, const Expr& x, const Axes& axes);       // ascending, each once

// The extent as a value of rank 0.
Expr as_scalar(Graph& graph, const Extent& extent, DType dtype);

// Where slices stand in x: their shape, and a reference per axis of x that follows it (a fixed one for an index). Cuts that
// begin at 0 and go by 1 are not marked as parts.
struct Window {
  Shape shape;
  AxisMap map;
};
Window window_of(std::string_view what, const Expr& x, const std::vector<Slice>& slices);

// Copies x through a map: x may not be an empty Expr.
Expr copy_through(const Expr& x, Shape domain, AxisMap map);

// A loop nest in which `axes` of a value of that shape are folded: the value's axes in it. The last of `axes` runs innermost.
struct Folding {
  Shape domain;
  int kept = 0;
  AxisMap map;
};
Folding folding_of(const Shape& shape, const std::vector<int>& axes, bool keepdims);

// acc over `axes` of x, converted to `dtype` before folding. The last of `axes` is folded first. All arguments are checked.
Expr fold_axes(const Expr& x, AccumulatorId acc, const std::vector<int>& axes, bool keepdims, DType dtype, Order order = Order::c);
// The dtype in which acc folds the elements of x; Error(dtype) where it cannot.
DType reduced_dtype(const Expr& x, AccumulatorId acc);
// Error(dtype) unless `dtype` is as wide as `least`, in which x accumulates without being asked.
void check_accumulation(std::string_view what, const Expr& x, DType least, DType dtype);

}  // namespace weft
