// How values along a folded axis become one: the accumulators, and the order in which they do it.
//
// An accumulator is a monoid: a unit and an associative combine. Float sums and products are not associative, so the
// order is part of their meaning and is the same in the interpreter and in every compiled loop, whatever the layout,
// vector width or number of threads:
//
//   along one folded axis of N elements
//     leaf k holds elements [1024 k, 1024 (k+1));
//     within a leaf slot s (0..15) folds its elements s, s+16, s+32, .. one after the other, starting at the unit;
//     the slots combine in a tree: s with s+8, then s+4, s+2, s+1 (lower index on the left);
//     leaves combine in a balanced binary tree: perfect subtrees of 2^k leaves, left to right, and at the end the
//     remaining subtrees from the smallest (rightmost) to the largest (larger one on the left).
//   several folded axes: the last one is folded first, then the one before it folds those results, and so on.
//
// Products that are summed (adds_products): every product is added unrounded, slot = fma(a, b, slot), along the axis that is folded
// first. A dot product so has one rounding for an element in place of two. Which products are summed in this way is a matter of the
// graph: `sum(j:m) multiply(..)` and `sum(j:m) square(..)` of f32 and f64, which the pass `contract` makes of a sum over a product.
//
// All but one: for every element the product of the others along an axis of at most 64 elements (the gradient of prod).
//   slot s holds elements s, s+16, .. as above; t[s] is their product, from the first to the last;
//   for the distances d = 8, 4, 2, 1: u[s] = u[s] * t[s^d] (at first t[s^8]), t[s] = t[s] * t[s^d], all s at once;
//   element k of slot s: (the product of those before it in its slot, from the first to the last) * (of those after it, from
//   the last to the first), and that times u[s]. What has no element counts as 1.
// Never a division: right with zeros, and where the whole product over- or underflows. t[0] ends as the product of all.
//
// The unit of a float sum is -0.0 (adding it changes no bit); a fold over zero elements gives +0.0.
// max, min, any, all, the bitwise and the integer accumulators do not depend on the order.
// supremum and infimum are max and min that have a value over nothing, their unit: what folds with an `initial` value use.
// The bitwise ones (text names reduce_or, reduce_and, reduce_xor) start at 0, at all ones and at 0.
// f16 and bf16 are folded in f32 and rounded once at the end. The interpreter rounds each element first, as any value of a node;
// compiled functions compute elements in f32 too (weft/function.h).
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include <weft/dtype.h>
#include <weft/op.h>
#include <weft/shape.h>

namespace weft {

enum class AccumulatorId : std::uint8_t {
  none, sum, prod, max, min, any, all, supremum, infimum, bitwise_or, bitwise_and, bitwise_xor
};

inline constexpr Index fold_slots = 16;
inline constexpr Index fold_leaf = 1024;

std::string_view name_of(AccumulatorId acc);
std::optional<AccumulatorId> find_accumulator(std::string_view name);
// What an accumulator starts from: -0.0 for float sum, 1 for prod, -inf / lowest for max, +inf / highest for min, all ones
// for bitwise_and.
Scalar unit(AccumulatorId acc, DType dtype);
Scalar combine(AccumulatorId acc, const Scalar& a, const Scalar& b);
// The op that makes one of two elements as combine does, by which a scan goes on and a fold over a few elements is written out; nullopt: none.
std::optional<Op> combining_op(AccumulatorId acc);
// The value of a fold over no element; nullopt for max and min (an error at the call).
std::optional<Scalar> empty_value(AccumulatorId acc, DType dtype);
// sum and prod take numbers, any and all take bool, the bitwise ones bool and integers, the other four every dtype.
bool accepts(AccumulatorId acc, DType dtype);
// Folds `count` values along one axis in the order above; `step` in bytes. The result is written to `result` (one element).
// No value: the empty value, or the unit for max and min. About 1e8 to 1e9 elements a second.
void fold_values(AccumulatorId acc, DType dtype, const void* values, Index count, Index step, void* result);
// Whether a node that folds the values of `op` adds products unrounded.
bool adds_products(AccumulatorId acc, Op op, DType dtype);
// The sum of the products of `count` pairs of values of f32 or f64, each added unrounded; steps in bytes.
void fold_products(DType dtype, const void* a, Index a_step, const void* b, Index b_step, Index count, void* result);
// The products of the others, of `count` values with `step` bytes between; of f32 or f64, count <= most_others.
inline constexpr Index most_others = 64;
void products_of_others(DType dtype, const void* values, Index count, Index step, void* results, Index result_step);
// Whether the order of combining can change bits: float sum and prod.
bool is_ordered(AccumulatorId acc, DType dtype);

}  // namespace weft
