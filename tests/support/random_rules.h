// The rule systems in random graphs: XLA, OpenVINO, TML, Theano, Array API assignment; and functions that rearrange.
#pragma once
#include <weft/broadcast.h>
#include <weft/elemwise.h>
#include <weft/rearrange.h>
#include <weft/target_shape.h>
#include <weft/tml.h>
#include <weft/xla.h>

#include "random_recurrences.h"

class RuleTemplates : TemplateParts {
 public:
  RuleTemplates(RandomSource& random, const std::vector<weft::Expr>& values, const weft::Bindings& bindings, weft::Index max_volume, bool smooth = false)
      : TemplateParts(random, values, bindings, max_volume, smooth) {}

  // Error where shapes or dtypes do not go together.
  Made make() {
    const Expr x = any_array();
    if (smooth_ && x.rank() > 0 && random_.chance(45)) {
      const auto choice = random_.small(10);
      return choice < 4 ? smoothly_reduced(x) : choice < 7 ? composed(x) : rearranged(x);
    }
    switch (random_.small(8)) {
      case 0: return xla(x);
      case 1: return random_.chance(50) ? openvino(x) : target_at_call(x);
      case 2: case 7: return tml(x);
      case 3: return theano(x);
      case 4: return x.rank() == 0 ? Made() : rearranged(x);
      case 5: return x.rank() == 0 ? Made() : reduced(x);
      default: return {"assign", {assign(x, random_.chance(70) ? along(x, last_axes(x)) : any_value())}};
    }
  }

  // OpenVINO's Broadcast-3 to a target that is an input: whether an axis repeats is decided by the sizes of the call.
  Made target_at_call(const Expr& x) {
    using weft::BroadcastMode;
    const auto mode = random_.pick({BroadcastMode::numpy, BroadcastMode::explicit_axes, BroadcastMode::bidirectional});
    const Expr data = random_.chance(50) ? thinned(x) : x;
    std::vector<Index> target, axes;
    const auto add_axes = [&] {
      while (target.size() < 5 && random_.chance(25)) target.push_back(random_.pick<Index>({1, 2, 3}));
    };
    const auto first = mode == BroadcastMode::bidirectional ? static_cast<int>(random_.between(0, data.rank())) : 0;
    if (first == 0) add_axes();
    for (int k = first; k < data.rank(); ++k) {
      const Index own = size(data, k);
      axes.push_back(static_cast<Index>(target.size()));
      target.push_back(own == 1 ? random_.pick<Index>({0, 1, 2, 3}) : mode == BroadcastMode::bidirectional && random_.chance(30) ? 1 : own);
      if (mode == BroadcastMode::explicit_axes) add_axes();
    }
    if (target.empty() || !fits({data.shape(), Shape(target.begin(), target.end())})) return {};
    weft::Graph& graph = x.graph();
    const std::string name = "target" + std::to_string(graph.inputs.size());
    const Expr input = graph.input(name, random_.pick({weft::i64, weft::i32, weft::i16, weft::u16}), {static_cast<Index>(target.size())});
    Made made{weft::concat("broadcast at the call, ", mode)};
    for (std::size_t k = 0; k < target.size(); ++k) made.elements[weft::concat(name, "[", k, "]")] = target[k];
    made.values = {mode == BroadcastMode::explicit_axes ? broadcast(data, input, mode, axes) : broadcast(data, input, mode)};
    return made;
  }

 private:
  using Op = weft::Op;

  Op arithmetic(DType dtype) {
    if (smooth_) return random_.pick({Op::add, Op::subtract, Op::multiply, Op::maximum, Op::minimum, Op::logaddexp});
    if (is_boolean(dtype)) return random_.pick({Op::logical_and, Op::logical_xor, Op::equal});
    return random_.pick({Op::add, Op::subtract, Op::multiply, Op::maximum, Op::less, Op::greater_equal});
  }
  std::vector<Index> last_axes(const Expr& x) { return range(static_cast<int>(random_.between(0, x.rank())), x.rank()); }
  static std::vector<Index> range(int first, int last) {
    std::vector<Index> axes;
    for (int k = first; k < last; ++k) axes.push_back(k);
    return axes;
  }

  Made xla(const Expr& x) {
    const std::vector<Index> axes = some_axes(x.rank());
    const Expr lower = along(x, axes);
    switch (random_.small(6)) {
      case 0: case 1: {
        const bool swapped = random_.chance(50);
        const Expr thin = random_.chance(40) ? thinned(x) : x;      // dimensions first, then extents of 1
        const Op op = arithmetic(x.dtype());
        return {lower.rank() == 0 ? "xla::apply, a scalar" : "xla::apply", {swapped ? weft::xla::apply(op, lower, thin, axes) : weft::xla::apply(op, thin, lower, axes)}};
      }
      case 2: return {"xla::broadcast_in_dim", {weft::xla::broadcast_in_dim(thinned(lower), x.shape(), axes)}};
      case 3: {
        const Shape sizes = {random_.pick<Index>({1, 2, 3})};
        if (!fits({x.shape(), sizes})) return {};
        return {"xla::broadcast", {weft::xla::broadcast(x, sizes)}};
      }
      case 4: {
        const Expr other = x.rank() > 0 ? flip(x, axis_of(x)) : negated(x);
        const Expr pred = random_.chance(30) ? along(x, {}) != along(other, {}) : x != other;
        return {"xla::select", {weft::xla::select(pred, x, other)}};
      }
      default: {
        if (is_boolean(x.dtype())) return {};
        const Expr low = random_.chance(50) ? along(x, {}) : minimum(x, 1);
        return {"xla::clamp", {weft::xla::clamp(low, x, low + 2)}};
      }
    }
  }
  static Expr negated(const Expr& x) { return is_boolean(x.dtype()) ? logical_not(x) : 1 - x; }

  Made openvino(const Expr& x) {
    const std::vector<Index> axes = some_axes(x.rank());
    switch (random_.small(4)) {
      case 0: return {"broadcast, numpy", {broadcast(thinned(along(x, last_axes(x))), x.shape())}};
      case 1: return {"broadcast, explicit", {broadcast(thinned(along(x, axes)), x.shape(), weft::BroadcastMode::explicit_axes, axes)}};
      case 2: {
        Shape target = thinned(x).shape();
        if (random_.chance(50)) target.erase(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(random_.small(target.size() + 1)));
        return {"broadcast, bidirectional", {broadcast(thinned(x), target, weft::BroadcastMode::bidirectional)}};
      }
      default: {
        const int first = static_cast<int>(random_.between(0, x.rank()));
        const int last = static_cast<int>(random_.between(first, x.rank()));
        return {"pdpd", {elementwise_pdpd(arithmetic(x.dtype()), x, thinned(along(x, range(first, last))), first)}};
      }
    }
  }

  // ---- TML
  weft::Nesting nesting(const Shape& shape, std::size_t outer) {
    const auto at = shape.begin() + static_cast<std::ptrdiff_t>(outer);
    std::vector<Shape> levels;
    if (outer > 0) levels.emplace_back(shape.begin(), at);
    if (outer < shape.size()) levels.emplace_back(at, shape.end());
    return weft::Nesting(levels);
  }
  Made tml(const Expr& given) {
    using weft::tml::Tensor;
    const DType root = smooth_ ? weft::f64 : random_.pick({weft::i64, weft::f64, weft::u64});
    const Expr x = is_boolean(given.dtype()) && random_.chance(60) ? given : given.dtype() == root ? given : cast(given, root);
    if (!has_elements(x)) return {};
    const int least = x.rank() > 1 && random_.chance(70) ? 1 : 0;         // two levels
    const auto outer = static_cast<std::size_t>(random_.between(least, x.rank() - least));
    const Tensor a(x, nesting(x.shape(), outer));
    const Expr thin = thinned(x);
    const Tensor b(thin, nesting(thin.shape(), outer));
    const std::string kind = a.nest().size() > 1 ? ", nested" : "";
    switch (random_.small(8)) {
      case 0: return {"tml arithmetic" + kind, {(random_.chance(50) ? a + b : b * a).expr()}};
      case 1: return {"tml relational" + kind, {(random_.chance(50) ? weft::tml::less(a, -a) : weft::tml::less(Tensor(along(x, {})), a)).expr()}};
      case 2: return {"tml assign" + kind, {weft::tml::assign(a, b).expr()}};
      case 3: return {"tml index" + kind, {weft::tml::index(a, indices(x)).expr()}};
      case 4: return {"tml index_assign" + kind, {weft::tml::index_assign(a, indices(x), Tensor(along(x, {}))).expr()}};
      case 5: return {"tml narrow" + kind, {weft::tml::narrow(b).expr()}};
      default: {
        if (is_boolean(x.dtype())) return {"tml logical" + kind, {weft::tml::logical_or(a, weft::tml::logical_not(a)).expr()}};
        if (x.dtype() == weft::u64) return {"tml bitwise" + kind, {(a ^ Tensor(along(x, {}))).expr()}};
        return {"tml mixed roots" + kind, {(a + Tensor(cast(thin, random_.pick({weft::i64, weft::f64, weft::u64})), nesting(thin.shape(), outer))).expr()}};
      }
    }
  }
  // Some leading axes, and at times one index too many, which a scalar takes.
  std::vector<Index> indices(const Expr& x) {
    std::vector<Index> list;
    const auto count = random_.between(1, std::max(1, x.rank()));
    for (int k = 0; k < count && k < x.rank(); ++k) {
      const Extent extent = x.shape()[static_cast<std::size_t>(k)];
      list.push_back(extent.is_number() && !extent.is(1) ? random_.between(0, size(extent) - 1) : extent.is(1) ? random_.between(0, 9) : 0);
    }
    if (static_cast<int>(list.size()) == x.rank() && (list.empty() || random_.chance(40))) list.push_back(random_.between(0, 9));
    return list;
  }

  // ---- Theano: inputs of several ranks, a mode for each output
  weft::ModeSpec mode(DType dtype, bool empty, std::string& kind) {
    if (random_.chance(35)) return weft::Mode::broadcast;
    if (random_.chance(35)) {
      kind = "elemwise, own accumulator";
      return RecurrenceTemplates(random_, values_, bindings_, max_volume_, smooth_).one_state(dtype);
    }
    using A = weft::AccumulatorId;
    if (is_boolean(dtype)) return weft::accumulate(random_.pick({A::any, A::all}));
    if (!is_floating(dtype) && random_.chance(40)) return weft::accumulate(random_.pick({A::bitwise_or, A::bitwise_and, A::bitwise_xor}));
    return weft::accumulate(empty ? A::sum : random_.pick({A::sum, A::sum, A::prod, A::max, A::min}));
  }
  Made theano(const Expr& x) {
    const weft::Order order = any_order();
    const auto part = [&](int rank) { return along(x, order == weft::Order::c ? range(0, rank) : range(x.rank() - rank, x.rank())); };
    const Expr y = part(static_cast<int>(random_.between(0, x.rank()))), z = part(static_cast<int>(random_.between(0, x.rank())));
    std::string kind = order == weft::Order::c ? "elemwise, order c" : "elemwise, order f";
    const std::vector<weft::ModeSpec> modes = {mode(x.dtype(), !has_elements(x), kind), mode(x.dtype(), !has_elements(x), kind)};
    const bool boolean = is_boolean(x.dtype());
    return {kind, weft::elemwise({x, y, z}, order, modes, [boolean](const std::vector<Expr>& a) {
              if (boolean) return std::vector<Expr>{logical_xor(a[0], a[1]), logical_and(logical_or(a[0], a[2]), a[1])};
              return std::vector<Expr>{a[0] * a[1] - a[2], maximum(a[0], a[2]) - a[0]};
            })};
  }

  // ---- rearranging
  Made rearranged(const Expr& x) {
    const int axis = axis_of(x);
    if (size(x, axis) < 3) return {};
    const Expr y = random_.chance(50) ? flip(x, axis) : random_.chance(50) ? cast(negated(x), x.dtype()) : any_value();
    switch (random_.small(10)) {
      case 0: return {"concat", {weft::concat({x, y, x}, axis)}};
      case 1: return {"stack", {weft::stack({x, y}, static_cast<int>(random_.between(0, x.rank())))}};
      case 2: {
        weft::Padding widths;
        for (int k = 0; k < x.rank(); ++k) widths.emplace_back(random_.between(0, 2), random_.between(0, 2));
        return {"pad", {random_.chance(50) ? pad(x, widths) : pad(x, widths, along(x, {}))}};
      }
      case 3: {
        const Index extent = size(x, axis);
        return {"roll", {roll(x, random_.between(-extent, extent), axis)}};
      }
      case 4: {
        std::vector<weft::Slice> window(static_cast<std::size_t>(x.rank()));
        window[static_cast<std::size_t>(axis)] = random_.pick({weft::Slice{1, {}}, weft::Slice{{}, -1}, weft::Slice{{}, {}, 2}, weft::Slice{{}, {}, -1}});
        return {"update", {random_.chance(50) ? update(x, window, 1) : update(x, window, y.slice(window))}};
      }
      case 5: {
        if (x.rank() < 2) return {};
        const Index diagonal = random_.between(-2, 2);
        return {"tril and triu", {random_.chance(50) ? tril(x, diagonal) : triu(x, diagonal)}};
      }
      case 6: return {"diff", {diff(x, static_cast<int>(random_.between(1, 2)), axis)}};
      case 7: return {"unstack", unstack(x, axis)};
      case 8: {
        std::vector<Index> counts(static_cast<std::size_t>(x.rank()), 1);
        for (Index& count : counts) count = random_.between(1, 2);
        return {"tile", {tile(x, counts)}};
      }
      default: return {"repeat", {repeat(x, random_.between(2, 3), axis)}};
    }
  }

  Made reduced(const Expr& x) {
    const int axis = axis_of(x);
    if (random_.chance(30)) {
      const bool several = x.rank() > 1 && random_.chance(30);
      const bool keepdims = random_.chance(30);
      const Axes axes = several ? weft::all_axes : Axes(axis);
      if (!has_elements(x)) return {};
      return random_.chance(50) ? Made{"argmax", {argmax(x, axes, keepdims)}} : Made{"argmin", {argmin(x, axes, keepdims)}};
    }
    weft::ReduceOptions options;
    options.keepdims = random_.chance(30);
    if (random_.chance(50)) options.where = random_.chance(60) ? x != flip(x, axis) : thinned(x) != along(x, {});
    if (!options.where.is_empty() || size(x, axis) == 0 || random_.chance(70)) options.initial = is_boolean(x.dtype()) ? weft::Value(random_.chance(50)) : weft::Value(random_.between(0, 3));
    const std::string with = !options.where.is_empty() ? " where" : options.initial ? " initial" : "";
    switch (random_.small(9)) {
      case 0: case 7: return {"sum" + with, {sum(x, axis, options)}};
      case 1: return {"prod" + with, {prod(x, axis, options)}};
      case 2: return {"max" + with, {max(x, axis, options)}};
      case 3: return {"min" + with, {min(x, axis, options)}};
      case 4: return {"any, all" + with, {any(x, axis, options), all(x, axis, options)}};
      case 5: case 8: return {"count_nonzero" + with, {count_nonzero(x, axis, options)}};
      default: return {"bitwise folds" + with, {reduce_or(x, axis, options), reduce_and(x, axis, options), reduce_xor(x, axis, options)}};
    }
  }

  // Reductions with derivatives: also by the initial value, and with a mask that moves with x.
  Made smoothly_reduced(const Expr& x) {
    const int axis = axis_of(x);
    const bool several = x.rank() > 1 && random_.chance(30);
    const Axes axes = several ? weft::all_axes : Axes(axis);
    weft::ReduceOptions options;
    options.keepdims = random_.chance(30);
    if (random_.chance(50)) options.where = random_.chance(60) ? x < 0.7 : thinned(x) != along(x, {});
    const auto kind = random_.small(10);
    const bool takes_initial = kind != 4 && kind != 5 && kind != 6;
    if (takes_initial && (!options.where.is_empty() || random_.chance(60))) options.initial = random_.chance(50) ? weft::Value(random_.uniform()) : weft::Value(along(x, {}));
    if (!has_elements(x)) return {};
    const std::string with = !options.where.is_empty() ? " where" : options.initial ? " initial" : "";
    switch (kind) {
      case 0: return {"sum" + with, {sum(x, axes, options)}};
      case 1: return {"prod" + with, {prod(x, axes, options)}};
      case 2: return {"max" + with, {max(x, axes, options)}};
      case 3: return {"min" + with, {min(x, axes, options)}};
      case 4: return {"mean" + with, {mean(x, axes, options)}};
      case 5: return {"var" + with, {var(x, axes, options)}};
      case 6: return {"std" + with, {weft::std(x, axes, options)}};
      case 7: case 8: return {"norm" + with, {norm(x, axes, options)}};
      default: return {"logsumexp" + with, {logsumexp(x, axes, options)}};
    }
  }
  Made composed(const Expr& x) {
    const int axis = axis_of(x);
    if (!has_elements(x)) return {};
    switch (random_.small(6)) {
      case 0: return {"softmax", {softmax(x, axis)}};
      case 1: return {"log_softmax", {log_softmax(x, axis)}};
      case 2: {
        const Expr row = x.slice(std::vector<weft::Slice>(static_cast<std::size_t>(x.rank() - 1), weft::Slice(0)));
        return {"layer_norm", {layer_norm(x, 1 + row * 0.5, row, -1, 0.1)}};
      }
      case 3: return {"gelu", {gelu(x)}};
      case 4: return {"silu", {silu(x)}};
      default: return {"one-sided clip", {random_.chance(50) ? clip(x, along(x, {}) - 1, std::nullopt) : clip(x, std::nullopt, 0.9)}};
    }
  }
};
