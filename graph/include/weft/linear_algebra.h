// Sums of products over axes: matrix products, dot products, and any such sum as a string of letters.
//
//   auto y = matmul(x, w) + b;                           // [n, k] times [k, m]: [n, m]
//   auto scores = einsum("bqhd,bkhd->bhqk", {q, k});     // attention: a product for each batch b and head h
//   auto cosine = vecdot(u, v) / (norm(u, -1) * norm(v, -1));
//   auto moved = tensordot(rotation, points, {1}, {0});
//
// Each is one node (einsum of three or more operands: one for each further operand), so what stands around it fuses with it and
// gradients are products of the same kind. Products of matrices keep their sums in registers and pack what their rows share.
// Shapes: a letter, or a contracted axis, has one extent in all operands; a symbol equals itself only. Axes that are not contracted
// broadcast as in weft/broadcast.h.
// Dtypes: numbers; operands are promoted to their common dtype, which the result has too: sums of integers wrap in it, those of f16
// and bf16 are rounded once. Each product is added unrounded, in the order of weft/accumulator.h.
// Errors: usage (empty Expr, two graphs, letters that say nothing), dtype (bool), shape; then the graph has no new node.
// Thread-safety: building a graph is single-threaded. Cost: O(rank) per node.
// Source: Array API 2024.12, linear algebra functions; NumPy for einsum.
#pragma once
#include <string_view>
#include <vector>

#include <weft/graph.h>

namespace weft {

// Matrices are the last two axes, those in front of them broadcast. A vector on the left is a row, on the right a column, and the
// result has no axis for it.
Expr matmul(const Expr& a, const Expr& b);
// Along one axis of both, counted from the end: -1 is the last. The other axes broadcast.
Expr vecdot(const Expr& a, const Expr& b, int axis = -1);
// Over axes a_axes[k] of a and b_axes[k] of b; a number: over the last so many of a and the first of b. The result has what is left
// of a, then what is left of b.
Expr tensordot(const Expr& a, const Expr& b, int axes = 2);
Expr tensordot(const Expr& a, const Expr& b, const std::vector<int>& a_axes, const std::vector<int>& b_axes);

// A letter for each axis of each operand; those behind "->" are kept in that order, all others are summed over. "..." stands for the
// axes that have no letter, which broadcast. Without "->" the letters that occur once are kept, in alphabetical order, behind
// "...". An extent of 1 repeats. Operands are multiplied from the left, and a letter is summed over as soon as no later operand and
// not the result has it. No letter twice in one operand (a diagonal).
Expr einsum(std::string_view subscripts, const std::vector<Expr>& operands);

}  // namespace weft
