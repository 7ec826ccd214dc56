// Random windows and conditions: what is written into a part of an array, and values that an index decides.
#pragma once
#include "random_parts.h"

class RandomWindows : protected GraphParts {
 protected:
  using GraphParts::GraphParts;

  NodeId any_value() {
    if (random_.chance(60)) return values_[values_.size() - 1 - random_.small(std::min<std::size_t>(values_.size(), 4))];
    return random_.pick(values_);
  }

  // One of two values, as the index along an axis decides; often by two conditions.
  NodeId add_condition() {
    const NodeId yes = any_value();
    const weft::Shape shape = node(yes).shape();
    if (shape.empty()) return yes;
    const weft::AxisMap all = weft::identity_map(static_cast<int>(shape.size()));
    const auto ask = [&](std::size_t axis) {
      weft::Expr index = weft::iota(graph_, shape[axis]), bound = random_.chance(50) ? graph_.constant(std::int64_t{random_.between(-1, value(shape[axis]))})
                                                                                       : graph_.extent(shape[axis] - random_.between(0, 3));
      if (random_.chance(30)) std::swap(index, bound);
      return elementwise(random_.pick({Op::less, Op::less, Op::less_equal, Op::greater, Op::greater_equal, Op::equal}), {index, bound});
    };
    const auto first = static_cast<std::size_t>(random_.small(shape.size()));
    weft::Expr condition = ask(first);
    if (random_.chance(30)) condition = random_.chance(50) ? logical_and(condition, ask(first)) : logical_or(condition, ask(first));
    const bool picks = random_.chance(50);
    const NodeId zero = graph_.constant(weft::Scalar::of(node(yes).dtype, std::int64_t{0})).id();
    const std::vector<weft::Operand> twice{{yes, all}, {yes, all}};
    const NodeId other = picks ? zero : graph_.apply(is_boolean(node(yes).dtype) ? Op::logical_xor : Op::multiply, node(yes).dtype, shape, twice);
    NodeId made = graph_.apply(Op::where, node(yes).dtype, shape, {{condition.id(), {{static_cast<int>(first), 0, 1}}}, {yes, all}, {other, picks ? weft::AxisMap{} : all}});
    const auto second = static_cast<std::size_t>(random_.small(shape.size()));
    if (second != first && random_.chance(50)) {                 // a triangle
      const weft::Expr row = weft::iota(graph_, shape[first]) + random_.between(-3, 3), column = weft::iota(graph_, shape[second]);
      const NodeId below = graph_.apply(random_.pick({Op::less, Op::less_equal, Op::greater, Op::greater_equal}), weft::bool_, {shape[first], shape[second]},
                                        {{row.id(), {{0, 0, 1}}}, {column.id(), {{1, 0, 1}}}});
      made = graph_.apply(Op::where, node(yes).dtype, shape, {{below, {{static_cast<int>(first), 0, 1}, {static_cast<int>(second), 0, 1}}}, {made, all}, {zero, {}}});
    } else if (random_.chance(30)) {
      made = graph_.apply(Op::where, node(yes).dtype, shape, {{ask(second).id(), {{static_cast<int>(second), 0, 1}}}, {zero, {}}, {made, all}});
    }
    return keep(made);
  }

  NodeId add_update() {
    const NodeId window = any_value();
    weft::AxisMap places;
    weft::Shape domain;
    std::vector<int> axes(node(window).shape().size());
    for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(k);
    if (random_.chance(25)) random_.shuffle(axes);
    const bool within = random_.chance(30);                      // what lands outside is left out
    const bool whole_rows = random_.chance(25);                  // of all axes but the first
    for (int axis : axes) {
      const Extent e = node(window).domain[static_cast<std::size_t>(axis)];
      if (within) {
        const Index step = random_.pick<Index>({1, 1, 1, -1});
        domain.push_back(random_.pick(pool_));
        places.push_back({axis, Extent(random_.between(-4, 4)) + (random_.chance(30) ? Extent(step) * e : Extent(0)), step, true});
        continue;
      }
      const bool is_whole = whole_rows && axis != axes.front();
      weft::AxisRef ref{axis, 0, is_whole ? 1 : random_.pick<Index>({1, 1, 1, -1, 2, -2})};
      const Index before = is_whole ? 0 : random_.between(0, 2), after = is_whole ? 0 : random_.between(0, 2), size = value(e);
      Extent whole = size == 0 ? Extent(before + after) : Extent(std::abs(ref.step)) * (e - 1) + 1 + before + after;
      if (value(whole) < 0) whole = before + after;
      ref.start = ref.step > 0 ? Extent(before) : whole - (after + 1);
      domain.push_back(whole);
      places.push_back(ref);
    }
    if (!within && random_.chance(25) && static_cast<int>(domain.size()) < max_rank_) {
      const Extent extra = random_.pick(pool_);
      const auto at = random_.between(0, static_cast<Index>(domain.size()));
      if (value(extra) > 0) {
        domain.insert(domain.begin() + at, extra);
        places.insert(places.begin() + at, {-1, random_index(extra), 1});
      }
    }
    if (volume(domain) > recipe_.max_volume) return window;
    weft::Node update;
    update.kind = weft::Kind::update;
    update.dtype = node(window).dtype;
    update.kept = static_cast<int>(domain.size());
    update.domain = domain;
    update.payload = places;
    return keep(graph_.add(update, {{window, weft::identity_map(node(window).kept)}}));
  }
};
