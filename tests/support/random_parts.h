// What random graphs are made of: extents, shapes, maps and folds that are legal for the sizes at hand.
#pragma once
#include <optional>
#include <set>
#include <string>

#include <weft/graph.h>

#include "random_data.h"

struct Recipe {
  std::vector<weft::DType> dtypes = {weft::bool_, weft::i8, weft::i16, weft::i32, weft::i64, weft::u8,  weft::u16,
                                     weft::u32,   weft::u64, weft::f16, weft::bf16, weft::f32, weft::f64};
  int nodes = 12;                          // at most, templates not counted
  int max_rank = 5;
  weft::Index max_volume = 20000;          // of a node's domain
  bool transcendental = true;
  bool long_chains = true;
  bool smooth = false;                     // f64, inner values differentiable, for gradients
  bool thin_windows = false;               // updates along axes of a few elements, known mostly, beside a longer one
  bool pixels = false;                     // two axes of some vectors and a known one of a few elements, windows of which are read
  bool long_extents = false;               // an extent or two longer than a leaf of a fold, known mostly, beside short ones
};

// Ops whose error is a few roundings of their largest term, and the terms may cancel.
inline bool is_right_to_its_terms(weft::Op op) {
  using weft::Op;
  return op == Op::lgamma || op == Op::digamma || op == Op::trigamma || op == Op::logaddexp;
}
// Ops whose compiled bits may differ from libm's.
inline bool is_transcendental(weft::Op op, weft::DType dtype) {
  using weft::Op;
  switch (op) {
    case Op::exp: case Op::expm1: case Op::log: case Op::log1p: case Op::sin: case Op::cos: case Op::tan:
    case Op::tanh: case Op::sigmoid: case Op::softplus: case Op::erf: case Op::erfc: case Op::exp2: case Op::log2: case Op::log10:
    case Op::asin: case Op::acos: case Op::atan: case Op::sinh: case Op::cosh: case Op::asinh: case Op::acosh: case Op::atanh:
    case Op::cbrt: case Op::rsqrt: case Op::hypot: case Op::atan2: case Op::xlogy: return true;
    case Op::power: return is_floating(dtype);
    default: return is_right_to_its_terms(op);
  }
}

// The array for an input that is a target: each element what its symbol is bound to. None where no symbol names the input.
inline std::optional<weft::Array> target_array(const weft::Node& input, const weft::Bindings& bindings) {
  std::optional<weft::Array> array;
  for (const auto& [symbol, size] : bindings) {
    const auto element = weft::element_symbol(symbol);
    if (!element || element->input != input.name()) continue;
    if (!array) array = weft::Array(input.dtype, {input.domain[0].constant()});
    weft::Scalar::of(input.dtype, size).store(element_address(*array, {element->element}));
  }
  return array;
}

// The graph under construction, and random pieces that fit it.
class GraphParts {
 protected:
  GraphParts(RandomSource& random, const Recipe& recipe) : random_(random), recipe_(recipe), graph_("random") {}

  using Index = weft::Index;
  using Extent = weft::Extent;
  using NodeId = weft::NodeId;
  using Op = weft::Op;

  Index value(const Extent& extent) const { return extent.evaluate(bindings_); }
  weft::Dims sizes_of(const weft::Shape& shape) const {
    weft::Dims dims;
    for (const Extent& extent : shape) dims.push_back(value(extent));
    return dims;
  }
  Index volume(const weft::Shape& shape) const {
    Index product = 1;
    for (const Extent& extent : shape) product *= std::max<Index>(1, value(extent));
    return product;
  }
  const weft::Node& node(NodeId id) const { return graph_.node(id); }
  weft::Expr expr(NodeId id) { return weft::Expr(graph_, id); }
  NodeId keep(NodeId id) { values_.push_back(id); return id; }
  NodeId keep(const weft::Expr& e) { return keep(e.id()); }

  // ---- sizes: a few extents that shapes are made of, numbers or symbols
  Index random_size(int profile) {
    switch (profile) {
      case 0: return random_.pick<Index>({0, 1, 2, 3, 4, 5, 7});
      case 1: return random_.pick<Index>({1, 2, 3, 5, 6});
      case 2: return random_.between(1, 40);
      case 3: return random_.pick<Index>({1, 17, 31, 32, 33, 61, 64, 65, 97, 127, 128, 130});
      case 4: return random_.pick<Index>({1023, 1024, 1025, 1040, 2047, 2048, 2049, 3073, 5000});
      default: return random_.pick<Index>({1, 2, 3, 8, 17});
    }
  }
  // Longer than a leaf, and what steps of vectors and blocks go into; now and then one more or one less.
  Index long_size() {
    const Index step = random_.pick<Index>({8, 12, 16, 24, 32, 48, 48, 64, 80, 96, 112, 128, 144, 192});
    const Index size = step * random_.between(1024 / step + 1, 3300 / step);
    return random_.chance(75) ? size : size + random_.pick<Index>({-1, 1, 4, 8});
  }
  void choose_long_sizes() {
    const auto count = random_.between(2, 4);
    for (int k = 0; k < count; ++k) {
      const bool is_long = k == 0 || random_.chance(20);
      add_size(k, is_long ? long_size() : random_.pick<Index>({1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 20, 31, 32, 33}), 15);
    }
    max_rank_ = static_cast<int>(random_.between(1, 3));
  }
  void choose_pixel_sizes() {
    for (int k = 0; k < 2; ++k) add_size(k, random_.between(17, 70), 60);
    add_size(2, random_.between(2, 5), 15);
    max_rank_ = 3;
  }
  void choose_thin_sizes() {
    add_size(0, random_.between(100, 1500), 50);
    const auto thin = random_.between(1, 2);
    for (int k = 0; k < thin; ++k) add_size(k + 1, random_.between(1, 6), 10);
    max_rank_ = static_cast<int>(random_.between(2, 3));
  }
  void add_size(int place, Index size, int symbol_chance) {
    if (!random_.chance(symbol_chance)) return static_cast<void>(pool_.emplace_back(size));
    const std::string symbol(1, "nmpq"[place]);
    bindings_[symbol] = size;
    pool_.emplace_back(symbol);
  }
  void choose_sizes() {
    if (recipe_.long_extents) return choose_long_sizes();
    if (recipe_.thin_windows) return choose_thin_sizes();
    if (recipe_.pixels) return choose_pixel_sizes();
    const int profile = static_cast<int>(random_.pick({0, 0, 1, 1, 2, 2, 3, 4, 4}));
    const auto count = random_.between(2, 4);
    for (int k = 0; k < count; ++k) {
      Index size = random_size(profile == 4 && k > 0 ? 5 : profile);
      if (profile == 3 && k > 1) size = random_size(1);
      add_size(k, size, 40);
    }
    max_rank_ = static_cast<int>(random_.between(0, recipe_.max_rank));
    if (profile >= 2) max_rank_ = std::min(max_rank_, 3);
    if (max_rank_ == 0 && random_.chance(80)) max_rank_ = 2;
  }
  // A few of the recipe's dtypes, so that nodes find operands of their own; casts go to any.
  void choose_dtypes() {
    all_dtypes_ = recipe_.dtypes;
    if (all_dtypes_.size() < 6) return;
    random_.shuffle(recipe_.dtypes);
    recipe_.dtypes.resize(std::min(recipe_.dtypes.size(), static_cast<std::size_t>(random_.between(2, 5))));
  }
  weft::Shape random_shape() {
    if (recipe_.pixels && random_.chance(70)) return pool_;
    weft::Shape shape;
    const auto rank = random_.between(0, max_rank_);
    for (int k = 0; k < rank; ++k) {
      Extent extent = random_.pick(pool_);
      if (random_.chance(10)) extent = extent + random_.between(1, 3);
      else if (random_.chance(5)) extent = Extent(2) * extent;
      else if (random_.chance(5)) extent = 1;
      shape.push_back(extent);
      if (volume(shape) > recipe_.max_volume) shape.pop_back();
    }
    return shape;
  }

  // ---- maps
  // A loop extent for an axis of extent e read with this step, and where to start; nothing fits an empty axis.
  bool random_walk(const Extent& e, Index step, const Index* wanted, Extent& loop, Extent& start) {
    const Index size = value(e), most = size == 0 ? 0 : (size - 1) / std::abs(step) + 1;
    Index count = 0;
    if (wanted) {
      count = *wanted;
    } else {
      const Extent candidates[] = {e, e - 1, e - 2, floor_div(e + std::abs(step) - 1, std::abs(step)), floor_div(e, 2), Extent(random_.between(0, most)), Extent(1)};
      loop = candidates[random_.small(7)];
      count = value(loop);
    }
    if (count < 0 || count > most) return false;
    const Index reach = count == 0 ? 0 : std::abs(step) * (count - 1), last = std::max<Index>(size - 1, 0);
    const Index at = step > 0 ? random_.between(0, last - reach) : random_.between(reach, last);
    start = !e.is_number() && random_.chance(60) ? e - (size - at) : Extent(at);
    return !(step == 1 && start.is(0));
  }

  weft::AxisMap random_map(NodeId id, weft::Shape& domain) {
    weft::AxisMap map;
    std::set<int> used;
    for (const Extent& e : node(id).shape()) {
      weft::AxisRef ref;
      const Index size = value(e);
      auto use = [&](int axis) { ref.axis = axis; used.insert(axis); map.push_back(ref); };
      if (random_.chance(recipe_.pixels ? 50 : 15)) {                       // a slice or a flip
        ref.step = recipe_.pixels && random_.chance(80) ? 1 : random_.pick<Index>({1, -1, -1, 2, -2, 3});
        bool done = false;
        for (std::size_t axis = 0; axis < domain.size() && !done; ++axis) {
          const Index wanted = value(domain[axis]);
          Extent loop;
          if (used.contains(static_cast<int>(axis)) || !random_.chance(60) || !random_walk(e, ref.step, &wanted, loop, ref.start)) continue;
          use(static_cast<int>(axis));
          done = true;
        }
        Extent loop;
        if (!done && random_walk(e, ref.step, nullptr, loop, ref.start) && may_grow(domain, loop)) {
          domain.push_back(loop);
          use(static_cast<int>(domain.size()) - 1);
          done = true;
        }
        if (done) continue;
      }
      ref = {};
      if (size > 0 && random_.chance(6)) {                                  // a fixed index
        ref.start = random_index(e);
        map.push_back(ref);
        continue;
      }
      std::vector<int> equal;
      for (std::size_t axis = 0; axis < domain.size(); ++axis)
        if (domain[axis] == e && !used.contains(static_cast<int>(axis))) equal.push_back(static_cast<int>(axis));
      if (!equal.empty() && random_.chance(80)) {
        use(random_.chance(60) ? equal.front() : random_.pick(equal));
      } else if (may_grow(domain, e)) {
        domain.push_back(e);
        use(static_cast<int>(domain.size()) - 1);
      } else if (!equal.empty()) {
        use(equal.front());
      } else if (size > 0) {
        ref.start = random_index(e);
        map.push_back(ref);
      } else {
        domain.push_back(e);
        use(static_cast<int>(domain.size()) - 1);
      }
    }
    return map;
  }
  Extent random_index(const Extent& e) {
    const Index at = random_.between(0, value(e) - 1);
    return !e.is_number() && random_.chance(50) ? e - (value(e) - at) : Extent(at);
  }
  bool may_grow(const weft::Shape& domain, const Extent& extent) const {
    weft::Shape grown = domain;
    grown.push_back(extent);
    return value(extent) >= 0 && static_cast<int>(grown.size()) <= max_rank_ + 2 && volume(grown) <= recipe_.max_volume;
  }

  // ---- nodes
  weft::AccumulatorId random_accumulator(weft::DType dtype, bool is_empty) {
    using A = weft::AccumulatorId;
    if (!is_floating(dtype) && random_.chance(15)) return random_.pick({A::bitwise_or, A::bitwise_and, A::bitwise_xor});
    if (random_.chance(8)) return random_.pick({A::supremum, A::infimum});
    if (is_boolean(dtype)) return random_.pick({A::any, A::all});
    if (!is_empty && random_.chance(45)) return random_.pick({A::max, A::min});
    return random_.chance(85) ? A::sum : A::prod;
  }

  // The node over `domain`, its axes in a random order, some of those that operands mention folded.
  NodeId finish(Op op, weft::DType dtype, const weft::Shape& domain, std::vector<weft::Operand> operands, int fold_chance) {
    std::vector<bool> mentioned(domain.size(), false);
    for (const weft::Operand& operand : operands)
      for (const weft::AxisRef& ref : operand.map)
        if (ref.axis >= 0) mentioned[static_cast<std::size_t>(ref.axis)] = true;
    std::vector<int> kept, folded;
    const bool folds = random_.chance(recipe_.long_extents ? 60 : fold_chance) || static_cast<int>(domain.size()) > max_rank_;
    for (std::size_t axis = 0; axis < domain.size(); ++axis)
      (folds && mentioned[axis] && random_.chance(50) ? folded : kept).push_back(static_cast<int>(axis));
    if (random_.chance(25)) random_.shuffle(kept);
    if (random_.chance(25)) random_.shuffle(folded);
    std::vector<int> position(domain.size());
    weft::Shape ordered;
    bool is_empty = false;
    for (const auto* list : {&kept, &folded})
      for (int axis : *list) {
        position[static_cast<std::size_t>(axis)] = static_cast<int>(ordered.size());
        ordered.push_back(domain[static_cast<std::size_t>(axis)]);
        is_empty |= list == &folded && value(ordered.back()) == 0;
      }
    for (weft::Operand& operand : operands)
      for (weft::AxisRef& ref : operand.map)
        if (ref.axis >= 0) ref.axis = position[static_cast<std::size_t>(ref.axis)];
    const auto order = random_.pick({weft::Order::c, weft::Order::f});
    return keep(graph_.fold(random_accumulator(dtype, is_empty), op, dtype, ordered, static_cast<int>(kept.size()), operands, order));
  }

  RandomSource& random_;
  Recipe recipe_;
  std::vector<weft::DType> all_dtypes_;
  weft::Graph graph_;
  weft::Bindings bindings_;
  std::vector<Extent> pool_;
  std::vector<NodeId> values_;
  int max_rank_ = 2;
};
