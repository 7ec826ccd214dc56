#include "join_results.h"

#include <algorithm>
#include <utility>

#include "schedule/cost_model.h"
#include "rows.h"
#include "visit.h"

namespace weft {
namespace {

class ResultJoiner {
 public:
  ResultJoiner(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine)
      : program_(program), choices_(program, classes, features), machine_(machine) {}

  void run() { visit(program_.root); }

 private:
  void visit(Loop& loop) {
    for (std::size_t k = 0; k < loop.body.size(); ++k) {
      auto* few = std::get_if<Loop>(&loop.body[k]);
      if (!few) continue;
      visit(*few);
      if (few->mark != Mark::serial || program_.is_tiled(few->var.axis) || !few->folds.empty() || runs_in_registers(*few)) continue;
      std::vector<Item> before = take_operands(*few), after = take_results(*few);
      const auto at = loop.body.begin() + static_cast<std::ptrdiff_t>(k);
      k += before.size() + after.size();
      loop.body.insert(loop.body.insert(at + 1, std::make_move_iterator(after.begin()), std::make_move_iterator(after.end())) - 1, std::make_move_iterator(before.begin()), std::make_move_iterator(before.end()));
    }
  }

  bool runs_in_registers(const Loop& loop) const { return choices_.together(loop, choices_.outer_of(loop)) == LoopChoices::Together::thin; }

  // The vector loops of this one store to rows instead; returns the loops that bring these where they belong.
  std::vector<Item> take_results(Loop& few) {
    std::vector<Item> copies;
    for (Item& item : few.body) {
      auto* lanes = std::get_if<Loop>(&item);
      if (!lanes || lanes->mark != Mark::lanes) continue;
      for (Item& inner : lanes->body)
        if (auto* store = std::get_if<Store>(&inner); store && is_worth_it(*store, few, *lanes)) copies.emplace_back(by_way_of_a_row(*store, few.var, lanes->var));
    }
    return copies;
  }

  // Vector loops of this one that load the same operand load it from a row instead; returns the loops that bring operands there.
  std::vector<Item> take_operands(Loop& few) {
    struct Operand {
      Load load;
      const Loop* lanes;
      std::vector<Load*> uses;
    };
    std::vector<Operand> operands;
    for (Item& item : few.body) {
      auto* lanes = std::get_if<Loop>(&item);
      if (!lanes || lanes->mark != Mark::lanes) continue;
      for (Item& inner : lanes->body) {
        auto* load = std::get_if<Load>(&inner);
        if (!load || load->guarded || !is_worth_it(*load, few, *lanes)) continue;
        auto operand = std::find_if(operands.begin(), operands.end(), [&](const Operand& known) { return known.load.buffer == load->buffer && known.load.at == load->at; });
        if (operand == operands.end()) operand = operands.insert(operands.end(), {*load, lanes, {}});
        operand->uses.push_back(load);
      }
    }
    std::vector<Item> copies;
    for (const Operand& operand : operands) {
      if (operand.uses.size() < 2) continue;
      const LoopVar& lanes = operand.lanes->var;
      const int row = add_row(operand.load.buffer, few.var, lanes);
      for (Load* load : operand.uses) *load = Load{load->result, row, index_in_row(few.var, lanes)};
      copies.emplace_back(copy_of(operand.load.buffer, operand.load.at, row, index_in_row(few.var, lanes), few.var, lanes));
    }
    return copies;
  }
  bool is_worth_it(const Load& load, const Loop& few, const Loop& lanes) const {
    const Place place = program_.buffer(load.buffer).place;
    constexpr Index picked = 4;                            // up to so many elements apart lanes are picked from vectors about as fast
    return program_.axis(few.var.axis).extent.constant() > picked && (place == Place::argument || place == Place::temporary) && writes_of(program_.root, load.buffer) == 0 && fits(load.buffer, load.at, few, lanes);
  }
  // Not where the result is read, or written elsewhere: that would have to stay in order.
  bool is_worth_it(const Store& store, const Loop& few, const Loop& lanes) const {
    return program_.buffer(store.buffer).place == Place::result && reads_of(program_.root, store.buffer) == 0 && writes_of(program_.root, store.buffer) == 1 && fits(store.buffer, store.at, few, lanes);
  }
  // Whether an array has few elements of one loop for each of the other's, without a gap, and a row of all of them stays near.
  bool fits(int number, const std::vector<Subscript>& at, const Loop& few, const Loop& lanes) const {
    const Buffer& buffer = program_.buffer(number);
    if (!choices_.joins(number, at, few.var.axis, lanes.var.axis)) return false;
    const Extent& extent = program_.axis(few.var.axis).extent;
    const Index elements = program_.is_tiled(lanes.var.axis) ? program_.unit : program_.axis(lanes.var.axis).hint;
    return extent.constant() <= fold_slots && static_cast<double>(extent.constant() * elements) * static_cast<double>(size_of(buffer.dtype)) <= machine_.second_level_bytes / 2;
  }

  Loop by_way_of_a_row(Store& store, const LoopVar& few, const LoopVar& lanes) {
    const int row = add_row(store.buffer, few, lanes);
    const Store kept = std::exchange(store, {row, index_in_row(few, lanes), store.value});
    return copy_of(row, store.at, kept.buffer, kept.at, few, lanes);
  }

  int add_row(int buffer, const LoopVar& few, const LoopVar& lanes) {
    const std::vector<int> axes{few.axis, lanes.axis};
    Shape extents;
    for (int axis : axes) extents.push_back(program_.is_tiled(axis) ? Extent(program_.unit) : program_.axis(axis).extent);
    return weft::add_row(program_, buffer, axes, std::move(extents));
  }
  static std::vector<Subscript> index_in_row(const LoopVar& few, const LoopVar& lanes) { return {{few.axis, 0, 1}, {lanes.axis, 0, 1}}; }

  Loop copy_of(int from, const std::vector<Subscript>& from_at, int to, const std::vector<Subscript>& to_at, const LoopVar& few, const LoopVar& lanes) {
    return copying(program_, from, from_at, to, to_at, {few, lanes});
  }

  Program& program_;
  const LoopChoices choices_;
  const Machine& machine_;
};

}  // namespace

void join_results(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine) {
  ResultJoiner(program, classes, features, machine).run();
}

}  // namespace weft
