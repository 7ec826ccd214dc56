// Patterns that random nodes rarely form: normalised rows, column folds with consumers, outer products, chains.
#pragma once
#include <weft/elemwise.h>
#include <weft/expr.h>

#include "template_parts.h"

class GraphTemplates : TemplateParts {
 public:
  GraphTemplates(RandomSource& random, const std::vector<weft::Expr>& values, const weft::Bindings& bindings, weft::Index max_volume, bool transcendental,
                 bool long_chains)
      : TemplateParts(random, values, bindings, max_volume), transcendental_(transcendental), long_chains_(long_chains) {}

  // The values to go on with; none if the pattern does not fit the values at hand.
  std::vector<weft::Expr> make() {
    const Expr x = random_.pick(values_);
    if (x.rank() == 0) return {};
    try {
      switch (random_.small(13)) {
        case 0: return normalised(x);
        case 1: return fold_and_consume(x);
        case 2: return several_folds(x);
        case 3: return outer(x);
        case 4: return contraction(x);
        case 5: return transposed(x);
        case 6: case 7: return modes(x);
        case 8: return differences(x);
        case 9: return chain(x);
        case 10: return composite(x);
        case 11: return shapes(x);
        default: return masked(x);
      }
    } catch (const weft::Error&) {          // shapes or dtypes that do not go together
      return {};
    }
  }

 private:
  Expr reduce(const Expr& x, int axis, bool keepdims) {
    if (is_boolean(x.dtype())) return random_.chance(50) ? any(x, axis, keepdims) : all(x, axis, keepdims);
    if (size(x, axis) == 0 || random_.chance(50)) return sum(x, axis, keepdims);
    return random_.chance(50) ? max(x, axis, keepdims) : min(x, axis, keepdims);
  }
  Expr combine(const Expr& a, const Expr& b) {
    if (is_boolean(a.dtype()) && is_boolean(b.dtype())) return logical_xor(a, b);
    switch (random_.small(4)) {
      case 0: return a - b;
      case 1: return a * b;
      case 2: return maximum(a, b);
      default: return where(a > b, a, b);
    }
  }

  std::vector<Expr> normalised(const Expr& x) {
    const int axis = axis_of(x);
    if (size(x, axis) == 0 || is_boolean(x.dtype())) return {};
    const Expr shifted = x - max(x, axis, true);
    const Expr total = sum(shifted * shifted, axis, true);
    return {is_floating(x.dtype()) ? shifted / total : shifted * total};
  }
  std::vector<Expr> fold_and_consume(const Expr& x) {
    const int axis = axis_of(x);
    const Expr folded = reduce(x, axis, true);
    const Expr y = combine(x, folded);
    return random_.chance(50) ? std::vector{y} : std::vector{y, reduce(y, axis_of(y), false)};
  }
  std::vector<Expr> several_folds(const Expr& x) {
    if (x.rank() < 2) return {};
    const Expr rows = reduce(x, 0, true), columns = reduce(x, 1, true);
    if (random_.chance(30)) return {rows, columns};
    return {combine(combine(x, rows), columns), reduce(x, axis_of(x), false)};
  }
  std::vector<Expr> outer(const Expr& x) {
    const Expr y = random_.pick(values_);
    if (x.rank() != 1 || y.rank() != 1 || !fits({x.shape(), y.shape()})) return {};
    const Expr product = combine(expand_dims(x, 1), expand_dims(y, 0));
    return random_.chance(50) ? std::vector{product} : std::vector{reduce(product, axis_of(product), false)};
  }
  std::vector<Expr> contraction(const Expr& x) {
    const Expr y = random_.pick(values_);
    if (x.rank() < 1 || x.rank() > 2 || y.rank() != 2 || !fits({x.shape(), y.shape()}) || is_boolean(x.dtype())) return {};
    return {sum(expand_dims(x, x.rank()) * y, x.rank() - 1)};
  }
  std::vector<Expr> transposed(const Expr& x) {
    if (x.rank() < 2) return {};
    const Expr y = combine(x, x), z = transpose(y);
    if (random_.chance(50)) return {combine(z, transpose(x)), reduce(y, 0, false)};
    return {reduce(z, axis_of(z), false), y};
  }
  std::vector<Expr> modes(const Expr& x) {
    const Expr y = random_.pick(values_);
    if (is_boolean(x.dtype()) || is_boolean(y.dtype())) return {};
    const auto order = random_.pick({weft::Order::c, weft::Order::f});
    const auto mode = [&] { return random_.chance(50) ? weft::ModeSpec(weft::Mode::broadcast) : weft::accumulate(weft::AccumulatorId::sum); };
    const std::vector<weft::ModeSpec> specs = {mode(), mode()};
    return weft::elemwise({x, y}, order, specs, [](const std::vector<Expr>& a) { return std::vector<Expr>{a[0] * a[1], maximum(a[0], a[1]) - a[0]}; });
  }
  std::vector<Expr> differences(const Expr& x) {
    if (size(x, 0) < 2 || is_boolean(x.dtype())) return {};
    return {x.slice({weft::Slice{1, {}}}) - x.slice({weft::Slice{{}, -1}})};
  }
  std::vector<Expr> chain(const Expr& x) {
    if (!long_chains_ || is_boolean(x.dtype()) || !random_.chance(15)) return {};
    std::vector<Expr> steps = {x};
    const auto length = random_.between(50, 400);
    for (int k = 0; k < length; ++k) {
      const Expr& a = steps.back();
      const Expr& b = steps[random_.small(steps.size())];
      steps.push_back(k % 3 == 0 ? minimum(a + 1, 9) : k % 3 == 1 ? maximum(a - b, -9) : a + b * (k % 5 == 0 ? -1 : 1));
    }
    return {steps.back(), steps[steps.size() / 2]};
  }
  std::vector<Expr> composite(const Expr& x) {
    const int axis = axis_of(x);
    if (size(x, axis) == 0) return {};
    switch (random_.small(7)) {
      case 0: return {mean(x, axis)};
      case 1: return {var(x, axis, random_.chance(50))};
      case 2: return {norm(x, axis)};
      case 3: return {count_nonzero(x, axis)};
      case 4: return {weft::std(x)};
      case 5: if (transcendental_) return {softmax(x, axis)}; return {};
      default: if (transcendental_) return {logsumexp(x, axis)}; return {};
    }
  }
  std::vector<Expr> shapes(const Expr& x) {
    switch (random_.small(5)) {
      case 0: return {flip(x, axis_of(x))};
      case 1: return {expand_dims(x, axis_of(x))};
      case 2: return {squeeze(x)};
      case 3: return {x.slice({weft::Slice{{}, {}, random_.pick<weft::Index>({2, -1, -2, 3})}})};
      default: {
        std::vector<int> axes(static_cast<std::size_t>(x.rank()));
        for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(k);
        random_.shuffle(axes);
        return {permute_dims(x, axes)};
      }
    }
  }
  std::vector<Expr> masked(const Expr& x) {
    if (is_boolean(x.dtype())) return {};
    const int axis = axis_of(x);
    const Expr at_limit = x == reduce(x, axis, true);      // equal bits wherever the fold and x are computed
    return {at_limit, sum(where(at_limit, x, 0), axis)};
  }

  bool transcendental_, long_chains_;
};
