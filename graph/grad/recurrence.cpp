#include "recurrence.h"

#include <algorithm>
#include <functional>

#include <weft/grad.h>

#include "maps.h"
#include "needed.h"
#include "node_parts.h"
#include "scalar_graphs.h"

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

  // One step backwards, on scalars: (carried cotangents of the states; what is read..) -> (cotangents of the states before; of the elements).
  struct StepBack {
    StepBack() = default;
    StepBack(const StepBack&) = delete;                        // Exprs point into it
    Graph graph{"step"};
    std::vector<DType> carried;
    std::vector<Expr> cotangents;                              // of the new states; the first step takes those that come through the finish
    std::vector<Expr> states, elements, outputs;               // of the step itself, inlined
    Expr emitted;                                              // the cotangent of what a scan emits
    std::vector<std::function<Operand()>> reads;               // by input behind the carried ones: over elements in reverse order; makes nodes when asked
  };
  void go_back(StepBack& back, const Operand& g);
  std::vector<Expr> derived_gradients(StepBack& back, const std::vector<std::size_t>& asked) const;     // of the smooth states, then of the elements asked for
  std::vector<Expr> given_gradients(StepBack& back, const std::vector<std::size_t>& asked) const;
  std::vector<Expr> through_emission(StepBack& back) const;

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
    const Scalar* number = scalar_of(graph_.node(outputs[k].node));
    if (!number || !number->is_zero()) result[k] = outputs[k];
  }
  return result;
}

void Parts::go_back(StepBack& back, const Operand& g) {
  const auto reads = [&](const Operand& operand) { back.reads.emplace_back([operand] { return operand; }); };
  for (std::size_t k : smooth_) back.carried.push_back(states_[k]);
  if (back.carried.empty()) back.carried.push_back(f64);       // a scan of what has no memory
  back.cotangents = add_inputs(back.graph, "s", back.carried);
  if (!scans()) {
    const auto last = through_finish(g);
    const Expr first = back.graph.input("first", bool_, {});
    reads(is_first());
    for (std::size_t k = 0; k < smooth_.size(); ++k) {
      if (!last[k]) continue;
      const Expr from_finish = back.graph.input("last" + std::to_string(k), back.carried[k], {});
      back.cotangents[k] = where(first, from_finish, back.cotangents[k]);
      reads(*last[k]);
    }
  }
  back.states = add_inputs(back.graph, "state", states_);
  for (std::size_t k = 0; k < states_.size(); ++k)
    back.reads.emplace_back([this, states_before = before(), k] {
      return backwards({recur_scan(graph_, states_before, static_cast<int>(k), node_.domain, carried_, operands_, node_.order).id(),
                        identity_map(static_cast<int>(node_.domain.size()))});
    });
  back.elements = add_inputs(back.graph, "x", elements_);
  for (const Operand& operand : operands_) reads(backwards(operand));
  if (scans()) {
    back.emitted = back.graph.input("g", node_.dtype, {});
    reads(recurring_.backwards ? g : backwards(g));
  }
  std::vector<Expr> inputs = back.states;
  inputs.insert(inputs.end(), back.elements.begin(), back.elements.end());
  back.outputs = inlined(back.graph, recurrence_.step, inputs);
}

std::vector<Expr> Parts::derived_gradients(StepBack& back, const std::vector<std::size_t>& asked) const {
  std::vector<Expr> xs, ys, seeds;
  for (std::size_t k = 0; k < smooth_.size(); ++k) {
    xs.push_back(back.states[smooth_[k]]);
    ys.push_back(back.outputs[smooth_[k]]);
    seeds.push_back(back.cotangents[k]);
  }
  for (std::size_t p : asked) xs.push_back(back.elements[p]);
  if (scans()) ys.push_back(back.outputs[emission()]), seeds.push_back(back.emitted);
  return vjp(ys, xs, seeds, Disconnected::zero);
}

// What the emission of a scan adds to the cotangents of the new states.
std::vector<Expr> Parts::through_emission(StepBack& back) const {
  Graph emission("emitted");
  const std::vector<Expr> next = add_inputs(emission, "s", states_);
  const Expr cotangent = emission.input("g", node_.dtype, {});
  std::vector<Expr> smooth_next;
  for (std::size_t k : smooth_) smooth_next.push_back(next[k]);
  const Expr value = inlined(emission, recurrence_.finish, next)[static_cast<std::size_t>(recurring_.output)];
  for (const Expr& each : vjp({value}, smooth_next, {cotangent}, Disconnected::zero)) emission.outputs.push_back(each.id());
  std::vector<Expr> at(back.outputs.begin(), back.outputs.begin() + static_cast<std::ptrdiff_t>(states_.size()));
  at.push_back(back.emitted);
  return inlined(back.graph, emission, at);
}

// The author's (states.., elements.., cotangents of the new states..) -> (cotangents of states.., of elements..).
std::vector<Expr> Parts::given_gradients(StepBack& back, const std::vector<std::size_t>& asked) const {
  std::vector<Expr> arguments = back.states;
  arguments.insert(arguments.end(), back.elements.begin(), back.elements.end());
  const std::vector<Expr> added = scans() ? through_emission(back) : std::vector<Expr>();
  for (std::size_t k = 0; k < smooth_.size(); ++k) arguments.push_back(scans() ? back.cotangents[k] + added[k] : back.cotangents[k]);
  const std::vector<Expr> given = inlined(back.graph, *recurrence_.gradient, arguments);    // states and elements are all floating
  std::vector<Expr> gradients(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(states_.size()));
  for (std::size_t p : asked) gradients.push_back(given[states_.size() + p]);
  return gradients;
}

std::vector<std::optional<Operand>> Parts::adjoints(const Operand& g, const std::vector<bool>& wanted) {
  std::vector<std::optional<Operand>> result(operands_.size());
  std::vector<std::size_t> asked;
  for (std::size_t p = 0; p < wanted.size(); ++p)
    if (wanted[p] && is_floating(elements_[p])) asked.push_back(p);
  if (asked.empty()) return result;
  StepBack step;
  go_back(step, g);
  const std::vector<Expr> gradients = recurrence_.gradient ? given_gradients(step, asked) : derived_gradients(step, asked);
  if (smooth_.empty()) step.graph.outputs.push_back(step.cotangents[0].id());
  for (const Expr& gradient : gradients) step.graph.outputs.push_back(gradient.id());

  auto back = std::make_shared<Recurrence>();
  back->name = recurrence_.name + "_backwards";
  for (DType dtype : step.carried) back->start.push_back(Scalar::of(dtype, 0.0));
  std::vector<bool> used;
  back->step = pruned(step.graph, step.carried.size(), used);
  back->finish = identity_finish(step.carried);
  std::vector<Operand> elements;                               // what is not read is not an element
  for (std::size_t k = 0; k < step.reads.size(); ++k)
    if (used[step.carried.size() + k]) elements.push_back(step.reads[k]());
  const AxisMap visited = recurring_.backwards ? identity_map(static_cast<int>(node_.domain.size())) : flip();
  for (std::size_t k = 0; k < asked.size(); ++k)
    result[asked[k]] = Operand{recur_scan(graph_, back, static_cast<int>(k), node_.domain, carried_, elements, node_.order).id(), visited};
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
