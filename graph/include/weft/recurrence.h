// Accumulators of one's own: a state carried along an axis, element after element.
//
//   auto ema = Accumulator::fold("ema", 0.0, [](Expr s, Expr x) { return 0.9 * s + 0.1 * x; });
//   Expr last = reduce(x, ema, {1});                         // [n, m] -> [n]
//   Expr all = scan(x, ema, 1);                              // [n, m]: the state after every element
//
//   auto lse = Accumulator::monoid("lse", std::tuple(-infinity, 0.0),               // unit: of the states' dtypes
//       [](Expr x) { return std::tuple(x, exp(x - x)); },                           // lift: one element as a state
//       [](auto a, auto b) { .. return std::tuple(m, s); },                         // combine two states
//       [](Expr m, Expr s) { return m + log(s); });                                 // finish: the value of a state
//
// States, start values and elements are scalars (Exprs of rank 0) of any dtypes; a state is one Expr or a std::tuple of
// them. Lambdas take tuple states as tuples or spread out; without a finish the value is the (first) state. A fold is
// init, step(state, x...) -> state, finish(state) -> value. Start values are weak numbers, or Scalars to fix a dtype.
// Lambdas may use the functions of weft/expr.h, their arguments and numbers; they are traced once per list of dtypes.
// Visiting order (tests/README.md, requirements 138, T5): order c visits the last folded axis fastest, order f the first one, whatever the
// storage; the interpreter and compiled loops visit alike, so results are the same to the bit on any number of threads. A
// monoid is visited the same way: combine(state, lift(x)), starting at the unit.
// No element: the value of the start state. Errors: shape, dtype and usage, before the graph changes.
// Thread-safety: as all graph building; an Accumulator may be shared by graphs and threads.
// Cost: the kept axes run as vectors and over threads; along the folded axis elements follow each other.
// Source: Theano, "Elemwise compiler" (any accumulator, with its init); Array API cumulative_sum, cumulative_prod.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include <weft/expr.h>

namespace weft {

// What a node of Kind::recurrence does. Both graphs hold scalars only: inputs, constants and ops.
struct Recurrence {
  std::string name;
  std::vector<Scalar> start;           // one per state
  Graph step;                          // (states.., elements..) -> (new states.., emitted values..)
  Graph finish;                        // (states..) -> values
  // The author's derivative of the step, if given: (states.., elements.., cotangents of the floating new states..) ->
  // (cotangents of the floating states.., of the floating elements..). Otherwise it is derived.
  std::optional<Graph> gradient;
  std::size_t states() const { return start.size(); }
};
bool same(const Recurrence& a, const Recurrence& b);           // but for the names; gradients count

// The recurrence of cumulative_sum and its kin: emits the state after each element. f16 and bf16 are carried in f32.
std::shared_ptr<const Recurrence> builtin_scan(AccumulatorId acc, DType element, DType result);

class Accumulator {
 public:
  using States = std::vector<Expr>;
  using Results = std::vector<Value>;                                               // Exprs or numbers
  struct Definition {
    std::string name;
    std::vector<Value> start;
    std::vector<bool> strong;                                                       // by state: the start value's own dtype counts
    std::function<Results(const States&)> lift;                                     // monoid only
    std::function<Results(const States&, const States&)> step;                      // (state, elements), or combine(state, state)
    std::function<Results(const States&)> finish;
    std::function<Results(const States&, const States&, const States&)> gradient;   // (states, elements, cotangents); may be empty
  };
  explicit Accumulator(Definition definition);
  Accumulator(const Accumulator&) = default;                                        // shares the definition, and so does what was moved from
  Accumulator& operator=(const Accumulator&) = default;

  template <class Unit, class Lift, class Combine> static Accumulator monoid(std::string name, Unit unit, Lift lift, Combine combine);
  template <class Unit, class Lift, class Combine, class Finish>
  static Accumulator monoid(std::string name, Unit unit, Lift lift, Combine combine, Finish finish);
  template <class Init, class Step> static Accumulator fold(std::string name, Init init, Step step);
  template <class Init, class Step, class Finish> static Accumulator fold(std::string name, Init init, Step step, Finish finish);

  // The derivative of one step, instead of the derived one, where every state and element is floating:
  //   grad_fn(state before, elements.., cotangent of the state after) -> (cotangent of the state before, of the elements..)
  // (Theano's g_accum[N-i+1], g_m[i] = grad_fn(accum[i-1], m[i], g_accum[N-i])). Tuple states come spread out.
  template <class GradFn> Accumulator with_grad(GradFn grad_fn) const;

  const std::string& name() const;
  // For elements of these dtypes; the same object for the same dtypes.
  std::shared_ptr<const Recurrence> recurrence(const std::vector<DType>& elements) const;

 private:
  const Definition& definition() const;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

// Several xs broadcast against each other and are one element together. The functions give what finish gives; all: every value
// of a tuple.
Expr reduce(const Expr& x, const Accumulator& acc, const Axes& axes = all_axes, bool keepdims = false, Order order = Order::c);
Expr reduce(const std::vector<Expr>& xs, const Accumulator& acc, const Axes& axes = all_axes, bool keepdims = false, Order order = Order::c);
std::vector<Expr> reduce_all(const std::vector<Expr>& xs, const Accumulator& acc, const Axes& axes = all_axes, bool keepdims = false, Order order = Order::c);
// The value after each element, along one axis.
Expr scan(const Expr& x, const Accumulator& acc, int axis = -1);
Expr scan(const std::vector<Expr>& xs, const Accumulator& acc, int axis = -1);
std::vector<Expr> scan_all(const std::vector<Expr>& xs, const Accumulator& acc, int axis = -1);

// A recurrence over operands as they stand: what reduce and scan end in. The domain of a fold is the kept axes, then the
// folded ones in visiting order; `axes` of a scan too. backwards: from the last element of each of these to the first.
Expr recur_fold(Graph& graph, std::shared_ptr<const Recurrence> what, int output, Shape domain, int kept, std::vector<Operand> operands, Order order = Order::c);
Expr recur_scan(Graph& graph, std::shared_ptr<const Recurrence> what, int output, Shape domain, std::vector<int> axes, std::vector<Operand> operands, Order order = Order::c,
                bool backwards = false);

// Sequential, from the first element on. sum, prod: the dtypes of weft::sum; max, min: NaN wins from where it stands.
// axis may be left out for rank 1.
struct ScanOptions {
  std::optional<DType> dtype = std::nullopt;                   // sum, prod: accumulate in a wider dtype
  bool reverse = false;                                        // from the last element on
  bool include_initial = false;                                // sum, prod: 0 or 1 in front (reverse: behind), one element more
};
Expr cumulative_sum(const Expr& x, std::optional<int> axis = std::nullopt, ScanOptions options = {});
Expr cumulative_prod(const Expr& x, std::optional<int> axis = std::nullopt, ScanOptions options = {});
Expr cumulative_max(const Expr& x, std::optional<int> axis = std::nullopt, ScanOptions options = {});
Expr cumulative_min(const Expr& x, std::optional<int> axis = std::nullopt, ScanOptions options = {});

// ---- implementation of the templates

namespace detail {

template <class T> struct IsTuple : std::false_type {};
template <class... Ts> struct IsTuple<std::tuple<Ts...>> : std::true_type {};
template <class A, class B> struct IsTuple<std::pair<A, B>> : std::true_type {};

// What a lambda returns, as a list.
template <class T> Accumulator::Results state_list(const T& result) {
  if constexpr (std::is_same_v<T, Expr> || std::is_arithmetic_v<T>) return {Value(result)};
  else if constexpr (IsTuple<T>::value) return std::apply([](const auto&... each) { return Accumulator::Results{Value(each)...}; }, result);
  else return Accumulator::Results(std::begin(result), std::end(result));
}

template <class T, std::size_t... K> std::tuple<std::enable_if_t<(K < SIZE_MAX), T>...> repeat(std::index_sequence<K...>);
template <std::size_t N> using Tuple = decltype(repeat<Expr>(std::make_index_sequence<N>()));   // of N Exprs
template <std::size_t... K> auto spread(const Accumulator::States& list, std::index_sequence<K...>) { return std::tuple{list[K]...}; }
template <std::size_t N> Tuple<N> tuple_of(const Accumulator::States& list) { return spread(list, std::make_index_sequence<N>()); }
template <class F, class Arguments> inline constexpr bool takes = false;
template <class F, class... As> inline constexpr bool takes<F, std::tuple<As...>> = std::is_invocable_v<const F&, As...>;

// The lambdas take a tuple state as a tuple or spread out. What is asked first decides for lambdas of `auto`.
template <std::size_t N, class F> Accumulator::Results call_finish(const F& f, const Accumulator::States& state) {
  if constexpr (takes<F, Tuple<N>>) return state_list(std::apply(f, tuple_of<N>(state)));
  else return state_list(f(tuple_of<N>(state)));
}
template <std::size_t N, class F> Accumulator::Results call_combine(const F& f, const Accumulator::States& a, const Accumulator::States& b) {
  if constexpr (N == 1) return state_list(f(a[0], b[0]));
  else if constexpr (takes<F, std::tuple<Tuple<N>, Tuple<N>>>) return state_list(f(tuple_of<N>(a), tuple_of<N>(b)));
  else return state_list(std::apply(f, std::tuple_cat(tuple_of<N>(a), tuple_of<N>(b))));
}
// step(state, x...): the number of elements is known when it is called; up to four.
template <std::size_t N, class F, std::size_t... M> constexpr bool takes_tuple_state(std::index_sequence<M...>) {
  return N > 1 && (takes<F, decltype(std::tuple_cat(std::tuple<Tuple<N>>(), Tuple<M + 1>()))> || ...);
}
template <std::size_t N, std::size_t M, class F>
bool call_step(const F& f, const Accumulator::States& state, const Accumulator::States& xs, Accumulator::Results& out) {
  if (xs.size() != M) return false;
  if constexpr (takes_tuple_state<N, F>(std::make_index_sequence<4>())) {
    using Arguments = decltype(std::tuple_cat(std::tuple<Tuple<N>>(), Tuple<M>()));
    if constexpr (takes<F, Arguments>) out = state_list(std::apply(f, Arguments(std::tuple_cat(std::tuple<Tuple<N>>(tuple_of<N>(state)), tuple_of<M>(xs)))));
    else return false;
  } else if constexpr (takes<F, Tuple<N + M>>) {
    out = state_list(std::apply(f, std::tuple_cat(tuple_of<N>(state), tuple_of<M>(xs))));
  } else {
    return false;
  }
  return true;
}
template <std::size_t M, class F> bool call_lift(const F& f, const Accumulator::States& xs, Accumulator::Results& out) {
  if (xs.size() != M) return false;
  if constexpr (takes<F, Tuple<M>>) out = state_list(std::apply(f, tuple_of<M>(xs)));
  else return false;
  return true;
}
[[noreturn]] void wrong_element_count(const std::string& name, std::size_t count);

template <class T> inline constexpr std::size_t state_count = 1;
template <class... Ts> inline constexpr std::size_t state_count<std::tuple<Ts...>> = sizeof...(Ts);
template <class A, class B> inline constexpr std::size_t state_count<std::pair<A, B>> = 2;

void add_start(Accumulator::Definition& definition, const Scalar& value);             // strong
template <Literal T> void add_start(Accumulator::Definition& definition, T value) {
  definition.start.emplace_back(value);
  definition.strong.push_back(false);
}
template <class T> auto start_of(const T& start) {
  if constexpr (requires { start(); }) return start();
  else return start;
}
template <class T> void add_starts(Accumulator::Definition& definition, const T& start) {
  if constexpr (IsTuple<T>::value) std::apply([&](const auto&... each) { (add_start(definition, each), ...); }, start);
  else add_start(definition, start);
}

// grad_fn(states.., elements.., cotangents..), all spread out; up to four elements.
template <std::size_t M, class F>
bool call_gradient(const F& f, const Accumulator::States& all, std::size_t states, std::size_t elements, Accumulator::Results& out) {
  if (all.size() != M || 2 * states + elements != M) return false;
  if constexpr (takes<F, Tuple<M>>) out = state_list(std::apply(f, tuple_of<M>(all)));
  else return false;
  return true;
}

struct FirstState {
  template <class... Es> Expr operator()(const Expr& first, const Es&...) const { return first; }
};

}  // namespace detail

template <class GradFn> Accumulator Accumulator::with_grad(GradFn grad_fn) const {
  Definition with = definition();
  with.gradient = [grad_fn, name = with.name](const States& states, const States& elements, const States& cotangents) {
    States all = states;
    all.insert(all.end(), elements.begin(), elements.end());
    all.insert(all.end(), cotangents.begin(), cotangents.end());
    Results out;
    const bool done = [&]<std::size_t... M>(std::index_sequence<M...>) {
      return (detail::call_gradient<M + 3>(grad_fn, all, states.size(), elements.size(), out) || ...);
    }(std::make_index_sequence<8>());
    if (!done) detail::wrong_element_count(name + ": grad_fn", all.size());
    return out;
  };
  return Accumulator(std::move(with));
}

template <class Unit, class Lift, class Combine, class Finish>
Accumulator Accumulator::monoid(std::string name, Unit unit, Lift lift, Combine combine, Finish finish) {
  const auto start = detail::start_of(unit);
  constexpr std::size_t count = detail::state_count<std::decay_t<decltype(start)>>;
  Definition definition;
  definition.name = name;
  detail::add_starts(definition, start);
  definition.lift = [lift, name](const States& xs) {
    Results out;
    if (!(detail::call_lift<1>(lift, xs, out) || detail::call_lift<2>(lift, xs, out) || detail::call_lift<3>(lift, xs, out) || detail::call_lift<4>(lift, xs, out)))
      detail::wrong_element_count(name, xs.size());
    return out;
  };
  definition.step = [combine](const States& a, const States& b) { return detail::call_combine<count>(combine, a, b); };
  definition.finish = [finish](const States& states) { return detail::call_finish<count>(finish, states); };
  return Accumulator(std::move(definition));
}
template <class Unit, class Lift, class Combine> Accumulator Accumulator::monoid(std::string name, Unit unit, Lift lift, Combine combine) {
  return monoid(std::move(name), std::move(unit), std::move(lift), std::move(combine), detail::FirstState());
}

template <class Init, class Step, class Finish> Accumulator Accumulator::fold(std::string name, Init init, Step step, Finish finish) {
  const auto start = detail::start_of(init);
  constexpr std::size_t count = detail::state_count<std::decay_t<decltype(start)>>;
  Definition definition;
  definition.name = name;
  detail::add_starts(definition, start);
  definition.step = [step, name](const States& state, const States& xs) {
    Results out;
    if (!(detail::call_step<count, 1>(step, state, xs, out) || detail::call_step<count, 2>(step, state, xs, out) ||
          detail::call_step<count, 3>(step, state, xs, out) || detail::call_step<count, 4>(step, state, xs, out)))
      detail::wrong_element_count(name, xs.size());
    return out;
  };
  definition.finish = [finish](const States& states) { return detail::call_finish<count>(finish, states); };
  return Accumulator(std::move(definition));
}
template <class Init, class Step> Accumulator Accumulator::fold(std::string name, Init init, Step step) {
  return fold(std::move(name), std::move(init), std::move(step), detail::FirstState());
}

}  // namespace weft
