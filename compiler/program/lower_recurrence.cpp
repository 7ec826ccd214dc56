// Recurrences: one chain of states for all that do the same, opened by the outermost loop that carries it. A state is a
// register, or a row where loops over kept axes run inside that loop. The step's ops become ordinary items of the body. Along vectors the state is
// what an accumulator has so far (schedule/running.h).
#include <weft/recurrence.h>
#include <weft/text.h>

#include "../../graph/needed.h"
#include "lowering.h"
#include "schedule/cost_model.h"
#include "schedule/running.h"

namespace weft {
namespace {

const Recurring& recurring_of(const Node& node) { return std::get<Recurring>(node.payload); }

}  // namespace

std::vector<int> Lowering::carried_axes_of(int place) const {
  const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
  std::vector<int> axes;
  for (int axis : carried_axes(graph_.node(placed.node)))
    if (const int own = placed.axes[static_cast<std::size_t>(axis)]; own >= 0) axes.push_back(own);
  return axes;
}

// Whether the states of a recurrence live as long as this loop: the outermost one over an axis that carries them.
bool Lowering::carries(int place, int loop) const {
  const std::vector<int> axes = carried_axes_of(place);
  const auto is_carried = [&](int candidate) {
    return std::find(axes.begin(), axes.end(), placement_.loops[static_cast<std::size_t>(candidate)].level->var.axis) != axes.end();
  };
  if (axes.empty() || !is_carried(loop) || !placement_.encloses(loop, placement_.home[static_cast<std::size_t>(place)])) return false;
  for (int outer = placement_.loops[static_cast<std::size_t>(loop)].parent; outer >= 0; outer = placement_.loops[static_cast<std::size_t>(outer)].parent)
    if (is_carried(outer)) return false;
  return true;
}

bool Lowering::same_chain(int a, int b) const {
  const Placed &left = nest_.nodes[static_cast<std::size_t>(a)], &right = nest_.nodes[static_cast<std::size_t>(b)];
  if (placement_.home[static_cast<std::size_t>(a)] != placement_.home[static_cast<std::size_t>(b)] || carried_axes_of(a) != carried_axes_of(b)) return false;
  const Recurrence &first = *recurring_of(graph_.node(left.node)).recurrence, &second = *recurring_of(graph_.node(right.node)).recurrence;
  if (&first != &second && !(first.start == second.start && same(first.step, second.step))) return false;
  if (graph_.arity(left.node) != graph_.arity(right.node)) return false;
  for (int p = 0; p < graph_.arity(left.node); ++p)
    if (graph_.operand(left.node, p) != graph_.operand(right.node, p) || subscripts(left, p) != subscripts(right, p))
      return false;
  return true;
}

// The recurrences that the loop being opened carries.
void Lowering::open_chain(int place) {
  const int loop = frames_.back().index;
  for (Chain& chain : chains_)
    if (chain.loop == loop && same_chain(chain.places[0], place)) {
      chain.places.push_back(place);
      chain_of_[static_cast<std::size_t>(place)] = static_cast<int>(&chain - chains_.data());
      return;
    }
  const Placed& placed = nest_.nodes[static_cast<std::size_t>(place)];
  std::vector<int> row_axes = axes_below(placed, loop);
  for (int axis : carried_axes_of(place)) std::erase(row_axes, axis);
  Chain chain;
  chain.places = {place};
  chain.loop = loop;
  chain.is_running = frames_.back().loop.mark == Mark::lanes;
  for (const Scalar& start : recurring_of(graph_.node(placed.node)).recurrence->start) {
    Fold fold;
    fold.node = placed.node;
    fold.dtype = start.dtype();
    fold.axis = frames_.back().loop.var.axis;
    fold.start = start;
    if (chain.is_running) fold.accumulator = *running_accumulator(graph_.node(placed.node));
    fold.row_axes = row_axes;
    if (!fold.row_axes.empty()) fold.row = new_row(Place::row, placed.node, start.dtype(), fold.row_axes);
    chain.folds.push_back(static_cast<int>(program_.folds.size()));
    frames_.back().loop.folds.push_back(chain.folds.back());
    program_.folds.push_back(std::move(fold));
  }
  chain_of_[static_cast<std::size_t>(place)] = static_cast<int>(chains_.size());
  chains_.push_back(std::move(chain));
}

// The outputs of a graph of scalars, as items of a frame; `wanted`: which of them, all the others stay empty. `running`: the fold that the first
// output is the value of after each element; no input is what it was before.
std::vector<Arg> Lowering::inline_graph(const Graph& graph, const std::vector<Arg>& inputs, const std::vector<bool>& wanted, Frame& frame, int running) {
  std::vector<NodeId> asked;
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k]) asked.push_back(graph.outputs[k]);
  const std::vector<bool> needed = needed_by(graph, asked);
  std::vector<Arg> values(graph.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) values[graph.inputs[k].value] = inputs[k];
  for (std::size_t k = 0; k < graph.size(); ++k) {
    const Node& node = graph.node(id_of(k));
    if (!needed[k] || node.kind == Kind::input) continue;
    if (node.kind == Kind::constant) {
      values[k] = {-1, std::get<Scalar>(node.payload)};
      continue;
    }
    std::vector<Arg> args;
    for (int p = 0; p < graph.arity(id_of(k)); ++p) args.push_back(values[graph.operand(id_of(k), p).value]);
    values[k] = {new_value(node.dtype), {}};
    if (running >= 0 && id_of(k) == graph.outputs[0]) {
      const bool state_first = graph.operand(id_of(k), 0) == graph.inputs[0];
      frame.loop.body.emplace_back(Accumulate{running, args[state_first ? 1 : 0], {}, values[k].value});
      frame.loop.weight += running_instructions;
      continue;
    }
    frame.loop.body.emplace_back(Compute{values[k].value, node.op, std::move(args)});
    frame.loop.weight += op_cost(node.op);
  }
  std::vector<Arg> outputs(wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k]) outputs[k] = values[graph.outputs[k].value];
  return outputs;
}

std::vector<Arg> Lowering::read_states(const Chain& chain, Frame& frame) {
  std::vector<Arg> states;
  for (int index : chain.folds) {
    const Fold& fold = program_.fold(index);
    states.push_back({new_value(fold.dtype), {}});
    if (fold.row < 0) frame.loop.body.emplace_back(ReadState{index, states.back().value});
    else frame.loop.body.emplace_back(Load{states.back().value, fold.row, follow(fold.row_axes), false});
    frame.loop.weight += 1;
  }
  return states;
}

// One element: the step, once for all recurrences of the chain.
void Lowering::step_chain(Chain& chain) {
  Frame& frame = frames_.back();
  const Placed& placed = nest_.nodes[static_cast<std::size_t>(chain.places[0])];
  const Recurrence& recurrence = *recurring_of(graph_.node(placed.node)).recurrence;
  std::vector<Arg> inputs = chain.is_running ? std::vector<Arg>(1) : read_states(chain, frame);
  if (chain.loop < 0)
    for (const Scalar& start : recurrence.start) inputs.push_back({-1, start});
  for (int p = 0; p < graph_.arity(placed.node); ++p) inputs.push_back(operand(placed, p));
  std::vector<bool> wanted(recurrence.step.outputs.size(), false);
  std::fill(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(recurrence.states()), true);
  for (int place : chain.places) {
    const Node& node = graph_.node(nest_.nodes[static_cast<std::size_t>(place)].node);
    if (node.mode == Mode::scan) wanted[recurrence.states() + static_cast<std::size_t>(recurring_of(node).output)] = true;
  }
  chain.now = inline_graph(recurrence.step, inputs, wanted, frames_.back(), chain.is_running ? chain.folds[0] : -1);
  if (chain.is_running) return;
  for (std::size_t k = 0; k < chain.folds.size(); ++k) {
    const Fold& fold = program_.fold(chain.folds[k]);
    if (fold.row < 0) frames_.back().loop.body.emplace_back(WriteState{chain.folds[k], chain.now[k]});
    else frames_.back().loop.body.emplace_back(Store{fold.row, follow(fold.row_axes), chain.now[k]});
  }
}

void Lowering::run_recurrence(int place) {
  int& number = chain_of_[static_cast<std::size_t>(place)];
  if (number < 0) {                                             // one element and no loop
    number = static_cast<int>(chains_.size());
    chains_.emplace_back();
    chains_.back().places = {place};
  }
  const auto index = static_cast<std::size_t>(number);
  if (chains_[index].now.empty()) {
    Chain chain = chains_[index];                               // operands may be recurrences too
    step_chain(chain);
    chains_[index] = std::move(chain);
  }
  const Node& node = graph_.node(nest_.nodes[static_cast<std::size_t>(place)].node);
  const Chain& chain = chains_[index];
  const Recurring& recurring = recurring_of(node);
  if (node.mode == Mode::scan) {
    store_or_keep(place, chain.now[recurring.recurrence->states() + static_cast<std::size_t>(recurring.output)]);
  } else if (chain.loop < 0) {
    const std::vector<Arg> last(chain.now.begin(), chain.now.begin() + static_cast<std::ptrdiff_t>(recurring.recurrence->states()));
    store_or_keep(place, finish_as(place, last, frames_.back()));
  }
}

Arg Lowering::finish_as(int place, const std::vector<Arg>& states, Frame& frame) {
  const Recurring& recurring = recurring_of(graph_.node(nest_.nodes[static_cast<std::size_t>(place)].node));
  const Graph& finish = recurring.recurrence->finish;
  std::vector<bool> wanted(finish.outputs.size(), false);
  wanted[static_cast<std::size_t>(recurring.output)] = true;
  return inline_graph(finish, states, wanted, frame)[static_cast<std::size_t>(recurring.output)];
}

// The loop that carries the chain has ended: what its last states finish as.
void Lowering::close_chain(Chain chain) {
  if (chain.is_running) return;
  std::vector<Arg> last;
  if (program_.fold(chain.folds[0]).row < 0)
    for (int index : chain.folds) {
      Fold& fold = program_.folds[static_cast<std::size_t>(index)];
      fold.result = new_value(fold.dtype);
      last.push_back({fold.result, {}});
    }
  for (int place : chain.places) {
    const auto k = static_cast<std::size_t>(place);
    const NodeId id = nest_.nodes[k].node;
    if (graph_.node(id).mode == Mode::scan) continue;
    if (!last.empty()) {
      store_or_keep(place, finish_as(place, last, frames_.back()));
    } else if (schedule_.stored[id.value] || placement_.kept[k]) {
      over_row(program_.fold(chain.folds[0]).row_axes, [&] {
        const std::vector<Arg> states = read_states(chain, frames_.back());
        store_or_keep(place, finish_as(place, states, frames_.back()));
      });
    }
  }
}

// The value of a fold whose states are in rows, where nothing else keeps it.
Arg Lowering::finished_from_rows(int place) {
  const Chain& chain = chains_[static_cast<std::size_t>(chain_of_[static_cast<std::size_t>(place)])];
  Frame& frame = frame_of(program_.fold(chain.folds[0]).row_axes);
  const Arg value = finish_as(place, read_states(chain, frame), frame);
  frame.values[nest_.nodes[static_cast<std::size_t>(place)].node] = value;
  return value;
}

}  // namespace weft
