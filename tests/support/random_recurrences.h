// Recurrences in random graphs: scans, accumulators of the user's, their consumers.
//
// Bodies are exact ops, so that compiled and interpreted bits must be equal, and most halve or clip their state, so that
// long folds stay finite. Smooth ones, whose gradients are compared with differences, may be any.
#pragma once
#include <tuple>

#include <weft/recurrence.h>

#include "smooth_accumulators.h"
#include "template_parts.h"

class RecurrenceTemplates : TemplateParts {
 public:
  RecurrenceTemplates(RandomSource& random, const std::vector<weft::Expr>& values, const weft::Bindings& bindings, weft::Index max_volume, bool smooth = false)
      : TemplateParts(random, values, bindings, max_volume, smooth) {}

  // Error where shapes or dtypes do not go together.
  Made make() {
    const Expr x = any_array();
    if (x.rank() == 0) return {};
    switch (random_.small(9)) {
      case 0: case 1: return cumulative(x);
      case 2: return fold(x);
      case 3: return scan_one(x);
      case 4: return two_elements(x);
      case 5: return shared(x);
      case 6: return scan_of_axes(x);
      case 7: return scan_of_fold(x);
      default: return consumed(x);
    }
  }

  // Three ways to go on with one element; also for Theano's modes.
  weft::Accumulator one_state(DType dtype) {
    using weft::Accumulator;
    if (is_boolean(dtype)) {
      if (random_.chance(50)) return Accumulator::fold("parity", false, [](Expr s, Expr x) { return logical_xor(s, x); });
      return Accumulator::fold("implied", true, [](Expr s, Expr x) { return logical_or(logical_not(s), x); });
    }
    if (!is_floating(dtype)) {
      switch (random_.small(3)) {
        case 0: return Accumulator::fold("hash", 1, [](Expr s, Expr x) { return s * 3 + x; });
        case 1: return Accumulator::fold("last_set", 0, [](Expr s, Expr x) { return where(x != 0, x, s); });
        default: return Accumulator::monoid("largest", 0, [](Expr x) { return x * x; }, [](Expr a, Expr b) { return maximum(a, b); });
      }
    }
    if (smooth_ && random_.chance(50)) return smooth_accumulator(random_, false);
    switch (random_.small(4)) {
      case 0: return Accumulator::fold("quarter", 0.0, [](Expr s, Expr x) { return s * 0.25 + x; });
      case 1: return Accumulator::fold("leaky", 1.0, [](Expr s, Expr x) { return clip(s - x * 0.5, -8, 8); }, [](Expr s) { return s * s; });
      case 2: return Accumulator::fold("last_positive", -1.0, [](Expr s, Expr x) { return where(x > 0, x, s); });
      default: return Accumulator::fold("halved", 0.0, [](Expr s, Expr x) { return (s + x) / 2; });
    }
  }

 private:
  // Several states; the second value of `changes` is an integer whatever the elements are.
  weft::Accumulator tuple_state(DType dtype) {
    using weft::Accumulator;
    if (smooth_ && random_.chance(50)) return smooth_accumulator(random_, true);
    if (is_boolean(dtype) || random_.chance(35))
      return Accumulator::fold(
          "changes", std::tuple(0, weft::Scalar::of(weft::i32, 0)),
          [](Expr s, Expr n, Expr x) { return std::tuple(cast(x, s.dtype()), n + cast(s != cast(x, s.dtype()), weft::i32)); },
          [](Expr s, Expr n) { return std::tuple(n, s); });
    if (is_floating(dtype) && random_.chance(50))
      return Accumulator::fold(
          "running_mean", std::tuple(0.0, 0.0), [](Expr mean, Expr n, Expr x) { return std::tuple(mean + (x - mean) / (n + 1), n + 1); },
          [](Expr mean, Expr n) { return std::tuple(mean, mean * n); });
    return Accumulator::monoid(
        "best_prefix", std::tuple(0, 0), [](Expr x) { return std::tuple(x, maximum(x, 0)); },
        [](auto a, auto b) {
          const auto [total, best] = a;
          const auto [more, next] = b;
          return std::tuple(total + more, maximum(best, total + next));
        },
        [](Expr total, Expr best) { return std::tuple(best, total - best); });
  }
  weft::Accumulator gated(DType dtype) {
    using weft::Accumulator;
    if (smooth_ && random_.chance(50)) return Accumulator::fold("weighed", 0.25, [](Expr s, Expr x, Expr w) { return tanh(s) * w + x * x * 0.5; });
    if (is_floating(dtype)) return Accumulator::fold("gated", 0.0, [](Expr s, Expr x, Expr gate) { return where(gate > 0, s * 0.5 + x, s - x * 0.25); });
    if (is_boolean(dtype)) return Accumulator::fold("gated", false, [](Expr s, Expr x, Expr gate) { return where(gate, x, s); });
    return Accumulator::fold("gated", 0, [](Expr s, Expr x, Expr gate) { return where(gate > 1, s + x, s ^ gate); });
  }
  weft::Accumulator accumulator(DType dtype) { return random_.chance(60) ? one_state(dtype) : tuple_state(dtype); }

  std::vector<int> axes_to_fold(const Expr& x) {
    std::vector<int> axes;
    for (int k = 0; k < x.rank(); ++k)
      if (random_.chance(70)) axes.push_back(k);
    if (axes.empty()) axes.push_back(axis_of(x));
    return axes;
  }

  Made cumulative(const Expr& x) {
    const int axis = axis_of(x);
    weft::ScanOptions options;
    options.reverse = random_.chance(35);
    options.include_initial = random_.chance(25);
    const std::string direction = options.include_initial ? " from its initial value" : options.reverse ? ", reversed" : "";
    switch (random_.small(4)) {
      case 0: return {"cumulative_sum" + direction, {cumulative_sum(x, axis, options)}};
      case 1: return {"cumulative_prod" + direction, {cumulative_prod(x, axis, options)}};
      case 2: return {"cumulative_max" + direction, {cumulative_max(x, axis, options)}};
      default: return {"cumulative_min" + direction, {cumulative_min(x, axis, options)}};
    }
  }
  Made fold(const Expr& x) {
    const std::vector<int> axes = axes_to_fold(x);
    const weft::Order order = any_order();
    const bool several = axes.size() > 1;
    const std::string name = several ? order == weft::Order::c ? "own fold of several axes, order c" : "own fold of several axes, order f" : "own fold";
    return {name, {reduce(x, accumulator(x.dtype()), axes, random_.chance(30), order)}};
  }
  Made scan_of_fold(const Expr& x) {
    const weft::Accumulator acc = accumulator(x.dtype());
    const int axis = axis_of(x);
    const Expr folded = reduce(x, acc, axis, false, any_order());
    return {"scan of a fold", {weft::scan(folded, one_state(folded.dtype()), -1)}};
  }
  Made scan_one(const Expr& x) {
    const weft::Accumulator acc = accumulator(x.dtype());
    return {"own scan", {weft::scan(x, acc, axis_of(x))}};
  }
  Made two_elements(const Expr& x) {
    const Expr y = random_.chance(50) ? thinned(x) : random_.chance(50) ? flip(x, axis_of(x)) : any_value();
    const weft::Accumulator acc = gated(promote(x.dtype(), y.dtype()));
    const std::vector<Expr> xs = {x, y};
    if (!fits({broadcast_shapes(x.shape(), y.shape())})) return {};
    if (random_.chance(50)) return {"own scan of two elements", {weft::scan(xs, acc, -1)}};
    return {"own fold of two elements", {reduce(xs, acc, axes_to_fold(x), random_.chance(30), any_order())}};
  }
  Made shared(const Expr& x) {
    const weft::Accumulator acc = tuple_state(x.dtype());
    if (random_.chance(50)) return {"scan of several values", weft::scan_all({x}, acc, axis_of(x))};
    return {"fold of several values", reduce_all({x}, acc, axes_to_fold(x), random_.chance(30), any_order())};
  }
  Made scan_of_axes(const Expr& x) {
    if (x.rank() < 2) return {};
    const auto what = accumulator(x.dtype()).recurrence({x.dtype()});
    std::vector<int> axes = axes_to_fold(x);
    if (axes.size() < 2) axes = {1, 0};
    if (random_.chance(30)) random_.shuffle(axes);
    return {"scan along several axes", {recur_scan(x.graph(), what, 0, x.shape(), axes, {{x.id(), weft::identity_map(x.rank())}}, any_order())}};
  }
  // Elementwise before and after; folds of scans.
  Made consumed(const Expr& x) {
    const int axis = axis_of(x);
    const Expr before = is_boolean(x.dtype()) ? logical_not(x) : maximum(x, 1) - x;
    const Expr all = random_.chance(50) ? weft::scan(before, one_state(before.dtype()), axis) : cumulative_max(is_boolean(x.dtype()) ? cast(before, weft::i8) : before, axis);
    switch (random_.small(4)) {
      case 0: return {"fold of a scan", {reduce(all, one_state(all.dtype()), axis_of(all), false, any_order())}};
      case 1: return {"sum of a scan", {sum(all, axis_of(all)), all}};
      case 2: return {"scan of a scan", {weft::scan(all, one_state(all.dtype()), axis_of(all))}};
      default: return {"elementwise after a scan", {where(all != flip(all, axis), all, flip(transpose(transpose(all)), axis))}};
    }
  }
};
