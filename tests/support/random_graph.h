// Random graphs: every kind of node, map, extent, dtype, fold and recurrence that Graph::add takes, and every rule system,
// with the inputs of one call.
//
//   SeededSource random(seed);
//   RandomCase c = random_case(random, Recipe());         // the same seed gives the same case
//
// Nodes are made from the inside (Graph::apply, Graph::fold), since operators reach a part of what maps can say only. All
// indices are in bounds for the sizes of `inputs`; for other sizes a call may be refused.
#pragma once
#include <weft/binding.h>
#include <weft/expr.h>

#include "../../graph/others.h"
#include "random_parts.h"
#include "random_rules.h"
#include "random_smooth.h"
#include "random_templates.h"
#include "random_windows.h"

struct RandomCase {
  weft::Graph graph;
  std::vector<weft::Array> inputs;
  Data data = Data::small;
  std::vector<std::pair<std::string, weft::NodeId>> features = {};     // where recurrences and rule systems took part
};

class GraphMaker : RandomWindows {
 public:
  GraphMaker(RandomSource& random, const Recipe& recipe) : RandomWindows(random, recipe) {}

  RandomCase make() {
    choose_sizes();
    choose_dtypes();
    const auto inputs = random_.between(1, 3);
    for (int k = 0; k < inputs; ++k) add_input(random_.pick(recipe_.dtypes));
    const auto wanted = static_cast<std::size_t>(random_.between(1, recipe_.nodes));
    for (std::size_t k = 0; k < wanted; ++k) add_something();
    choose_outputs();
    bind_symbols();
    RandomCase result{std::move(graph_), {}, recipe_.smooth ? Data::reals : random_.pick({Data::small, Data::small, Data::reals, Data::special})};
    for (weft::NodeId id : result.graph.inputs) {
      const weft::Node& node = result.graph.node(id);
      const auto target = target_array(node, bindings_);
      result.inputs.push_back(target ? *target : random_array(random_, node.dtype, sizes_of(node.domain), result.data, recipe_.smooth ? 0 : 10));
    }
    result.features = features_;
    return result;
  }

 private:
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

  // ---- ops
  NodeId value_of(weft::DType dtype) {
    if (random_.chance(8)) return add_constant(dtype);
    for (int tries = 0; tries < 6; ++tries)
      if (const NodeId id = any_value(); node(id).dtype == dtype) return id;
    if (random_.chance(30)) return add_input(dtype);
    const NodeId from = any_value();
    return weft::cast(expr(from), dtype).id();
  }

  NodeId apply(Op op, weft::DType operand_dtype, weft::DType dtype, int fold_chance) {
    const weft::OpInfo& row = weft::info(op);
    weft::Shape domain;
    std::vector<weft::Operand> operands;
    for (int p = 0; p < row.arity; ++p) {
      const bool condition = row.rule == weft::DTypeRule::select && p == 0;
      NodeId id = p > 0 && random_.chance(8) && !condition && node(operands.back().node).dtype == operand_dtype
                      ? operands.back().node : value_of(condition && !recipe_.smooth ? weft::bool_ : operand_dtype);
      if (recipe_.smooth) id = into_domain(op, p, expr(id), random_).id();
      if (op == Op::signbit || (op == Op::copysign && p == 1)) id = with_sign(id);
      operands.push_back({id, random_map(id, domain)});
    }
    if (random_.chance(8)) {
      const Extent extra = random_.pick(pool_);
      if (may_grow(domain, extra)) domain.insert(domain.begin(), extra), shift_axes(operands);
    }
    return finish(op, dtype, domain, std::move(operands), fold_chance);
  }
  // Which sign a computed NaN has depends on the order of operands that an instruction was given: where signs are read it is
  // a number.
  NodeId with_sign(NodeId id) {
    const bool computed = node(id).kind != weft::Kind::input && node(id).kind != weft::Kind::constant;
    return computed && is_floating(node(id).dtype) ? where(isnan(expr(id)), 1, expr(id)).id() : id;
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
      if (row.op == Op::cast) return apply(Op::cast, dtype, random_.pick(all_dtypes_), 15);
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

  // f64 with derivatives: ops without poles or steps at the values they get.
  void add_smooth() {
    const weft::Expr x = expr(value_of(weft::f64));
    const auto choice = random_.small(100);
    if (choice < 42) {
      const Op op = random_.pick(smooth_rows()).op;
      apply(op, weft::f64, weft::f64, 30);
    } else if (choice < 54) {
      apply(random_.pick({Op::add, Op::subtract, Op::multiply, Op::copy}), weft::f64, weft::f64, 40);
    } else if (choice < 58) {
      keep(power(x, random_.pick({2.0, 3.0})));
    } else if (choice < 60) {
      keep(remainder(x, 1.7) * sin(x * 3.6959913571644627));           // pi / 0.85: zero where it jumps
    } else if (choice < 67) {
      random_.chance(50) ? add_update() : add_reshape();
    } else if (choice < 77) {
      add_template();
    } else {
      add_feature();
    }
  }

  // Neighbours merge, axes split by what divides them for the sizes at hand, extents trade places.
  NodeId add_reshape() {
    const NodeId id = any_value();
    weft::Shape target = node(id).shape();
    for (Index turns = random_.between(1, 3); turns > 0; --turns) {
      const auto at = target.empty() ? std::size_t{0} : random_.small(target.size());
      const auto place = target.begin() + static_cast<std::ptrdiff_t>(at);
      if (target.size() > 1 && at + 1 < target.size() && random_.chance(50)) {
        *place = *place * place[1];
        target.erase(place + 1);
      } else if (random_.chance(20)) {
        random_.shuffle(target);
      } else if (static_cast<int>(target.size()) <= max_rank_) {
        const Index size = target.empty() ? 1 : value(*place), by = random_.pick<Index>({1, 2, 2, 3, 4});
        if (target.empty()) target.emplace_back(1);
        else if (size % by == 0) *place = floor_div(*place, by), target.insert(target.begin() + static_cast<std::ptrdiff_t>(at) + 1, Extent(by));
      }
    }
    return keep(reshape(expr(id), target, random_.pick({weft::Order::c, weft::Order::c, weft::Order::f})));
  }

  // The products of others along an axis of a value that fits, now and then read backwards.
  NodeId add_others() {
    const NodeId id = value_of(random_.pick({weft::f32, weft::f64}));
    const weft::Shape shape = node(id).shape();
    std::vector<int> axes;
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      if (weft::fits_others(node(id).dtype, shape[static_cast<std::size_t>(axis)])) axes.push_back(axis);
    if (axes.empty()) return id;
    const int axis = random_.pick(axes);
    weft::AxisMap map = weft::identity_map(static_cast<int>(shape.size()));
    const Extent& count = shape[static_cast<std::size_t>(axis)];
    if (random_.chance(20)) map[static_cast<std::size_t>(axis)] = {axis, count - 1, -1};
    return keep(weft::product_of_others(graph_, node(id).dtype, shape, axis, {id, map}, random_.pick({weft::Order::c, weft::Order::f})));
  }

  std::vector<weft::Expr> values_so_far() {
    std::vector<weft::Expr> values;
    for (NodeId id : values_)
      if (!recipe_.smooth || node(id).dtype == weft::f64) values.push_back(expr(id));
    return values;
  }
  bool is_small(const weft::Expr& e) const {
    return e.rank() <= max_rank_ + 1 && volume(e.shape()) <= recipe_.max_volume && (!recipe_.smooth || e.dtype() == weft::f64);
  }
  void add_template() {
    const std::vector<weft::Expr> values = values_so_far();
    for (const weft::Expr& e : GraphTemplates(random_, values, bindings_, recipe_.max_volume, recipe_.transcendental, recipe_.long_chains).make())
      if (is_small(e)) keep(e);
  }
  // What a template makes, if shapes and dtypes go together within some tries.
  template <class Make> void add_made(const Make& make) {
    const std::vector<weft::Expr> values = values_so_far();
    Made made;
    for (int tries = 0; tries < 4 && made.values.empty(); ++tries) {
      try {
        made = make(values);
      } catch (const weft::Error&) {        // they do not
      }
    }
    bindings_.insert(made.elements.begin(), made.elements.end());
    for (const weft::Expr& e : made.values)
      if (is_small(e)) features_.push_back({made.feature, keep(e)});
  }
  // A recurrence, or what one rule system says.
  void add_feature() {
    add_made([&](const std::vector<weft::Expr>& values) {
      if (random_.chance(40)) return RecurrenceTemplates(random_, values, bindings_, recipe_.max_volume, recipe_.smooth).make();
      return RuleTemplates(random_, values, bindings_, recipe_.max_volume, recipe_.smooth).make();
    });
  }

  void add_something() {
    if (recipe_.smooth) return add_smooth();
    if (recipe_.long_extents && random_.chance(25)) return add_template();
    if (recipe_.thin_windows && random_.chance(35)) return static_cast<void>(add_update());
    if (random_.chance(recipe_.long_extents ? 15 : 4)) return random_.chance(50) ? void(add_condition()) : void(add_update());
    const auto choice = random_.small(100);
    if (choice < 36) add_op();
    else if (choice < 58) add_simple();
    else if (choice < 63) add_update();
    else if (choice < 68) add_leaf();
    else if (choice < 71) add_reshape();
    else if (choice < 74) add_others();
    else if (choice < 82) add_template();
    else add_feature();
  }

  bool is_computed(weft::Kind kind) const {
    if (recipe_.smooth && (kind == weft::Kind::update || kind == weft::Kind::fit)) return true;
    return kind == weft::Kind::apply || kind == weft::Kind::recurrence || kind == weft::Kind::reshape || kind == weft::Kind::others;
  }
  void choose_outputs() {
    std::vector<NodeId> sinks;
    for (NodeId id : values_)
      if (graph_.user_count(id) == 0 && is_computed(node(id).kind)) sinks.push_back(id);
    while (sinks.size() > 4) sinks.erase(sinks.begin() + static_cast<std::ptrdiff_t>(random_.small(sinks.size())));
    if (sinks.empty() || (!recipe_.smooth && random_.chance(20))) sinks.push_back(random_.pick(values_));
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
      if (!bound.contains(symbol) && !weft::element_symbol(symbol)) graph_.input("size_" + symbol, weft::u8, {Extent(symbol)});
  }

  std::vector<std::pair<std::string, NodeId>> features_;
};

inline RandomCase random_case(RandomSource& random, const Recipe& recipe) { return GraphMaker(random, recipe).make(); }
