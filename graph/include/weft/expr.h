// What one types to build graphs: operators, elementwise functions, reductions, shape functions on Expr.
//
//   auto z = sum(x * w, {1});                        // [n, 64] times [64], folded over axis 1: [n]
//   auto p = softmax(where(z > 0, z, 0.1 * z));      // composites are plain nodes, compiled into one loop nest
//   auto d = x.slice({{1, {}}}) - x.slice({{{}, -1}});
//
// Shapes: elementwise functions broadcast by the Array API rule (weft/broadcast.h): aligned at the last axes, extent 1
// repeats, a symbol matches itself. The broadcast is part of the node's maps and costs nothing.
// Dtypes: Exprs are promoted to their common dtype (weft::promote). C++ numbers are weak: they take the dtype of the
// Exprs beside them and must fit it; a float beside integers or bools makes f64, an integer beside bools makes i64.
// Float functions, `/` and mean of integers or bools give f64. &&, || and ! work on "differs from zero".
// Is an Expr empty? Ask x.is_empty(): !x and x && y are logical nodes, and `if (x > 0)` throws, since only a call knows.
// Errors: every misuse throws weft::Error that names the operands, and then the graph has no new node.
// Thread-safety: building a graph is single-threaded. Cost: O(rank) per node, a microsecond or so.
// Source: Array API elementwise, statistical, utility and manipulation functions; NumPy for slices.
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <weft/graph.h>

namespace weft {

// ---- operands: an Expr or a C++ number

template <class T> concept Literal = std::is_arithmetic_v<T>;

class Value {
 public:
  Value(const Expr& expr) : expr_(expr) {}
  template <Literal T> Value(T number) : literal_(literal_of(number)) {}
  static Value of(const Scalar& number) {
    Value value(0);
    value.literal_ = number;
    return value;
  }
  bool is_literal() const { return !expr_.has_value(); }
  const Expr& expr() const { return *expr_; }
  const Scalar& literal() const { return literal_; }          // bool, i64 (u64 only if it does not fit) or f64

 private:
  template <class T> static Scalar literal_of(T number) {
    if constexpr (std::is_same_v<T, bool>) return Scalar::of(bool_, number ? 1 : 0);
    else if constexpr (std::is_floating_point_v<T>) return Scalar::of(f64, static_cast<double>(number));
    else if (std::is_unsigned_v<T> && static_cast<std::uint64_t>(number) > INT64_MAX)
      return Scalar::of(u64, static_cast<std::uint64_t>(number));
    else return Scalar::of(i64, static_cast<std::int64_t>(number));
  }
  std::optional<Expr> expr_;
  Scalar literal_;
};

template <class... Ts> concept Operands = ((std::same_as<Ts, Expr> || Literal<Ts>) && ...) && (std::same_as<Ts, Expr> || ...);

// ---- elementwise functions

// Any row of ops.def but cast: promotes, broadcasts and adds the node.
Expr elementwise(Op op, std::span<const Value> operands);
inline Expr elementwise(Op op, std::initializer_list<Value> operands) {
  return elementwise(op, std::span(operands.begin(), operands.size()));
}
Expr cast(const Expr& x, DType dtype);                        // x itself if it has that dtype

// One function per row: tanh(x), add(x, y), where(c, x, 0), ... A number may stand for any operand but not for all.
// These are the elementwise functions of the Array API 2024.12 but for complex numbers (pow and positive are below), and
// rsqrt cbrt exp2 erf erfc sigmoid softplus relu xlogy fma fmax fmin fmod truncated_divide lgamma digamma trigamma.
#define WEFT_FUNCTION(name) inline Expr name(const Expr& a) { return elementwise(Op::name, {a}); }
#include <weft/functions.def>
#define WEFT_BINARY(name, ...)                                                                    \
  inline Expr name(const Expr& a, const Expr& b) { return elementwise(Op::name, {a, b}); }        \
  template <Literal T> Expr name(const Expr& a, T b) { return elementwise(Op::name, {a, b}); }    \
  template <Literal T> Expr name(T a, const Expr& b) { return elementwise(Op::name, {a, b}); }
#define WEFT_TERNARY(name, ...)                                                                   \
  inline Expr name(const Expr& a, const Expr& b, const Expr& c) { return elementwise(Op::name, {a, b, c}); } \
  template <class A, class B, class C> requires Operands<A, B, C>                                 \
  Expr name(const A& a, const B& b, const C& c) { return elementwise(Op::name, {a, b, c}); }
#include <weft/ops.def>

// One bound: std::nullopt stands for the other. A bound that is not there is not a number, so integers need none either.
inline Expr clip(const Expr& x, const Value& low, std::nullopt_t) { return elementwise(Op::clip_min, {x, low}); }
inline Expr clip(const Expr& x, std::nullopt_t, const Value& high) { return elementwise(Op::clip_max, {x, high}); }
inline Expr clip(const Expr& x, std::nullopt_t, std::nullopt_t) { return x; }

inline Expr positive(const Expr& a) { return a; }
inline Expr pow(const Expr& a, const Expr& b) { return power(a, b); }
template <Literal T> Expr pow(const Expr& a, T b) { return power(a, b); }
template <Literal T> Expr pow(T a, const Expr& b) { return power(a, b); }
Expr silu(const Expr& x);                                     // x * sigmoid(x)
Expr gelu(const Expr& x);                                     // x/2 * (1 + erf(x / sqrt 2))

// ---- operators: / divides truly, % is remainder (sign of the divisor), && || ! are logical, & | ^ ~ << >> bitwise

#define WEFT_OPERATOR(symbol, function)                                                           \
  inline Expr operator symbol(const Expr& a, const Expr& b) { return function(a, b); }            \
  template <Literal T> Expr operator symbol(const Expr& a, T b) { return function(a, b); }        \
  template <Literal T> Expr operator symbol(T a, const Expr& b) { return function(a, b); }
#include <weft/operators.def>
inline Expr operator+(const Expr& a) { return a; }
inline Expr operator-(const Expr& a) { return negative(a); }
inline Expr operator~(const Expr& a) { return bitwise_invert(a); }
inline Expr operator!(const Expr& a) { return logical_not(a); }

// ---- reductions

// Which axes: a number, a list, or all of them. Negative axes count from the end. {} does not compile because it reads
// both ways: all_axes is all, std::vector<int>() none.
class Axes {
 public:
  Axes() = delete;
  Axes(bool) = delete;
  Axes(int axis) : axes_({axis}) {}
  Axes(std::initializer_list<int> axes) : axes_(axes) {}
  Axes(std::vector<int> axes) : axes_(std::move(axes)) {}
  static Axes all() { return Axes(std::vector<int>(), true); }
  bool is_all() const { return all_; }
  const std::vector<int>& list() const { return axes_; }

 private:
  Axes(std::vector<int> axes, bool is_all) : axes_(std::move(axes)), all_(is_all) {}
  std::vector<int> axes_;
  bool all_ = false;
};
inline const Axes all_axes = Axes::all();

// What a reduction does beside folding: sum(x, {1}, {.keepdims = true, .where = x > 0}).
//   where    a bool Expr that broadcasts onto x without enlarging it: only the elements it selects take part. max and min
//            then need an initial value, since nothing may be selected. What is not selected leaks nowhere, gradients included.
//   initial  takes part like one more element and joins the result of the fold last: a number, or an Expr of rank 0, that fits
//            the dtype folded in (any, all: differs from zero; count_nonzero starts counting at it). max and min over nothing
//            are errors without it. Not for mean, var and std.
//   dtype    the dtype to fold in, as wide as the usual one or wider, which the result has too: sum, prod, mean, var, std,
//            norm, logsumexp.
struct ReduceOptions {
  bool keepdims = false;
  std::optional<DType> dtype = std::nullopt;
  std::optional<Value> initial = std::nullopt;
  Expr where = Expr();
};

// keepdims leaves an axis of extent 1 in place of each folded one. Order of folding: weft/accumulator.h; several axes
// fold from the last to the first.
// sum, prod: bool and i8..i32 give i64, u8..u32 give u64, floats keep their dtype. `dtype` accumulates in a wider one.
Expr sum(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr sum(const Expr& x, const Axes& axes, bool keepdims, DType dtype);
Expr prod(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr prod(const Expr& x, const Axes& axes, bool keepdims, DType dtype);
Expr max(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);   // NaN wins; not for bool
Expr min(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr any(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);   // differs from zero; bool
Expr all(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
// Bit by bit; integers and bool, which they keep. Over nothing: 0, all ones, 0.
Expr reduce_or(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr reduce_and(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr reduce_xor(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);

// The nine above by name, so that they can be handed on: accumulate(sum).
using Reduction = Expr (*)(const Expr&, const Axes&, bool);
AccumulatorId accumulator_of(Reduction reduction);                             // Error(usage) for any other function
Expr reduce(const Expr& x, AccumulatorId acc, const Axes& axes = all_axes, bool keepdims = false);
Expr reduce(const Expr& x, Reduction reduction, const Axes& axes = all_axes, bool keepdims = false);
Expr reduce(const Expr& x, AccumulatorId acc, const Axes& axes, const ReduceOptions& options);
Expr reduce(const Expr& x, Reduction reduction, const Axes& axes, const ReduceOptions& options);
Expr sum(const Expr& x, const Axes& axes, const ReduceOptions& options);
Expr prod(const Expr& x, const Axes& axes, const ReduceOptions& options);
Expr max(const Expr& x, const Axes& axes, const ReduceOptions& options);
Expr min(const Expr& x, const Axes& axes, const ReduceOptions& options);
Expr any(const Expr& x, const Axes& axes, const ReduceOptions& options);
Expr all(const Expr& x, const Axes& axes, const ReduceOptions& options);
Expr reduce_or(const Expr& x, const Axes& axes, const ReduceOptions& options);
Expr reduce_and(const Expr& x, const Axes& axes, const ReduceOptions& options);
Expr reduce_xor(const Expr& x, const Axes& axes, const ReduceOptions& options);

// The sum of floats as if added in about twice the precision and rounded once: what cancels leaves its true rest. f64 reads x
// twice, the other dtypes add in f64. The gradient is that of sum. Where magnitudes add up beyond f64 it is sum itself.
Expr compensated_sum(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr compensated_sum(const Expr& x, const Axes& axes, const ReduceOptions& options);

// Of integers and bool in f64; of f16 and bf16 in f32, rounded once. mean of nothing is NaN.
Expr mean(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr mean(const Expr& x, const Axes& axes, const ReduceOptions& options);
// Over count - correction, NaN if that is not positive. Two passes where one would cancel. Write weft::std. The gradient of
// std at equal elements is 0, as is that of norm at 0.
Expr var(const Expr& x, const Axes& axes = all_axes, bool keepdims = false, double correction = 0);
Expr var(const Expr& x, const Axes& axes, const ReduceOptions& options, double correction = 0);
Expr std(const Expr& x, const Axes& axes = all_axes, bool keepdims = false, double correction = 0);
Expr std(const Expr& x, const Axes& axes, const ReduceOptions& options, double correction = 0);
// sqrt of the sum of squares: a square beyond the dtype overflows to inf or underflows to 0, as in NumPy; scale x, or ask
// for .dtype = f64, where elements beyond sqrt(max) or below sqrt(min) matter.
Expr norm(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr norm(const Expr& x, const Axes& axes, const ReduceOptions& options);
Expr count_nonzero(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);                // i64; NaN counts
Expr count_nonzero(const Expr& x, const Axes& axes, const ReduceOptions& options);
// log of the sum of exp, without overflow. Rows of -inf and rows of nothing give -inf, +inf gives +inf, NaN gives NaN.
Expr logsumexp(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr logsumexp(const Expr& x, const Axes& axes, const ReduceOptions& options);

// i64: the index of the first extreme along an axis, or within several axes in row-major order. The first NaN wins. An
// empty axis is an error at the call. The gradient through an index is zero.
Expr argmax(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);
Expr argmin(const Expr& x, const Axes& axes = all_axes, bool keepdims = false);

// Along one axis, the shape of x. layer_norm: gamma and beta of rank 1 follow the axis; other ranks broadcast.
Expr softmax(const Expr& x, int axis = -1);
Expr log_softmax(const Expr& x, int axis = -1);
Expr layer_norm(const Expr& x, const Expr& gamma, const Expr& beta, int axis = -1, double epsilon = 1e-5);

// 0, 1, .. extent-1, of rank 1.
Expr iota(Graph& graph, const Extent& extent, DType dtype = i64);

// ---- shape functions: copies with a map, which passes absorb into their users

Expr broadcast_to(const Expr& x, const Shape& shape);
Expr permute_dims(const Expr& x, const std::vector<int>& axes);                // axis k of the result is axes[k] of x
Expr transpose(const Expr& x);                                                 // all axes reversed
Expr matrix_transpose(const Expr& x);                                          // the last two exchanged
Expr expand_dims(const Expr& x, int axis = 0);                                 // a new axis of extent 1 at that place
Expr squeeze(const Expr& x, const Axes& axes = all_axes);                      // all: those of extent 1
Expr flip(const Expr& x, const Axes& axes = all_axes);
// The elements in row-major order (order f: the first index fastest) under a shape of as many. One extent may be -1: what is
// left over. Symbolic counts that are not known to be equal are compared at the call. Adding and removing axes of extent 1
// is a copy with a map. For nothing: of an input that is row-major (else from a copy made before each run), of what ops make of such inputs, and as an
// output that is row-major. Anything else reads its operand from memory, an array that is computed once.
Expr reshape(const Expr& x, const Shape& shape, Order order = Order::c);

// One axis of x.slice({...}), as in NumPy; axes not given are kept whole.
//   Slice::all or Slice{}     whole axis             Slice{1, 5}  Slice{1, 5, 2}  Slice{{}, {}, -1}    start, stop, step
//   3 or Slice{-1}            one index; the axis is dropped
// Numbers are clamped to a static extent. A symbolic extent is not known to clamp: the end that bounds the walk must be
// omitted or count from the end (negative): x[1:], x[:-1], x[-3:], x[::2], x[::-1]. Extents come out as n-1, (n+1)/2, ..
struct Slice {
  Slice() = default;
  template <std::integral T> Slice(T index) : start(static_cast<Index>(index)), is_index(true) {}
  Slice(std::optional<Index> first, std::optional<Index> end, Index stride = 1) : start(first), stop(end), step(stride) {}
  static const Slice all;
  std::optional<Index> start, stop;
  Index step = 1;
  bool is_index = false;
};
inline const Slice Slice::all{};

}  // namespace weft
