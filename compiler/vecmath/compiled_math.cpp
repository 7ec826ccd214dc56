#include <weft/compiled_math.h>

#include "host_lane.h"
#include "vecmath.h"

namespace weft {
namespace {

template <class T> struct Stored { using Compute = T; };
template <> struct Stored<Eigen::half> { using Compute = float; };
template <> struct Stored<Eigen::bfloat16> { using Compute = float; };

template <class T> using LaneOf = HostLane<typename Stored<T>::Compute>;
template <class T> LaneOf<T> read(const std::byte* from) { return {static_cast<typename Stored<T>::Compute>(*reinterpret_cast<const T*>(from))}; }

template <class F, class T> void unary(Index count, const std::byte* const* from, const Index* steps, std::byte* to, Index step) {
  for (Index k = 0; k < count; ++k) *reinterpret_cast<T*>(to + k * step) = static_cast<T>(F()(read<T>(from[0] + k * steps[0])).v);
}
template <class F, class T> void binary(Index count, const std::byte* const* from, const Index* steps, std::byte* to, Index step) {
  for (Index k = 0; k < count; ++k)
    *reinterpret_cast<T*>(to + k * step) = static_cast<T>(F()(read<T>(from[0] + k * steps[0]), read<T>(from[1] + k * steps[1])).v);
}

template <class F, int arity> OpLoop loop_of(DType dtype) {
  return visit_dtype(dtype, [](auto tag) -> OpLoop {
    using T = typename decltype(tag)::type;
    if constexpr (!is_floating(dtype_of<T>())) return nullptr;
    else if constexpr (arity == 1) return unary<F, T>;
    else return binary<F, T>;
  });
}

// The rows of ops.def whose meaning on lanes is a function of vecmath; all others are exact.
OpLoop function_loop(Op op, DType dtype) {
  switch (op) {
#define WEFT_FUNCTION_1(name) case Op::name: return loop_of<decltype([](auto a) { return vecmath::name(a); }), 1>(dtype);
#define WEFT_FUNCTION_2(name) case Op::name: return loop_of<decltype([](auto a, auto b) { return vecmath::name(a, b); }), 2>(dtype);
#include "functions.def"
    case Op::power: return loop_of<decltype([](auto a, auto b) { return vecmath::pow(a, b); }), 2>(dtype);
    default: return nullptr;
  }
}

}  // namespace

OpLoop compiled_math(Op op, DType operand, DType result) {
  const OpLoop loop = is_floating(operand) ? function_loop(op, operand) : nullptr;
  return loop ? loop : op_loop(op, operand, result);
}

}  // namespace weft
