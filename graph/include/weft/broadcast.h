// The Array API broadcasting rule, on shapes and in assignments.
//
//   broadcast_shapes({8, 1, 6, 1}, {7, 1, 5}) == Shape{8, 7, 6, 5}
//   broadcast_shapes({"n", 1}, {64}) == Shape{"n", 64}
//
// Shapes are aligned at their last axes, missing axes count as 1, an axis of extent 1 repeats, others must be equal.
// A symbol is equal to itself only: n and m may be equal at run time, but that is not assumed. Extent 1 against 0 gives 0.
// Error(shape) with both extents otherwise. Pure functions; thread-safe. Cost: O(sum of ranks).
// Source: Array API, "Broadcasting" (algorithm and in-place semantics).
//
// The other rule systems: weft/target_shape.h (OpenVINO, included here), weft/xla.h (XLA), weft/elemwise.h (Theano).
#pragma once
#include <vector>

#include <weft/graph.h>
#include <weft/target_shape.h>

namespace weft {

Shape broadcast_shapes(const std::vector<Shape>& shapes);     // any number; [] for none
inline Shape broadcast_shapes(const Shape& a, const Shape& b) { return broadcast_shapes(std::vector{a, b}); }
inline Shape broadcast_shapes(const Shape& a, const Shape& b, const Shape& c) { return broadcast_shapes(std::vector{a, b, c}); }
inline Shape broadcast_shapes(const Shape& a, const Shape& b, const Shape& c, const Shape& d) {
  return broadcast_shapes(std::vector{a, b, c, d});
}

// What lhs holds after lhs[...] = rhs: rhs repeated to the shape of lhs, in the dtype of lhs. The shape of lhs never
// changes: a rhs of higher rank is an error even where its surplus extents are 1, and so is an extent 1 of lhs against
// another one of rhs. The dtype of rhs must promote to that of lhs.
Expr assign(const Expr& lhs, const Expr& rhs);

}  // namespace weft
