#include <weft/op.h>

#include <algorithm>
#include <array>

#include "meaning.h"

namespace weft {
namespace {

using number::Compute;
using number::Number;

constexpr OpInfo table[] = {
#define WEFT_UNARY(name, rule, ...) {Op::name, #name, 1, DTypeRule::rule},
#define WEFT_BINARY(name, rule, ...) {Op::name, #name, 2, DTypeRule::rule},
#define WEFT_TERNARY(name, rule, ...) {Op::name, #name, 3, DTypeRule::rule},
#include <weft/ops.def>
};

#define WEFT_ROW(name, ...) +1
constexpr std::size_t dtype_count = 0 WEFT_DTYPES(WEFT_ROW);
#undef WEFT_ROW

// Whether the rule admits operands of this dtype (select: operands 1 and 2).
constexpr bool admits(DTypeRule rule, DType dtype) {
  switch (rule) {
    case DTypeRule::any: case DTypeRule::comparison: case DTypeRule::predicate: case DTypeRule::select: case DTypeRule::conversion: return true;
    case DTypeRule::numeric: return !is_boolean(dtype);
    case DTypeRule::floating: return is_floating(dtype);
    case DTypeRule::logical: return is_boolean(dtype);
    case DTypeRule::bitwise: return is_integer(dtype) || is_boolean(dtype);
  }
  return false;
}

// One class per row, whose `apply` is the meaning column.
#define WEFT_UNARY(name, rule, meaning, ...) \
  struct name##_row { template <class A> static auto apply(A a) { return meaning; } };
#define WEFT_BINARY(name, rule, meaning, ...) \
  struct name##_row { template <class A> static auto apply(A a, A b) { return meaning; } };
#define WEFT_TERNARY(name, rule, meaning, ...) \
  struct name##_row { template <class A, class B> static auto apply(A a, B b, B c) { return meaning; } };
#include <weft/ops.def>

template <class T> T load(const std::byte* from) { return *reinterpret_cast<const T*>(from); }
template <class T> Number<Compute<T>> read(const std::byte* from) { return static_cast<Compute<T>>(load<T>(from)); }
template <class T> void write(std::byte* to, bool value) { *reinterpret_cast<bool*>(to) = value; }
template <class T> void write(std::byte* to, Number<Compute<T>> value) { *reinterpret_cast<T*>(to) = static_cast<T>(value.value); }

template <class Row, class T> void unary(Index count, const std::byte* const* from, const Index* steps, std::byte* to, Index step) {
  for (Index k = 0; k < count; ++k) write<T>(to + k * step, Row::apply(read<T>(from[0] + k * steps[0])));
}
// nextafter of a half type depends on the neighbours in that type.
template <class Row, class T> constexpr bool steps_in_dtype = number::is_half<T> && std::is_same_v<Row, nextafter_row>;
template <class T> void step_in_dtype(Index count, const std::byte* const* from, const Index* steps, std::byte* to, Index step) {
  for (Index k = 0; k < count; ++k)
    *reinterpret_cast<T*>(to + k * step) =
        nextafter_row::apply(number::Stored<T>{load<T>(from[0] + k * steps[0])}, number::Stored<T>{load<T>(from[1] + k * steps[1])}).value;
}
template <class Row, class T> void binary(Index count, const std::byte* const* from, const Index* steps, std::byte* to, Index step) {
  for (Index k = 0; k < count; ++k) write<T>(to + k * step, Row::apply(read<T>(from[0] + k * steps[0]), read<T>(from[1] + k * steps[1])));
}
template <class Row, class A, class T> void ternary(Index count, const std::byte* const* from, const Index* steps, std::byte* to, Index step) {
  for (Index k = 0; k < count; ++k)
    write<T>(to + k * step, Row::apply(read<A>(from[0] + k * steps[0]), read<T>(from[1] + k * steps[1]), read<T>(from[2] + k * steps[2])));
}
template <class Row, class From, class To> void conversion(Index count, const std::byte* const* from, const Index* steps, std::byte* to, Index step) {
  for (Index k = 0; k < count; ++k)
    *reinterpret_cast<To*>(to + k * step) = Row::apply(number::Source<From, To>{load<From>(from[0] + k * steps[0])});
}

template <class Row, int arity, DTypeRule rule, class T> constexpr OpLoop loop_of() {
  if constexpr (!admits(rule, dtype_of<T>()) || rule == DTypeRule::conversion) return nullptr;
  else if constexpr (rule == DTypeRule::select) return ternary<Row, bool, T>;
  else if constexpr (arity == 1) return unary<Row, T>;
  else if constexpr (steps_in_dtype<Row, T>) return step_in_dtype<T>;
  else if constexpr (arity == 2) return binary<Row, T>;
  else return ternary<Row, T, T>;
}

// Indexed by op, then by operand dtype.
constexpr std::array<OpLoop, dtype_count> loop_table[] = {
#define WEFT_TYPE(dtype_name, type, kind) loop_of<Current, current_arity, current_rule, type>(),
#define WEFT_LOOPS(name, arity, rule)                                                            \
  [] {                                                                                           \
    using Current = name##_row;                                                                  \
    constexpr int current_arity = arity;                                                         \
    constexpr DTypeRule current_rule = DTypeRule::rule;                                          \
    return std::array<OpLoop, dtype_count>{WEFT_DTYPES(WEFT_TYPE)};                              \
  }(),
#define WEFT_UNARY(name, rule, ...) WEFT_LOOPS(name, 1, rule)
#define WEFT_BINARY(name, rule, ...) WEFT_LOOPS(name, 2, rule)
#define WEFT_TERNARY(name, rule, ...) WEFT_LOOPS(name, 3, rule)
#include <weft/ops.def>
#undef WEFT_LOOPS
#undef WEFT_TYPE
};

OpLoop conversion_loop(DType from, DType to) {
  return visit_dtype(from, [to](auto from_tag) {
    return visit_dtype(to, [](auto to_tag) -> OpLoop {
      return conversion<cast_row, typename decltype(from_tag)::type, typename decltype(to_tag)::type>;
    });
  });
}

}  // namespace

std::span<const OpInfo> op_table() { return table; }
const OpInfo& info(Op op) { return table[static_cast<std::size_t>(op)]; }

std::optional<Op> find_op(std::string_view name) {
  const auto* row = std::find_if(std::begin(table), std::end(table), [&](const OpInfo& r) { return r.name == name; });
  return row == std::end(table) ? std::nullopt : std::optional(row->op);
}

std::optional<DType> result_dtype(Op op, std::span<const DType> operands, DType requested) {
  const OpInfo& row = info(op);
  if (static_cast<int>(operands.size()) != row.arity) return std::nullopt;
  const DType dtype = operands.back();
  const bool first_selects = row.rule == DTypeRule::select;
  if (first_selects && !is_boolean(operands[0])) return std::nullopt;
  for (DType operand : operands.subspan(first_selects ? 1 : 0))
    if (operand != dtype || !admits(row.rule, operand)) return std::nullopt;
  if (row.rule == DTypeRule::conversion) return requested;
  return row.rule == DTypeRule::comparison || row.rule == DTypeRule::predicate ? bool_ : dtype;
}

OpLoop op_loop(Op op, DType operand, DType result) {
  const OpLoop loop = info(op).rule == DTypeRule::conversion ? conversion_loop(operand, result)
                                                             : loop_table[static_cast<std::size_t>(op)][static_cast<std::size_t>(operand)];
  WEFT_REQUIRE(loop != nullptr, dtype, info(op).name, ": no such operation on ", operand);
  return loop;
}

Scalar evaluate(Op op, std::span<const Scalar> operands, DType result, OpLoops loops) {
  WEFT_REQUIRE(static_cast<int>(operands.size()) == info(op).arity, usage, info(op).name, ": expected ", info(op).arity, " operands, got ", operands.size());
  alignas(8) std::byte values[3][8];
  alignas(8) std::byte value[8];
  const std::byte* from[3] = {values[0], values[1], values[2]};
  const Index steps[3] = {0, 0, 0};
  for (std::size_t k = 0; k < operands.size(); ++k) operands[k].store(values[k]);
  loops(op, operands.back().dtype(), result)(1, from, steps, value, 0);
  return Scalar::load(result, value);
}

}  // namespace weft
