// The XLA broadcasting rules: explicit dimensions, nothing implicit.
//
//   xla::apply(Op::add, x, v, {1})                  // v of rank 1 follows axis 1 of the matrix x
//   xla::apply(Op::add, u, w, {0})                  // [4] with [1, 2]: u becomes [4, 1], then both become [4, 2]
//   xla::apply(Op::add, x, s)                       // a scalar needs no dimensions
//   xla::broadcast_in_dim(v, {2, 3}, {1})           // v[j] at every [i, j]
//
// Shapes: operands of different rank, none a scalar, need `broadcast_dimensions`: for each axis of the operand of lower
// rank the axis of the other one that it follows, strictly increasing. With equal ranks they are empty or 0, 1, 2, ..
// Either operand may be the lower one. Then extents must be equal, or one of them 1, which repeats (also where the other is
// 0). A symbol equals itself only. The broadcast is part of the node's maps and costs nothing.
// Dtypes: operands have one dtype; nothing is promoted.
// Errors: usage (empty Expr, two graphs, an op that is not binary), dtype, shape; then the graph has no new node.
// Thread-safety: building a graph is single-threaded; functions on shapes are pure. Cost: O(rank).
// Source: XLA, "Broadcasting semantics"; tests/README.md, requirements 65 to 91 (readings X1 to X6). Ranges of sizes: XLA shape inference.
#pragma once
#include <vector>

#include <weft/graph.h>
#include <weft/partial_shape.h>

namespace weft::xla {

// Any binary row of ops.def, comparisons and logical ops too.
Expr apply(Op op, const Expr& a, const Expr& b, const std::vector<Index>& broadcast_dimensions = {});

Expr broadcast_in_dim(const Expr& x, const Shape& shape, const std::vector<Index>& broadcast_dimensions);   // extent 1 repeats
Expr broadcast(const Expr& x, const Shape& sizes);                       // `sizes` are new axes in front
// a where pred, else b: one shape and dtype; pred is bool, of that shape or a scalar.
Expr select(const Expr& pred, const Expr& a, const Expr& b);
// The shape and dtype of x; low and high are of that shape or scalars.
Expr clamp(const Expr& low, const Expr& x, const Expr& high);

// The shape of apply's result.
Shape binary_shape(const Shape& a, const Shape& b, const std::vector<Index>& broadcast_dimensions = {});
// The same for ranges of sizes: an unknown size against a known one is taken to be that, and against 1 stays unknown. While
// matching ranks, an unknown size agrees with 1 and with an unknown one only.
PartialShape infer_binary_shape(const PartialShape& a, const PartialShape& b, const std::vector<Index>& broadcast_dimensions = {});
// What the operand of lower rank is broadcast to before extents of 1 are: its axes where they go, the sizes of the other
// operand elsewhere. [1, 2] with [4, 3, 1] along {1, 2}: [4, 1, 2]. A scalar stays one.
Shape in_dim_shape(const Shape& a, const Shape& b, const std::vector<Index>& broadcast_dimensions);

}  // namespace weft::xla
