// Arrays put together and taken apart: join, pad, roll, write into a copy; and arrays made of nothing but their index.
//
//   auto y = concat({x, pad(z, {{0, 0}, {1, 1}}, 0.5)}, 0);
//   auto w = update(x, {Slice{{}, -1}}, 0);          // NumPy: w = x.copy(); w[:-1] = 0
//   auto d = diff(x, 2, -1);                         // second differences along the last axis
//
// Shapes: parts that are joined agree in every axis but the joined one; extents may be symbols.
// Dtypes: parts of concat and stack are promoted to their common dtype; pad and update keep the dtype of x. Every element
// keeps its bits, -0.0 and NaN included: the parts are selected by their index, never added.
// Errors: misuse throws weft::Error that names the operands, before any node is added.
// Thread-safety: building a graph is single-threaded. Cost: that of the parts; only the vectors around a bound select. A part that is an
// input or stored is read where it lies, one that a few ops make is made in its place, and others are stored first. Slices of what pad and update
// write from memory read that memory: a stencil over a padded input needs no padded array.
// Source: Array API manipulation and creation functions; NumPy for pad and assignment to slices.
#pragma once
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/expr.h>

namespace weft {

Expr concat(const std::vector<Expr>& parts, int axis = 0);
Expr stack(const std::vector<Expr>& parts, int axis = 0);                      // along a new axis at that place
std::vector<Expr> unstack(const Expr& x, int axis = 0);                        // the axis has a number as its extent
std::vector<Expr> broadcast_arrays(const std::vector<Expr>& xs);
Expr moveaxis(const Expr& x, const std::vector<int>& from, const std::vector<int>& to);
inline Expr moveaxis(const Expr& x, int from, int to) { return moveaxis(x, std::vector<int>{from}, std::vector<int>{to}); }

// Elements of `value` (a number or an Expr of rank 0) before and after each axis.
using Padding = std::vector<std::pair<Extent, Extent>>;
Expr pad(const Expr& x, const Padding& widths, const Value& value);
Expr pad(const Expr& x, const Padding& widths);                                // with zeros

// Element i goes to (i + shift) modulo the extent. One shift for all axes, or one for each. An axis whose extent is a symbol
// takes shifts from minus the extent to the extent, which the call checks.
Expr roll(const Expr& x, const std::vector<Index>& shifts, const std::vector<int>& axes);
inline Expr roll(const Expr& x, Index shift, int axis) { return roll(x, std::vector<Index>{shift}, std::vector<int>{axis}); }

// x with value[...] written at x.slice(window); the value is repeated to the shape of the window and never changes that of x.
Expr update(const Expr& x, const std::vector<Slice>& window, const Value& value);

// The whole of x several times along each axis, aligned at the last ones; each element several times along one.
Expr tile(const Expr& x, const std::vector<Index>& counts);
Expr repeat(const Expr& x, Index count, int axis);

// The n-th difference along an axis: x[1:] - x[:-1], and so on; of bools, where they differ.
Expr diff(const Expr& x, int n = 1, int axis = -1);
// Zero above (tril) or below (triu) the k-th diagonal of the last two axes.
Expr tril(const Expr& x, Index k = 0);
Expr triu(const Expr& x, Index k = 0);

Expr full(Graph& graph, DType dtype, const Shape& shape, const Value& value);  // value: a number or an Expr of rank 0 of that dtype
Expr zeros(Graph& graph, DType dtype, const Shape& shape);
Expr ones(Graph& graph, DType dtype, const Shape& shape);
Expr eye(Graph& graph, DType dtype, const Extent& rows, const Extent& columns, Index k = 0);       // 1 on the k-th diagonal
inline Expr eye(Graph& graph, DType dtype, const Extent& rows) { return eye(graph, dtype, rows, rows); }
// start + i * step while below stop (above it, if step < 0): ceil((stop - start) / step) elements, at least none. Integers are
// counted in i64 and cast; the bounds may be extents. Other bounds are doubles and the dtype floating: computed in f64, cast.
Expr arange(Graph& graph, const Extent& start, const Extent& stop, Index step = 1, DType dtype = i64);
Expr arange_of_doubles(Graph& graph, double start, double stop, double step, DType dtype);
template <class A, class B, class C = int>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && std::is_arithmetic_v<C> && (std::is_floating_point_v<A> || std::is_floating_point_v<B> || std::is_floating_point_v<C>))
Expr arange(Graph& graph, A start, B stop, C step = C(1), DType dtype = f64) {
  return arange_of_doubles(graph, static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step), dtype);
}
// `count` values from start to stop in equal steps, with or without stop itself; computed in f64, cast.
Expr linspace(Graph& graph, DType dtype, double start, double stop, Index count, bool endpoint = true);

}  // namespace weft
