#include "recurrence.h"

#include <algorithm>

#include <weft/grad.h>

#include "maps.h"
#include "needed.h"
#include "scalar_graphs.h"
#include "text/print.h"

namespace weft {
namespace {

// The states themselves, as what a recurrence finishes as.
Graph identity_finish(const std::vector<DType>& dtypes) {
  Graph graph("finish");
  for (const Expr& state : add_inputs(graph, "s", dtypes)) graph.outputs.push_back(state.id());
  return graph;
}

// A recurrence node and its parts.
class Parts {
 public:
  Parts(Graph& graph, NodeId id) : graph_(graph), id_(id), node_(graph.node(id)), recurring_(std::get<Recurring>(node_.payload)), recurrence_(*recurring_.recurrence) {
    operands_ = operands_of(graph, id);
    for (const Scalar& start : recurrence_.start) states_.push_back(start.dtype());
    for (std::size_t k = recurrence_.states(); k < recurrence_.step.inputs.size(); ++k) elements_.push_back(recurrence_.step.node(recurrence_.step.inputs[k]).dtype);
    for (std::size_t k = 0; k < states_.size(); ++k)
      if (is_floating(states_[k])) smooth_.push_back(k);
    if (scans()) carried_ = recurring_.axes;
    else
      for (int axis = node_.kept; axis < static_cast<int>(node_.domain.size()); ++axis) carried_.push_back(axis);
    if (recurring_.backwards)
      for (Operand& operand : operands_) operand = backwards(operand);             // over elements in visiting order
  }
  bool scans() const { return node_.mode == Mode::scan; }
  std::size_t emission() const { return recurrence_.states() + static_cast<std::size_t>(recurring_.output); }

  std::vector<std::optional<Operand>> adjoints(const Operand& g, const std::vector<bool>& wanted);
  NodeId tangent(const std::vector<std::optional<Operand>>& tangents);

 private:
  // The step's outputs become the states before it.
  std::shared_ptr<const Recurrence> before() const {
    auto made = std::make_shared<Recurrence>();
    made->name = recurrence_.name + "_before";
    made->start = recurrence_.start;
    made->step.name = "step";
    std::vector<Expr> inputs = add_inputs(made->step, "s", states_);
    const std::vector<Expr> states = inputs, elements = add_inputs(made->step, "x", elements_);
    inputs.insert(inputs.end(), elements.begin(), elements.end());
    const std::vector<Expr> outputs = inlined(made->step, recurrence_.step, inputs);
    for (std::size_t k = 0; k < states_.size(); ++k) made->step.outputs.push_back(outputs[k].id());
    for (const Expr& state : states) made->step.outputs.push_back(state.id());
    made->finish = identity_finish(states_);
    return made;
  }

  // Both read backwards along the axes that carry the states.
  AxisMap flip() const { return reversed_map(node_.domain, carried_); }
  Operand backwards(const Operand& operand) const { return {operand.node, compose(operand.map, flip())}; }

  // Whether an element is the first one that is visited, as a node over the axes that carry.
  Operand is_first() {
    Operand result;
    for (std::size_t k = 0; k < carried_.size(); ++k) {
      const Extent& extent = node_.domain[static_cast<std::size_t>(carried_[k])];
      const Expr here = iota(graph_, extent) == 0;
      const Operand own{here.id(), {AxisRef{carried_[k], 0, 1}}};
      result = k == 0 ? own : apply_over_mentioned(graph_, Op::logical_and, bool_, node_.domain, {result, own});
    }
    return result;
  }

  // The cotangents of the last states, over the kept axes; absent: zero.
  std::vector<std::optional<Operand>> through_finish(const Operand& g);

  Graph& graph_;
  const NodeId id_;
  const Node node_;                                            // copies: the graph grows
  const Recurring recurring_;
  const Recurrence& recurrence_;
  std::vector<Operand> operands_;
  std::vector<DType> states_, elements_;
  std::vector<std::size_t> smooth_;                            // the states that have derivatives
  std::vector<int> carried_;
};

std::vector<std::optional<Operand>> Parts::through_finish(const Operand& g) {
  std::vector<std::optional<Operand>> result(smooth_.size());
  Graph back("finish");
  const std::vector<Expr> states = add_inputs(back, "s", states_);
  const Expr cotangent = back.input("g0", node_.dtype, {});
  const Expr value = inlined(back, recurrence_.finish, states)[static_cast<std::size_t>(recurring_.output)];
  std::vector<Expr> xs;
  for (std::size_t k : smooth_) xs.push_back(states[k]);
  for (const Expr& gradient : vjp({value}, xs, {cotangent}, Disconnected::zero)) back.outputs.push_back(gradient.id());
  // The last states, where the derivative reads them.
  auto lasts = std::make_shared<Recurrence>();
  lasts->name = recurrence_.name + "_states";
  lasts->start = recurrence_.start;
  std::vector<bool> used;
  lasts->step = pruned(recurrence_.step, recurrence_.step.inputs.size(), used);
  lasts->finish = identity_finish(states_);
  const Shape kept(node_.domain.begin(), node_.domain.begin() + node_.kept);
  const std::vector<bool> needed = needed_by(back, back.outputs);
  std::vector<Operand> inputs;
  for (std::size_t k = 0; k < states_.size(); ++k) {
    inputs.emplace_back();
    if (!needed[back.inputs[k].value]) continue;
    inputs.back() = {recur_fold(graph_, lasts, static_cast<int>(k), node_.domain, node_.kept, operands_, node_.order).id(), identity_map(node_.kept)};
  }
  inputs.push_back(g);
  const std::vector<Operand> outputs = everywhere(graph_, back, inputs, kept);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const Node& node = graph_.node(outputs[k].node);
    const bool zero = node.kind == Kind::constant && node.domain.empty() && std::get<Scalar>(node.payload).is_zero();
    if (!zero) result[k] = outputs[k];
  }
  return result;
}

std::vector<std::optional<Operand>> Parts::adjoints(const Operand& g, const std::vector<bool>& wanted) {
  std::vector<std::optional<Operand>> result(operands_.size());
  std::vector<std::size_t> asked;
  for (std::size_t p = 0; p < wanted.size(); ++p)
    if (wanted[p] && is_floating(elements_[p])) asked.push_back(p);
  if (asked.empty()) return result;
  // One step backwards, on scalars: (cotangents of the states; what is read..) -> (cotangents of the states before; of the elements).
  auto back = std::make_shared<Recurrence>();
  back->name = recurrence_.name + "_backwards";
  Graph step("step");
  std::vector<DType> smooth;
  for (std::size_t k : smooth_) smooth.push_back(states_[k]), back->start.push_back(Scalar::of(states_[k], 0.0));
  if (smooth.empty()) smooth.push_back(f64), back->start.push_back(Scalar(0.0));   // a scan of what has no memory
  std::vector<Expr> cotangents = add_inputs(step, "s", smooth);
  std::vector<Operand> read;                                   // operands for the elements, backwards
  if (!scans()) {
    const auto last = through_finish(g);
    const Expr first = step.input("first", bool_, {});
    read.push_back(is_first());
    for (std::size_t k = 0; k < smooth_.size(); ++k) {
      if (!last[k]) continue;
      const Expr from_finish = step.input("last" + std::to_string(k), smooth[k], {});
      cotangents[k] = where(first, from_finish, cotangents[k]);
      read.push_back(*last[k]);
    }
  }
  std::vector<Expr> states = add_inputs(step, "state", states_), elements = add_inputs(step, "x", elements_);
  const std::size_t first_state = step.inputs.size() - states_.size() - elements_.size();
  std::vector<Expr> inputs = states;
  inputs.insert(inputs.end(), elements.begin(), elements.end());
  std::vector<Expr> xs, seeds, ys;
  for (std::size_t k : smooth_) xs.push_back(states[k]);
  for (std::size_t p : asked) xs.push_back(elements[p]);
  const std::vector<Expr> outputs = inlined(step, recurrence_.step, inputs);
  for (std::size_t k = 0; k < smooth_.size(); ++k) ys.push_back(outputs[smooth_[k]]), seeds.push_back(cotangents[k]);
  if (scans()) {
    ys.push_back(outputs[emission()]);
    seeds.push_back(step.input("g", node_.dtype, {}));
  }
  std::vector<Expr> gradients;
  if (recurrence_.gradient) {
    // The user's (states.., elements.., cotangents of the new states..) -> (cotangents of states.., of elements..).
    if (scans()) {                                              // what the emission adds to the cotangents of the new states
      Graph emitted("emitted");
      const std::vector<Expr> next = add_inputs(emitted, "s", states_);
      const Expr cotangent = emitted.input("g", node_.dtype, {});
      std::vector<Expr> smooth_next;
      for (std::size_t k : smooth_) smooth_next.push_back(next[k]);
      for (const Expr& each : vjp({inlined(emitted, recurrence_.finish, next)[static_cast<std::size_t>(recurring_.output)]}, smooth_next, {cotangent}, Disconnected::zero))
        emitted.outputs.push_back(each.id());
      std::vector<Expr> at(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(states_.size()));
      at.push_back(seeds.back());
      const std::vector<Expr> added = inlined(step, emitted, at);
      for (std::size_t k = 0; k < smooth_.size(); ++k) seeds[k] = seeds[k] + added[k];
    }
    std::vector<Expr> arguments = inputs;
    arguments.insert(arguments.end(), seeds.begin(), seeds.begin() + static_cast<std::ptrdiff_t>(smooth_.size()));
    const std::vector<Expr> given = inlined(step, *recurrence_.gradient, arguments);
    gradients.assign(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(smooth_.size()));
    std::size_t position = smooth_.size();
    for (std::size_t p = 0; p < elements_.size(); ++p) {
      if (!is_floating(elements_[p])) continue;
      if (wanted[p]) gradients.push_back(given[position]);
      ++position;
    }
  } else {
    gradients = vjp(ys, xs, seeds, Disconnected::zero);
  }
  for (std::size_t k = 0; k < smooth_.size(); ++k) step.outputs.push_back(gradients[k].id());
  if (smooth_.empty()) step.outputs.push_back(cotangents[0].id());
  for (std::size_t k = smooth_.size(); k < gradients.size(); ++k) step.outputs.push_back(gradients[k].id());

  // What is not read is not an element.
  std::vector<bool> used;
  back->step = pruned(step, smooth.size(), used);
  back->finish = identity_finish(smooth);
  const auto states_before = before();
  std::vector<Operand> kept;
  for (std::size_t k = smooth.size(); k < step.inputs.size(); ++k) {
    if (!used[k]) continue;
    const std::size_t p = k - smooth.size();
    if (k < first_state) kept.push_back(read[p]);               // already in the order of visiting, or over kept axes
    else if (k < first_state + states_.size())
      kept.push_back(backwards({recur_scan(graph_, states_before, static_cast<int>(k - first_state), node_.domain, carried_, operands_, node_.order).id(),
                                identity_map(static_cast<int>(node_.domain.size()))}));
    else if (k < first_state + states_.size() + elements_.size()) kept.push_back(backwards(operands_[k - first_state - states_.size()]));
    else kept.push_back(recurring_.backwards ? g : backwards(g));
  }
  const AxisMap visited = recurring_.backwards ? identity_map(static_cast<int>(node_.domain.size())) : flip();
  for (std::size_t k = 0; k < asked.size(); ++k)
    result[asked[k]] = Operand{recur_scan(graph_, back, static_cast<int>(k), node_.domain, carried_, kept, node_.order).id(), visited};
  return result;
}

// The states and their tangents run side by side.
NodeId Parts::tangent(const std::vector<std::optional<Operand>>& tangents) {
  auto dual = std::make_shared<Recurrence>();
  dual->name = recurrence_.name + "_tangent";
  dual->start = recurrence_.start;
  std::vector<DType> all = states_, moved;
  for (std::size_t k : smooth_) dual->start.push_back(Scalar::of(states_[k], 0.0)), all.push_back(states_[k]);
  std::vector<Operand> operands = operands_of(graph_, id_);
  for (std::size_t p = 0; p < tangents.size(); ++p)
    if (tangents[p]) moved.push_back(elements_[p]), operands.push_back(*tangents[p]);
  dual->step.name = "step";
  const std::vector<Expr> states = add_inputs(dual->step, "s", all), elements = add_inputs(dual->step, "x", elements_), along = add_inputs(dual->step, "t", moved);
  std::vector<Expr> inputs(states.begin(), states.begin() + static_cast<std::ptrdiff_t>(states_.size())), xs, ts(states.begin() + static_cast<std::ptrdiff_t>(states_.size()), states.end());
  for (std::size_t k : smooth_) xs.push_back(states[k]);
  std::size_t next = 0;
  for (std::size_t p = 0; p < tangents.size(); ++p)
    if (tangents[p]) xs.push_back(elements[p]), ts.push_back(along[next++]);
  inputs.insert(inputs.end(), elements.begin(), elements.end());
  const std::vector<Expr> outputs = inlined(dual->step, recurrence_.step, inputs);
  std::vector<Expr> ys;
  for (std::size_t k : smooth_) ys.push_back(outputs[k]);
  if (scans()) ys.push_back(outputs[emission()]);
  const std::vector<Expr> moved_outputs = jvp(ys, xs, ts, Disconnected::zero);
  for (std::size_t k = 0; k < states_.size(); ++k) dual->step.outputs.push_back(outputs[k].id());
  for (const Expr& each : moved_outputs) dual->step.outputs.push_back(each.id());
  dual->finish.name = "finish";
  const std::vector<Expr> last = add_inputs(dual->finish, "s", all);
  const std::vector<Expr> own(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(states_.size())), dots(last.begin() + static_cast<std::ptrdiff_t>(states_.size()), last.end());
  std::vector<Expr> smooth_last;
  for (std::size_t k : smooth_) smooth_last.push_back(own[k]);
  const Expr value = inlined(dual->finish, recurrence_.finish, own)[scans() ? 0 : static_cast<std::size_t>(recurring_.output)];
  if (!scans() && !smooth_last.empty()) dual->finish.outputs.push_back(jvp({value}, smooth_last, dots, Disconnected::zero)[0].id());
  else if (!scans()) dual->finish.outputs.push_back(dual->finish.constant(Scalar::of(node_.dtype, 0.0)).id());
  else dual->finish.outputs.push_back(value.id());
  if (scans()) return recur_scan(graph_, dual, 0, node_.domain, carried_, operands, node_.order, recurring_.backwards).id();
  return recur_fold(graph_, dual, 0, node_.domain, node_.kept, operands, node_.order).id();
}

}  // namespace

std::vector<std::optional<Operand>> recurrence_adjoints(Graph& graph, NodeId id, const Operand& g, const std::vector<bool>& wanted) {
  return Parts(graph, id).adjoints(g, wanted);
}
NodeId recurrence_tangent(Graph& graph, NodeId id, const std::vector<std::optional<Operand>>& tangents) { return Parts(graph, id).tangent(tangents); }

}  // namespace weft
