// Random graphs: every kind of node, map, extent, dtype and fold that Graph::add takes, with the inputs of one call.
//
//   SeededSource random(seed);
//   RandomCase c = random_case(random, Recipe());         // the same seed gives the same case
//
// Nodes are made from the inside (Graph::apply, Graph::fold), since operators reach a part of what maps can say only. All
// indices are in bounds for the sizes of `inputs`; for other sizes a call may be refused.
#pragma once
#include <set>
#include <string>

#include <weft/elemwise.h>
#include <weft/graph.h>

#include "random_data.h"
#include "random_templates.h"

struct Recipe {
  std::vector<weft::DType> dtypes = {weft::bool_, weft::i32, weft::i64, weft::f32, weft::f64, weft::u8};
  int nodes = 12;                          // at most, templates not counted
  int max_rank = 5;
  weft::Index max_volume = 20000;          // of a node's domain
  bool transcendental = true;
  bool long_chains = true;
};

struct RandomCase {
  weft::Graph graph;
  std::vector<weft::Array> inputs;
  Data data = Data::small;
};

// Ops whose compiled bits may differ from libm's.
inline bool is_transcendental(weft::Op op, weft::DType dtype) {
  using weft::Op;
  switch (op) {
    case Op::exp: case Op::expm1: case Op::log: case Op::log1p: case Op::sin: case Op::cos: case Op::tan:
    case Op::tanh: case Op::sigmoid: case Op::softplus: case Op::erf: return true;
    case Op::power: return is_floating(dtype);
    default: return false;
  }
}
// Ops and folds that hand on an error of so many ULP as it is.
inline bool keeps_ulps(weft::Op op, std::size_t operand) {
  using weft::Op;
  return op == Op::copy || op == Op::stop_gradient || op == Op::negative || op == Op::abs || op == Op::maximum || op == Op::minimum ||
         op == Op::relu || op == Op::clip || (op == Op::where && operand > 0);
}

// How well the compiled value of each node can be compared: 0 exactly, 1 within a few ULP, 2 not at all.
inline std::vector<int> comparable(const weft::Graph& graph) {
  using namespace weft;
  std::vector<int> result(graph.size(), 0);
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    for (int p = 0; p < graph.arity(id_of(k)); ++p) {
      const int from = result[graph.operand(id_of(k), p).value];
      const bool kept = node.kind != Kind::apply || keeps_ulps(node.op, static_cast<std::size_t>(p));
      result[k] = std::max(result[k], from == 0 ? 0 : kept ? from : 2);
    }
    if (node.kind != Kind::apply) continue;
    if (is_transcendental(node.op, node.dtype)) result[k] = std::max(result[k], 1);
    const bool picks = node.accumulator == AccumulatorId::none || node.accumulator == AccumulatorId::max || node.accumulator == AccumulatorId::min;
    if (!picks && result[k] > 0) result[k] = 2;
  }
  return result;
}

class GraphMaker {
 public:
  GraphMaker(RandomSource& random, const Recipe& recipe) : random_(random), recipe_(recipe), graph_("random") {}

  RandomCase make() {
    choose_sizes();
    const auto inputs = random_.between(1, 3);
    for (int k = 0; k < inputs; ++k) add_input(random_.pick(recipe_.dtypes));
    const auto wanted = static_cast<std::size_t>(random_.between(1, recipe_.nodes));
    for (std::size_t k = 0; k < wanted; ++k) add_something();
    choose_outputs();
    bind_symbols();
    RandomCase result{std::move(graph_), {}, random_.pick({Data::small, Data::small, Data::reals, Data::special})};
    for (weft::NodeId id : result.graph.inputs) {
      const weft::Node& node = result.graph.node(id);
      result.inputs.push_back(random_array(random_, node.dtype, sizes_of(node.domain), result.data));
    }
    return result;
  }

 private:
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
  void choose_sizes() {
    const int profile = static_cast<int>(random_.pick({0, 0, 1, 1, 2, 2, 3, 4}));
    const auto count = random_.between(2, 4);
    for (int k = 0; k < count; ++k) {
      Index size = random_size(profile == 4 && k > 0 ? 5 : profile);
      if (profile == 3 && k > 1) size = random_size(1);
      if (random_.chance(40)) {
        const std::string symbol(1, "nmpq"[k]);
        bindings_[symbol] = size;
        pool_.emplace_back(symbol);
      } else {
        pool_.emplace_back(size);
      }
    }
    max_rank_ = static_cast<int>(random_.between(0, recipe_.max_rank));
    if (profile >= 2) max_rank_ = std::min(max_rank_, 3);
    if (max_rank_ == 0 && random_.chance(80)) max_rank_ = 2;
  }
  weft::Shape random_shape() {
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

  // ---- leaves
  NodeId add_input(weft::DType dtype) {
    return keep(graph_.input("x" + std::to_string(graph_.inputs.size()), dtype, random_shape(), random_.pick({weft::Order::c, weft::Order::f})));
  }
  NodeId add_constant(weft::DType dtype) { return graph_.constant(random_scalar(random_, dtype, Data::small)).id(); }
  NodeId add_leaf() {
    if (random_.chance(40)) {
      weft::Node iota;
      iota.kind = weft::Kind::iota;
      iota.dtype = weft::i64;
      do iota.domain = random_shape();
      while (iota.domain.empty() && (iota.domain.emplace_back(random_.pick(pool_)), false));
      iota.kept = static_cast<int>(iota.domain.size());
      return keep(graph_.add(iota));
    }
    if (random_.chance(40)) return keep(graph_.extent(random_.pick(pool_) + random_.between(0, 2)));
    weft::Dims dims;
    for (const Extent& extent : random_shape())
      if (extent.is_number()) dims.push_back(extent.constant());
    if (volume(weft::Shape(dims.begin(), dims.end())) > 64) dims.clear();
    const weft::DType dtype = random_.pick(recipe_.dtypes);
    return keep(graph_.constant(random_array(random_, dtype, dims, Data::small)));
  }

  // ---- operands
  NodeId any_value() {
    if (random_.chance(60)) return values_[values_.size() - 1 - random_.small(std::min<std::size_t>(values_.size(), 4))];
    return random_.pick(values_);
  }
  NodeId value_of(weft::DType dtype) {
    if (random_.chance(8)) return add_constant(dtype);
    for (int tries = 0; tries < 6; ++tries)
      if (const NodeId id = any_value(); node(id).dtype == dtype) return id;
    if (random_.chance(30)) return add_input(dtype);
    const NodeId from = any_value();
    return weft::cast(expr(from), dtype).id();
  }

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
      if (random_.chance(15)) {                                             // a slice or a flip
        ref.step = random_.pick<Index>({1, -1, -1, 2, -2, 3});
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

  // ---- ops
  weft::AccumulatorId random_accumulator(weft::DType dtype, bool is_empty) {
    using A = weft::AccumulatorId;
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
    const bool folds = random_.chance(fold_chance) || static_cast<int>(domain.size()) > max_rank_;
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

  NodeId apply(Op op, weft::DType operand_dtype, weft::DType dtype, int fold_chance) {
    const weft::OpInfo& row = weft::info(op);
    weft::Shape domain;
    std::vector<weft::Operand> operands;
    for (int p = 0; p < row.arity; ++p) {
      const bool condition = row.rule == weft::DTypeRule::select && p == 0;
      const NodeId id = p > 0 && random_.chance(8) && !condition && node(operands.back().node).dtype == operand_dtype
                            ? operands.back().node : value_of(condition ? weft::bool_ : operand_dtype);
      operands.push_back({id, random_map(id, domain)});
    }
    if (random_.chance(8)) {
      const Extent extra = random_.pick(pool_);
      if (may_grow(domain, extra)) domain.insert(domain.begin(), extra), shift_axes(operands);
    }
    return finish(op, dtype, domain, std::move(operands), fold_chance);
  }
  static void shift_axes(std::vector<weft::Operand>& operands) {
    for (weft::Operand& operand : operands)
      for (weft::AxisRef& ref : operand.map) ref.axis += ref.axis >= 0;
  }

  bool is_allowed(Op op, weft::DType dtype) const { return recipe_.transcendental || !is_transcendental(op, dtype); }

  NodeId add_op() {
    for (;;) {
      const weft::OpInfo& row = weft::op_table()[random_.small(weft::op_table().size())];
      const weft::DType dtype = random_.chance(70) ? node(any_value()).dtype : random_.pick(recipe_.dtypes);
      if (is_transcendental(row.op, weft::f64) && (!recipe_.transcendental || random_.chance(60))) continue;
      if (row.op == Op::cast) return apply(Op::cast, dtype, random_.pick(recipe_.dtypes), 15);
      std::vector<weft::DType> dtypes(static_cast<std::size_t>(row.arity), dtype);
      if (row.rule == weft::DTypeRule::select) dtypes[0] = weft::bool_;
      const auto result = weft::result_dtype(row.op, dtypes, dtype);
      if (result && is_allowed(row.op, dtype)) return apply(row.op, dtype, *result, 30);
    }
  }
  NodeId add_simple() {   // arithmetic is what most graphs consist of
    const weft::DType dtype = node(any_value()).dtype;
    if (is_boolean(dtype)) return apply(random_.pick({Op::logical_and, Op::logical_or, Op::copy}), dtype, dtype, 30);
    return apply(random_.pick({Op::add, Op::subtract, Op::multiply, Op::multiply, Op::maximum, Op::copy, Op::square}), dtype, dtype, 35);
  }

  NodeId add_update() {
    const NodeId window = any_value();
    weft::AxisMap places;
    weft::Shape domain;
    std::vector<int> axes(node(window).shape().size());
    for (std::size_t k = 0; k < axes.size(); ++k) axes[k] = static_cast<int>(k);
    if (random_.chance(25)) random_.shuffle(axes);
    for (int axis : axes) {
      const Extent e = node(window).domain[static_cast<std::size_t>(axis)];
      weft::AxisRef ref{axis, 0, random_.pick<Index>({1, 1, 1, -1, 2, -2})};
      const Index before = random_.between(0, 2), after = random_.between(0, 2), size = value(e);
      Extent whole = size == 0 ? Extent(before + after) : Extent(std::abs(ref.step)) * (e - 1) + 1 + before + after;
      if (value(whole) < 0) whole = before + after;
      ref.start = ref.step > 0 ? Extent(before) : whole - (after + 1);
      domain.push_back(whole);
      places.push_back(ref);
    }
    if (random_.chance(25) && static_cast<int>(domain.size()) < max_rank_) {
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

  void add_template() {
    std::vector<weft::Expr> values;
    for (NodeId id : values_) values.push_back(expr(id));
    for (const weft::Expr& e : GraphTemplates(random_, values, bindings_, recipe_.max_volume, recipe_.transcendental, recipe_.long_chains).make())
      if (e.rank() <= max_rank_ + 1 && volume(e.shape()) <= recipe_.max_volume) keep(e);
  }

  void add_something() {
    const auto choice = random_.small(100);
    if (choice < 42) add_op();
    else if (choice < 72) add_simple();
    else if (choice < 77) add_update();
    else if (choice < 83) add_leaf();
    else add_template();
  }

  void choose_outputs() {
    std::vector<NodeId> sinks;
    for (NodeId id : values_)
      if (graph_.user_count(id) == 0 && node(id).kind == weft::Kind::apply) sinks.push_back(id);
    while (sinks.size() > 4) sinks.erase(sinks.begin() + static_cast<std::ptrdiff_t>(random_.small(sinks.size())));
    if (sinks.empty() || random_.chance(20)) sinks.push_back(random_.pick(values_));
    if (random_.chance(5)) sinks.push_back(random_.pick(sinks));
    random_.shuffle(sinks);
    graph_.outputs = sinks;
  }
  // Every symbol is the extent of some input (G9).
  void bind_symbols() {
    std::set<std::string> bound;
    for (NodeId id : graph_.inputs)
      for (const Extent& extent : node(id).domain)
        for (const auto& [symbol, size] : bindings_)
          if (extent.is_symbol(symbol)) bound.insert(symbol);
    for (const auto& [symbol, size] : bindings_)
      if (!bound.contains(symbol)) graph_.input("size_" + symbol, weft::u8, {Extent(symbol)});
  }

  RandomSource& random_;
  Recipe recipe_;
  weft::Graph graph_;
  weft::Bindings bindings_;
  std::vector<Extent> pool_;
  std::vector<NodeId> values_;
  int max_rank_ = 2;
};

inline RandomCase random_case(RandomSource& random, const Recipe& recipe) { return GraphMaker(random, recipe).make(); }
