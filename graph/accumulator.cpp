#include <weft/accumulator.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "meaning.h"

namespace weft {
namespace {

using number::Compute;
using number::Number;

struct Row {
  AccumulatorId id;
  std::string_view name;
  std::optional<Op> op = {};
};
constexpr Row rows[] = {{AccumulatorId::sum, "sum", Op::add}, {AccumulatorId::prod, "prod", Op::multiply},
                        {AccumulatorId::max, "max", Op::maximum}, {AccumulatorId::min, "min", Op::minimum},
                        {AccumulatorId::any, "any", Op::logical_or}, {AccumulatorId::all, "all", Op::logical_and},
                        {AccumulatorId::supremum, "supremum"}, {AccumulatorId::infimum, "infimum"},
                        {AccumulatorId::bitwise_or, "reduce_or", Op::bitwise_or}, {AccumulatorId::bitwise_and, "reduce_and", Op::bitwise_and},
                        {AccumulatorId::bitwise_xor, "reduce_xor", Op::bitwise_xor}};

template <class T> constexpr T all_ones() {
  if constexpr (std::is_same_v<T, bool>) return true;
  else return static_cast<T>(~T(0));
}

// The monoids on numbers.
template <class T> struct Monoid {
  AccumulatorId acc;

  T start() const {
    using Limits = std::numeric_limits<T>;
    switch (acc) {
      case AccumulatorId::sum: return std::is_floating_point_v<T> ? -T(0) : T(0);
      case AccumulatorId::prod: case AccumulatorId::all: return T(1);
      case AccumulatorId::max: case AccumulatorId::supremum: return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
      case AccumulatorId::min: case AccumulatorId::infimum: return Limits::has_infinity ? Limits::infinity() : Limits::max();
      case AccumulatorId::bitwise_and:
        if constexpr (std::is_integral_v<T>) return all_ones<T>();
        break;
      case AccumulatorId::any: case AccumulatorId::bitwise_or: case AccumulatorId::bitwise_xor: case AccumulatorId::none: break;
    }
    return T(0);
  }
  T operator()(T left, T right) const {
    const Number<T> a = left, b = right;
    switch (acc) {
      case AccumulatorId::sum: return (a + b).value;
      case AccumulatorId::prod: return (a * b).value;
      case AccumulatorId::max: case AccumulatorId::supremum: return max(a, b).value;
      case AccumulatorId::min: case AccumulatorId::infimum: return min(a, b).value;
      case AccumulatorId::any: return static_cast<T>(left != T(0) || right != T(0));
      case AccumulatorId::all: return static_cast<T>(left != T(0) && right != T(0));
      case AccumulatorId::bitwise_or: case AccumulatorId::bitwise_and: case AccumulatorId::bitwise_xor:
        if constexpr (std::is_integral_v<T>) return bitwise(left, right);
        break;
      case AccumulatorId::none: break;
    }
    return left;
  }
  T bitwise(T left, T right) const requires std::is_integral_v<T> {
    if (acc == AccumulatorId::bitwise_or) return static_cast<T>(left | right);
    return acc == AccumulatorId::bitwise_and ? static_cast<T>(left & right) : static_cast<T>(left ^ right);
  }
};

// What lies `step` bytes apart.
template <class T> struct Line {
  const void* first;
  Index step;
  Compute<T> operator[](Index k) const { return static_cast<Compute<T>>(*reinterpret_cast<const T*>(static_cast<const std::byte*>(first) + k * step)); }
};

// The elements [first, past) of one leaf; add(slot, k) is the slot with element k in it.
template <class T, class Add> T fold_one_leaf(Monoid<T> combine, Index first, Index past, const Add& add) {
  std::array<T, fold_slots> slots;
  slots.fill(combine.start());
  for (Index k = first; k < past; ++k) {
    auto& slot = slots[static_cast<std::size_t>(k % fold_slots)];
    slot = add(slot, k);
  }
  for (std::size_t half = fold_slots / 2; half > 0; half /= 2)
    for (std::size_t s = 0; s < half; ++s) slots[s] = combine(slots[s], slots[s + half]);
  return slots[0];
}

// A binary counter of perfect subtrees: subtrees[k] covers 2^k leaves if bit k of `leaves` is set.
template <class T, class Add> T fold_line(Monoid<T> combine, Index count, const Add& add) {
  std::array<T, 64> subtrees{};
  std::uint64_t leaves = 0;
  for (Index first = 0; first < count; first += fold_leaf, ++leaves) {
    T tree = fold_one_leaf(combine, first, std::min(first + fold_leaf, count), add);
    std::size_t level = 0;
    for (; (leaves >> level & 1) != 0; ++level) tree = combine(subtrees[level], tree);
    subtrees[level] = tree;
  }
  std::optional<T> result;
  for (std::size_t level = 0; level < 64; ++level)
    if ((leaves >> level & 1) != 0) result = result ? combine(subtrees[level], *result) : subtrees[level];
  return *result;
}

template <class T> T nothing_folded(AccumulatorId acc) {
  return static_cast<T>(acc == AccumulatorId::sum ? Compute<T>(0) : Monoid<Compute<T>>{acc}.start());
}

}  // namespace

std::string_view name_of(AccumulatorId acc) {
  for (const Row& row : rows)
    if (row.id == acc) return row.name;
  return "none";
}

std::optional<AccumulatorId> find_accumulator(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.id;
  return std::nullopt;
}

std::optional<Op> combining_op(AccumulatorId acc) {
  for (const Row& row : rows)
    if (row.id == acc) return row.op;
  return std::nullopt;
}

bool accepts(AccumulatorId acc, DType dtype) {
  switch (acc) {
    case AccumulatorId::sum: case AccumulatorId::prod: return !is_boolean(dtype);
    case AccumulatorId::any: case AccumulatorId::all: return is_boolean(dtype);
    case AccumulatorId::max: case AccumulatorId::min: case AccumulatorId::supremum: case AccumulatorId::infimum: return true;
    case AccumulatorId::bitwise_or: case AccumulatorId::bitwise_and: case AccumulatorId::bitwise_xor: return !is_floating(dtype);
    case AccumulatorId::none: break;
  }
  return false;
}

Scalar unit(AccumulatorId acc, DType dtype) {
  return visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Scalar(static_cast<T>(Monoid<Compute<T>>{acc}.start()));
  });
}

Scalar combine(AccumulatorId acc, const Scalar& a, const Scalar& b) {
  WEFT_REQUIRE(a.dtype() == b.dtype(), dtype, name_of(acc), ": cannot combine ", a.dtype(), " with ", b.dtype());
  return visit_dtype(a.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T left, right;
    a.store(&left);
    b.store(&right);
    return Scalar(static_cast<T>(Monoid<Compute<T>>{acc}(static_cast<Compute<T>>(left), static_cast<Compute<T>>(right))));
  });
}

std::optional<Scalar> empty_value(AccumulatorId acc, DType dtype) {
  if (acc == AccumulatorId::max || acc == AccumulatorId::min || acc == AccumulatorId::none) return std::nullopt;
  return visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return std::optional<Scalar>(Scalar(nothing_folded<T>(acc)));
  });
}

void fold_values(AccumulatorId acc, DType dtype, const void* values, Index count, Index step, void* result) {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Monoid<Compute<T>> combine{acc};
    const Line<T> line{values, step};
    const auto add = [&](Compute<T> slot, Index k) { return combine(slot, line[k]); };
    *static_cast<T*>(result) = count == 0 ? nothing_folded<T>(acc) : static_cast<T>(fold_line(combine, count, add));
  });
}

bool adds_products(AccumulatorId acc, Op op, DType dtype) {
  return acc == AccumulatorId::sum && (op == Op::multiply || op == Op::square) && (dtype == f32 || dtype == f64);
}

void fold_products(DType dtype, const void* a, Index a_step, const void* b, Index b_step, Index count, void* result) {
  const auto fold = [&]<class T>(T*) {
    const Line<T> left{a, a_step}, right{b, b_step};
    const auto add = [&](T slot, Index k) { return std::fma(left[k], right[k], slot); };
    *static_cast<T*>(result) = count == 0 ? nothing_folded<T>(AccumulatorId::sum) : fold_line(Monoid<T>{AccumulatorId::sum}, count, add);
  };
  WEFT_ASSERT(dtype == f32 || dtype == f64, "products of ", dtype, " are rounded before they are added");
  if (dtype == f32) fold(static_cast<float*>(nullptr));
  else fold(static_cast<double*>(nullptr));
}

bool is_ordered(AccumulatorId acc, DType dtype) {
  return is_floating(dtype) && (acc == AccumulatorId::sum || acc == AccumulatorId::prod);
}

}  // namespace weft
