#include "join_results.h"

#include <algorithm>
#include <utility>

#include "schedule/cost_model.h"

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
      std::vector<Item> copies = take_results(*few);
      loop.body.insert(loop.body.begin() + static_cast<std::ptrdiff_t>(k) + 1, std::make_move_iterator(copies.begin()), std::make_move_iterator(copies.end()));
      k += copies.size();
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

  bool is_worth_it(const Store& store, const Loop& few, const Loop& lanes) const {
    const Buffer& buffer = program_.buffer(store.buffer);
    if (buffer.place != Place::result || !choices_.joins(store.buffer, store.at, few.var.axis, lanes.var.axis) || touches_elsewhere(program_.root, store)) return false;
    const Extent& extent = program_.axis(few.var.axis).extent;
    const Index elements = program_.is_tiled(lanes.var.axis) ? program_.unit : program_.axis(lanes.var.axis).hint;
    return extent.constant() <= fold_slots && static_cast<double>(extent.constant() * elements) * static_cast<double>(size_of(buffer.dtype)) <= machine_.second_level_bytes / 2;
  }

  // Reads of the result, and other writes: these would have to stay in order.
  static bool touches_elsewhere(const Loop& loop, const Store& store) {
    return std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
      if (auto* inner = std::get_if<Loop>(&item)) return touches_elsewhere(*inner, store);
      if (auto* load = std::get_if<Load>(&item)) return load->buffer == store.buffer;
      if (auto* others = std::get_if<Others>(&item)) return others->from == store.buffer || others->to == store.buffer;
      auto* other = std::get_if<Store>(&item);
      return other && other != &store && other->buffer == store.buffer;
    });
  }

  Loop by_way_of_a_row(Store& store, const LoopVar& few, const LoopVar& lanes) {
    const Buffer& result = program_.buffer(store.buffer);
    Buffer row;
    row.place = Place::row;
    row.node = result.node;
    row.dtype = result.dtype;
    row.axes = {few.axis, lanes.axis};
    for (int axis : row.axes) row.extents.push_back(program_.is_tiled(axis) ? Extent(program_.unit) : program_.axis(axis).extent);
    const int value = static_cast<int>(program_.values.size());
    program_.values.push_back(result.dtype);
    program_.buffers.push_back(std::move(row));
    const Store kept = std::exchange(store, {static_cast<int>(program_.buffers.size()) - 1, {{few.axis, 0, 1}, {lanes.axis, 0, 1}}, store.value});
    Loop copy, around;
    copy.mark = Mark::lanes;
    copy.var = lanes;
    copy.weight = 2;
    copy.body.emplace_back(Load{value, store.buffer, store.at});
    copy.body.emplace_back(Store{kept.buffer, kept.at, {value, {}}});
    around.var = few;
    around.body.emplace_back(std::move(copy));
    return around;
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
