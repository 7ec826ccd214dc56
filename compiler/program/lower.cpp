// Schedule -> Program: walks the loops of a nest and asks for values where they are needed.
#include "lowering.h"
#include "share_rows.h"

namespace weft {

Lowering::Lowering(const Graph& graph, const Schedule& schedule, const Nest& nest, std::string name)
    : graph_(graph), schedule_(schedule), nest_(nest), placement_(place_values(graph, schedule, nest)), fold_of_(nest.nodes.size(), -1), chain_of_(nest.nodes.size(), -1) {
  program_.name = std::move(name);
  program_.axes = nest.axes;
  program_.unit = nest.unit;
  program_.block = nest.block;
  if (nest.distribution.loops > 0) program_.vectors = vectors_of_distributed(nest.distribution.body);
}

Program Lowering::run() {
  for (std::size_t k = 0; k < nest_.nodes.size(); ++k) {
    const Node& node = graph_.node(nest_.nodes[k].node);
    if (node.kind == Kind::recurrence) recurrence_places_.push_back(static_cast<int>(k));
    if (const int fold = node.kind == Kind::others ? total_of(static_cast<int>(k)) : -1; fold >= 0) totals_[static_cast<int>(k)] = fold;
  }
  for (std::size_t k = 0; k < nest_.nodes.size(); ++k) {
    const auto is_this = [&](const auto& total) { return total.second == static_cast<int>(k); };
    const Node& node = graph_.node(nest_.nodes[k].node);
    if (node.kind == Kind::apply && node.mode == Mode::accumulate && std::none_of(totals_.begin(), totals_.end(), is_this)) fold_places_.push_back(static_cast<int>(k));
  }
  program_.root = lower_loop(nest_.root);
  return std::move(program_);
}

Loop Lowering::lower_loop(const Level& level) {
  frames_.emplace_back();
  frames_.back().index = placement_.loop_of.at(&level);
  frames_.back().loop.var = level.var;
  frames_.back().loop.mark = level.var.axis < 0 ? Mark::once : frames_.size() == 1 ? Mark::units : level.var.part == Part::block ? Mark::block : level.lanes ? Mark::lanes : Mark::serial;
  const int index = frames_.back().index;
  for (int place : fold_places_)
    if (ends_fold(place, index)) open_fold(place);
  for (int place : recurrence_places_)
    if (carries(place, index)) open_chain(place);
  for (const auto& item : level.body) {
    if (auto* inner = std::get_if<Level>(&item)) {
      Loop loop = lower_loop(*inner);
      if (loop.body.empty() && loop.folds.empty()) continue;          // what it made is computed elsewhere
      std::vector<int> closed = loop.folds;
      frames_.back().loop.body.emplace_back(std::move(loop));
      for (int fold : closed)
        if (!program_.fold(fold).start) close_fold(fold);
      for (std::size_t chain = 0; chain < chains_.size(); ++chain)
        if (chains_[chain].loop == placement_.loop_of.at(inner)) close_chain(chains_[chain]);
    } else {
      run_node(placement_.place_of.at(std::get<NodeId>(item)));
    }
  }
  Loop loop = std::move(frames_.back().loop);
  frames_.pop_back();
  if (level.backwards) turn_round(loop, level.var.axis, nest_.axes[static_cast<std::size_t>(level.var.axis)].extent);
  return loop;
}

void Lowering::run_node(int place) {
  const auto k = static_cast<std::size_t>(place);
  const Placed& placed = nest_.nodes[k];
  const Node& node = graph_.node(placed.node);
  if (!placement_.computed_in[k].contains(frames_.back().index)) return;
  if (node.kind == Kind::recurrence) return run_recurrence(place);
  if (node.kind == Kind::others) return run_others(place);
  if (node.mode == Mode::accumulate) {
    if (std::find(fold_places_.begin(), fold_places_.end(), place) == fold_places_.end()) return;       // a total
    return accumulate(placed, fold_of_[k]);
  }
  store_or_keep(place, compute(place, frames_.back()));
}

// A value made at the current iteration goes where its readers look for it.
void Lowering::store_or_keep(int place, const Arg& value) {
  const auto k = static_cast<std::size_t>(place);
  const Placed& placed = nest_.nodes[k];
  frames_.back().values[placed.node] = value;
  if (schedule_.stored[placed.node.value]) frames_.back().loop.body.push_back(Store{buffer_of(placed.node), own_subscripts(placed), value});
  else if (placement_.kept[k]) {
    const int row = kept_row(place);
    frames_.back().loop.body.push_back(Store{row, follow(program_.buffer(row).axes), value});
  }
}

int instructions_of(const Loop& loop) {
  int sum = loop.weight;
  for (const Item& item : loop.body)
    if (auto* inner = std::get_if<Loop>(&item)) sum += instructions_of(*inner);
  return sum;
}

int code_of(const Loop& loop) {
  int code = loop.weight + (loop.mark == Mark::lanes ? vector_loop_code : 0);
  for (const Item& item : loop.body)
    if (auto* inner = std::get_if<Loop>(&item)) code += code_of(*inner);
  return code;
}

Program lower(const Graph& graph, const Schedule& schedule, const Nest& nest, std::string name) {
  Program program = Lowering(graph, schedule, nest, std::move(name)).run();
  share_rows(program);
  return program;
}

}  // namespace weft
