// The Theano rules: one elementwise function, any number of inputs and outputs, one broadcast mode per output.
//
//   auto [p, s] = elemwise(x, y, Order::c, {Mode::broadcast, accumulate(sum)},
//                          [](Expr a, Expr b) { return std::tuple{a * b, a + b}; });
//   x [3, 5], y [3]: p[i,j] = x[i,j] * y[i] is [3, 5];  s[i] = (sum_j x[i,j]) + y[i] is [3]
//
// Order says which axes inputs of different ranks share: c the first ones, f the last ones (as NumPy). It says nothing
// about memory, except that results which weft allocates prefer that layout: C for c, F for f (weft/passes.h,
// choose_layouts). Shared extents must be equal; an extent 1 is not repeated. An order c elemwise is the transpose of the
// order f elemwise on transposed inputs, to the bit.
// Rank of an output, over the inputs that its expression uses (numbers do not count):
//   Mode::broadcast   the highest; inputs of lesser rank repeat along the axes they lack;
//   accumulate(A)     the lowest; inputs of greater rank are first folded with A over their surplus axes (c: the last,
//                     f: the first), then the function is applied. Surplus axes that two inputs share must agree too.
// The function sees its inputs as scalars: it is called once to see which inputs each output uses, and again where folding
// changes a dtype. It may use the functions and operators of weft/expr.h, its arguments and numbers, but no other Expr.
// Each subexpression is computed over the axes of its own inputs only; nothing is added to the graph for unused results.
// Errors: shape, dtype and usage, before anything is added to the graph. Not thread-safe, as all graph building.
// Cost: linear in the nodes of the function times the number of outputs.
// Source: Theano, "Elemwise compiler"; choices: rank per output, f folds the first axes, exact extents.
#pragma once
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/recurrence.h>

namespace weft {

struct ModeSpec {
  ModeSpec(Mode output_mode) : mode(output_mode) {}           // Mode::broadcast; accumulate needs an accumulator
  ModeSpec(Mode output_mode, AccumulatorId acc) : mode(output_mode), accumulator(acc) {}
  Mode mode;
  ModeSpec(const Accumulator& acc) : mode(Mode::accumulate), own(acc) {}
  AccumulatorId accumulator = AccumulatorId::none;
  std::optional<Accumulator> own;                             // of the user's; then `accumulator` is none
};
inline ModeSpec accumulate(AccumulatorId acc) { return {Mode::accumulate, acc}; }
inline ModeSpec accumulate(const Accumulator& acc) { return acc; }
inline ModeSpec accumulate(Reduction reduction) { return {Mode::accumulate, accumulator_of(reduction)}; }   // accumulate(sum)

// Run-time arity: as many modes as the function returns Exprs.
using ElemwiseFunction = std::function<std::vector<Expr>(const std::vector<Expr>&)>;
std::vector<Expr> elemwise(const std::vector<Expr>& inputs, Order order, const std::vector<ModeSpec>& modes, const ElemwiseFunction& function);

namespace detail {

inline std::vector<Expr> as_list(const Expr& result) { return {result}; }
template <class... Es> std::vector<Expr> as_list(const std::tuple<Es...>& results) {
  return std::apply([](const auto&... each) { return std::vector<Expr>{each...}; }, results);
}
template <class Result, std::size_t... K> Result from_list(const std::vector<Expr>& list, std::index_sequence<K...>) {
  return Result{list[K]...};
}
template <class Result> struct CountOf : std::integral_constant<std::size_t, 1> {};
template <class... Es> struct CountOf<std::tuple<Es...>> : std::integral_constant<std::size_t, sizeof...(Es)> {};

template <std::size_t... K, class F>
auto elemwise_fixed(std::index_sequence<K...>, const std::vector<Expr>& inputs, Order order, const std::vector<ModeSpec>& modes, const F& function) {
  using Result = std::decay_t<decltype(function(inputs[K]...))>;
  const auto results = elemwise(inputs, order, modes, [&](const std::vector<Expr>& args) { return as_list(function(args[K]...)); });
  return from_list<Result>(results, std::make_index_sequence<CountOf<Result>::value>());
}

}  // namespace detail

// One to six inputs; the function returns an Expr or a std::tuple of Exprs, and so does elemwise.
#define WEFT_ELEMWISE(count, parameters, ...)                                                     \
  template <class F> auto elemwise(parameters, Order order, const std::vector<ModeSpec>& modes, const F& function) {   \
    return detail::elemwise_fixed(std::make_index_sequence<count>(), {__VA_ARGS__}, order, modes, function);           \
  }
#define WEFT_COMMA ,
WEFT_ELEMWISE(1, const Expr& a, a)
WEFT_ELEMWISE(2, const Expr& a WEFT_COMMA const Expr& b, a, b)
WEFT_ELEMWISE(3, const Expr& a WEFT_COMMA const Expr& b WEFT_COMMA const Expr& c, a, b, c)
WEFT_ELEMWISE(4, const Expr& a WEFT_COMMA const Expr& b WEFT_COMMA const Expr& c WEFT_COMMA const Expr& d, a, b, c, d)
WEFT_ELEMWISE(5, const Expr& a WEFT_COMMA const Expr& b WEFT_COMMA const Expr& c WEFT_COMMA const Expr& d WEFT_COMMA const Expr& e, a, b, c, d, e)
WEFT_ELEMWISE(6, const Expr& a WEFT_COMMA const Expr& b WEFT_COMMA const Expr& c WEFT_COMMA const Expr& d WEFT_COMMA const Expr& e WEFT_COMMA
              const Expr& f, a, b, c, d, e, f)
#undef WEFT_COMMA
#undef WEFT_ELEMWISE

}  // namespace weft
