#include <weft/interpret.h>
#include <weft/recurrence.h>

#include <algorithm>

#include <weft/passes.h>
#include <weft/settle.h>

#include "scalar_graphs.h"

namespace weft {
namespace {

// One operand walked over a domain: the address at the origin, and how far one step along each domain axis goes, in bytes.
struct Walk {
  const std::byte* origin = nullptr;
  Dims steps;
};

Walk walk(const Array& value, const AxisMap& map, std::size_t rank, const Bindings& bindings) {
  Walk result{static_cast<const std::byte*>(value.data()), Dims(rank, 0)};
  for (std::size_t k = 0; k < map.size(); ++k) {
    const Index stride = value.strides()[k] * item_bytes(value.dtype());
    result.origin += map[k].start.evaluate(bindings) * stride;
    if (map[k].axis >= 0) result.steps[static_cast<std::size_t>(map[k].axis)] += map[k].step * stride;
  }
  return result;
}

// Calls visit(origins of all operands) for every index of axes [first, last) of the domain, the last one fastest.
template <class Visit>
void for_each_index(const Dims& sizes, const std::vector<Walk>& walks, std::size_t first, std::size_t last,
                    std::vector<const std::byte*> at, const Visit& visit) {
  for (std::size_t axis = first; axis < last; ++axis)
    if (sizes[axis] == 0) return;
  Dims index(sizes.size(), 0);
  for (;;) {
    visit(at);
    std::size_t axis = last;
    while (axis-- > first) {
      for (std::size_t p = 0; p < walks.size(); ++p) at[p] += walks[p].steps[axis];
      if (++index[axis] < sizes[axis]) break;
      for (std::size_t p = 0; p < walks.size(); ++p) at[p] -= walks[p].steps[axis] * sizes[axis];
      index[axis] = 0;
      if (axis == first) return;
    }
    if (first == last) return;
  }
}

// result = op over axes [first, |sizes|), dense.
void fill_box(OpLoop loop, const Dims& sizes, const std::vector<Walk>& walks, std::size_t first, const std::vector<const std::byte*>& at,
              std::byte* result, Index size) {
  if (first == sizes.size()) {
    const Index steps[3] = {0, 0, 0};
    return loop(1, at.data(), steps, result, size);
  }
  const std::size_t last = sizes.size() - 1;
  Index steps[3] = {0, 0, 0};
  for (std::size_t p = 0; p < walks.size(); ++p) steps[p] = walks[p].steps[last];
  for_each_index(sizes, walks, first, last, at, [&](const std::vector<const std::byte*>& line) {
    loop(sizes[last], line.data(), steps, result, size);
    result += sizes[last] * size;
  });
}

// result = sums of products along the last axis, over axes [first, |sizes| - 1), dense.
void fold_lines(DType dtype, const Dims& sizes, const std::vector<Walk>& walks, std::size_t first, const std::vector<const std::byte*>& at,
                std::byte* result, Index size) {
  const std::size_t last = sizes.size() - 1;
  for_each_index(sizes, walks, first, last, at, [&](const std::vector<const std::byte*>& line) {
    fold_products(dtype, line.front(), walks.front().steps[last], line.back(), walks.back().steps[last], sizes[last], result);
    result += size;
  });
}

// Folds a dense box over all its axes, the last one first; f16 and bf16 in f32, rounded once.
void fold_box(const Node& node, Dims sizes, const std::vector<std::byte>& box, std::byte* result) {
  const DType dtype = node.dtype, wide = is_floating(dtype) && size_of(dtype) == 2 ? f32 : dtype;
  const Index size = item_bytes(wide), count = element_count(sizes);
  std::vector<std::byte> values(static_cast<std::size_t>(std::max<Index>(count, 1) * size));
  const std::byte* from = box.data();
  const Index narrow = item_bytes(dtype);
  op_loop(Op::cast, dtype, wide)(count, &from, &narrow, values.data(), size);
  while (!sizes.empty()) {
    const Index length = sizes.back();
    sizes.pop_back();
    const Index lines = element_count(sizes);
    std::vector<std::byte> folded(static_cast<std::size_t>(std::max<Index>(lines, 1) * size));
    for (Index line = 0; line < lines; ++line)
      fold_values(node.accumulator, wide, values.data() + line * length * size, length, size, folded.data() + line * size);
    values = std::move(folded);
  }
  from = values.data();
  op_loop(Op::cast, wide, dtype)(1, &from, &size, result, narrow);
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, Bindings bindings, OpLoops loops) : graph_(graph), bindings_(std::move(bindings)), loops_(loops), values_(graph.size()) {}
  Array& value(NodeId id) { return values_[id.value]; }

  void evaluate_node(NodeId id) {
    const Node& node = graph_.node(id);
    switch (node.kind) {
      case Kind::input: return;   // set by the caller
      case Kind::constant:
        value(id) = node.rank() == 0 ? Array::scalar(std::get<Scalar>(node.payload)) : std::get<Array>(node.payload);
        return;
      case Kind::extent: value(id) = Array::scalar(Scalar::of(i64, std::get<Extent>(node.payload).evaluate(bindings_))); return;
      case Kind::iota: value(id) = iota(node); return;
      case Kind::apply: value(id) = apply(id, node); return;
      case Kind::reshape: value(id) = value(graph_.operand(id, 0)).copy(Order::c).reshape_view(sizes_of(node)); return;
      case Kind::fit: WEFT_ASSERT(false, "a fit is settled before it is interpreted"); return;
      case Kind::update: value(id) = update(value(graph_.operand(id, 0)), node); return;
      case Kind::recurrence: value(id) = recur(id, node); return;
      case Kind::others: value(id) = others(id, node); return;
    }
  }

 private:
  Dims sizes_of(const Node& node) const { return evaluate(node.domain, bindings_); }

  Array iota(const Node& node) const {
    Array result(i64, sizes_of(node));
    auto* values = result.View::data<Index>();
    const Index block = result.size() == 0 ? 1 : result.size() / result.shape()[0];
    for (Index k = 0; k < result.size(); ++k) values[k] = k / block;
    return result;
  }

  // The window's elements at their places in zeros.
  Array update(const Array& window, const Node& node) const {
    Array result(node.dtype, sizes_of(node));
    if (window.size() == 0) return result;
    const auto& map = std::get<AxisMap>(node.payload);
    View written = window;                                     // what lands inside
    auto* origin = static_cast<std::byte*>(result.data());
    Dims steps(window.shape().size(), 0);
    for (std::size_t k = 0; k < map.size(); ++k) {
      Index first = map[k].start.evaluate(bindings_);
      if (map[k].part) {
        const Index count = written.shape()[static_cast<std::size_t>(map[k].axis)], extent = result.shape()[k];
        const Index begin = std::max<Index>(0, map[k].step > 0 ? -first : first - extent + 1);
        const Index end = std::min(count, map[k].step > 0 ? extent - first : first + 1);
        if (begin >= end) return result;
        written = written.slice(map[k].axis, begin, end - begin);
        first += begin * map[k].step;
      }
      const Index stride = result.strides()[k];
      origin += first * stride * item_bytes(node.dtype);
      if (map[k].axis >= 0) steps[static_cast<std::size_t>(map[k].axis)] += map[k].step * stride;
    }
    copy_elements(written, View(origin, node.dtype, written.shape(), steps));
    return result;
  }

  // Element after element along the axes that carry the state, the last one fastest; all others in any order.
  Array recur(NodeId id, const Node& node) {
    const auto& recurring = std::get<Recurring>(node.payload);
    const Recurrence& recurrence = *recurring.recurrence;
    const bool scans = node.mode == Mode::scan;
    const Dims own = sizes_of(node);
    Array result(node.dtype, Dims(own.begin(), own.begin() + node.kept));
    std::vector<std::size_t> order;                            // outer axes, then those that carry
    const auto is_carried = [&](std::size_t axis) {
      return scans ? std::find(recurring.axes.begin(), recurring.axes.end(), static_cast<int>(axis)) != recurring.axes.end() : static_cast<int>(axis) >= node.kept;
    };
    for (std::size_t axis = 0; axis < own.size(); ++axis)
      if (!is_carried(axis)) order.push_back(axis);
    const std::size_t outer = order.size();
    for (int axis : recurring.axes) order.push_back(static_cast<std::size_t>(axis));
    for (std::size_t axis = static_cast<std::size_t>(node.kept); axis < own.size(); ++axis) order.push_back(axis);
    Dims sizes;
    for (std::size_t axis : order) sizes.push_back(own[axis]);
    std::vector<Walk> walks;
    std::vector<const std::byte*> origins;
    std::vector<DType> dtypes;
    const auto add = [&](Walk along, DType dtype) {
      Walk ordered{along.origin, {}};
      for (std::size_t axis : order) {
        const bool from_last = recurring.backwards && is_carried(axis) && own[axis] > 0;
        if (from_last) ordered.origin += along.steps[axis] * (own[axis] - 1);
        ordered.steps.push_back(from_last ? -along.steps[axis] : along.steps[axis]);
      }
      walks.push_back(ordered);
      origins.push_back(ordered.origin);
      dtypes.push_back(dtype);
    };
    for (int p = 0; p < graph_.arity(id); ++p) {
      const Array& operand = value(graph_.operand(id, p));
      add(walk(operand, graph_.map(id, p), own.size(), bindings_), operand.dtype());
    }
    add(walk(result, identity_map(node.kept), own.size(), bindings_), node.dtype);
    ScalarGraph step(recurrence.step, loops_), finish(recurrence.finish, loops_);
    const std::size_t states = recurrence.states(), output = static_cast<std::size_t>(recurring.output);
    for_each_index(sizes, walks, 0, outer, origins, [&](const std::vector<const std::byte*>& line) {
      std::vector<Scalar> inputs = recurrence.start;
      inputs.resize(recurrence.step.inputs.size());
      const auto place = [](const std::byte* at) { return const_cast<std::byte*>(at); };   // of the result, which is ours
      for_each_index(sizes, walks, outer, sizes.size(), line, [&](const std::vector<const std::byte*>& at) {
        for (std::size_t p = 0; p + states < inputs.size(); ++p) inputs[states + p] = Scalar::load(dtypes[p], at[p]);
        const std::vector<Scalar>& now = step(inputs);
        std::copy(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(states), inputs.begin());
        if (scans) now[states + output].store(place(at.back()));
      });
      inputs.resize(states);
      if (!scans) finish(inputs)[output].store(place(line.back()));
    });
    return result;
  }

  Array others(NodeId id, const Node& node) {
    const auto along = static_cast<std::size_t>(std::get<Along>(node.payload).axis);
    Dims sizes = sizes_of(node);
    Array result(node.dtype, sizes);
    const std::vector<Walk> walks{walk(value(graph_.operand(id, 0)), graph_.map(id, 0), sizes.size(), bindings_), walk(result, identity_map(node.kept), sizes.size(), bindings_)};
    const Index count = std::exchange(sizes[along], 1);
    for_each_index(sizes, walks, 0, sizes.size(), {walks[0].origin, walks[1].origin}, [&](const std::vector<const std::byte*>& at) {
      products_of_others(node.dtype, at[0], count, walks[0].steps[along], const_cast<std::byte*>(at[1]), walks[1].steps[along]);
    });
    return result;
  }

  Array apply(NodeId id, const Node& node) {
    const Dims sizes = sizes_of(node);
    const auto kept = static_cast<std::size_t>(node.kept);
    const int arity = graph_.arity(id);
    std::vector<Walk> walks;
    std::vector<const std::byte*> origins;
    for (int p = 0; p < arity; ++p) {
      walks.push_back(walk(value(graph_.operand(id, p)), graph_.map(id, p), sizes.size(), bindings_));
      origins.push_back(walks.back().origin);
    }
    const OpLoop loop = loops_(node.op, graph_.node(graph_.operand(id, arity - 1)).dtype, node.dtype);
    const Index size = item_bytes(node.dtype);
    Array result(node.dtype, Dims(sizes.begin(), sizes.begin() + node.kept));
    auto* to = static_cast<std::byte*>(result.data());
    if (kept == sizes.size()) {
      fill_box(loop, sizes, walks, 0, origins, to, size);
      return result;
    }
    const Dims folded(sizes.begin() + node.kept, sizes.end());
    const bool products = adds_products(node.accumulator, node.op, node.dtype);
    const Dims boxed(folded.begin(), folded.end() - (products ? 1 : 0));
    std::vector<std::byte> box(static_cast<std::size_t>(element_count(boxed) * size));
    for_each_index(sizes, walks, 0, kept, origins, [&](const std::vector<const std::byte*>& at) {
      if (products) fold_lines(node.dtype, sizes, walks, kept, at, box.data(), size);
      else fill_box(loop, sizes, walks, kept, at, box.data(), size);
      fold_box(node, boxed, box, to);
      to += size;
    });
    return result;
  }

  const Graph& graph_;
  Bindings bindings_;
  OpLoops loops_;
  std::vector<Array> values_;
};

std::vector<Expr> as_exprs(const Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<Expr> exprs;
  for (NodeId id : ids) exprs.emplace_back(const_cast<Graph&>(graph), id);       // handles: nothing is added
  return exprs;
}

std::vector<NodeId> ids_of(const std::vector<Expr>& exprs, const Graph* graph) {
  std::vector<NodeId> ids;
  for (const Expr& expr : exprs) {
    WEFT_REQUIRE(!expr.is_empty(), usage, "interpret: got an empty Expr");
    WEFT_REQUIRE(&expr.graph() == graph, usage, "interpret: ", expr.name(), " belongs to graph ", expr.graph().name, ", not to graph ", graph->name);
    ids.push_back(expr.id());
  }
  return ids;
}

}  // namespace

std::vector<Array> interpret(const Graph& graph, const std::vector<NodeId>& outputs, const std::vector<NodeId>& inputs,
                             const std::vector<Array>& arrays, const Bindings& extra, OpLoops loops) {
  const Bindings bindings = bind_symbols(graph, inputs, arrays, extra);
  check_inputs_given(graph, outputs, inputs);
  const std::vector<NodeId> live = live_nodes(graph, outputs);
  for (NodeId id : live)
    if (has_call_checks(graph, id)) check_at_call(graph, id, bindings);
  if (std::any_of(live.begin(), live.end(), [&](NodeId id) { return graph.node(id).kind == Kind::fit; })) {
    const Graph own = extract(graph, as_exprs(graph, inputs), as_exprs(graph, outputs));       // what else the graph holds need not settle
    return interpret(settle(own, bindings), own.outputs, own.inputs, arrays, extra, loops);
  }
  Interpreter interpreter(graph, bindings, loops);
  for (std::size_t k = 0; k < inputs.size(); ++k) interpreter.value(inputs[k]) = arrays[k];
  for (NodeId id : live) interpreter.evaluate_node(id);
  std::vector<Array> results;
  for (NodeId id : outputs) results.push_back(interpreter.value(id).copy(Order::c));
  return results;
}

std::vector<Array> interpret(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const std::vector<Array>& arrays, const Bindings& extra, OpLoops loops) {
  WEFT_REQUIRE(!outputs.empty(), usage, "interpret: expected at least one output");
  WEFT_REQUIRE(!outputs[0].is_empty(), usage, "interpret: got an empty Expr");
  const Graph* graph = &outputs[0].graph();
  return interpret(*graph, ids_of(outputs, graph), ids_of(inputs, graph), arrays, extra, loops);
}

}  // namespace weft
