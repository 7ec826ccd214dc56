#include "stage_shared.h"

#include <algorithm>
#include <utility>

#include "schedule/cost_model.h"
#include "rows.h"
#include "split_root.h"
#include "visit.h"

namespace weft {
namespace {

class SharedStager {
 public:
  SharedStager(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine, int threads)
      : program_(program), choices_(program, classes, features), machine_(machine), threads_(threads), root_axis_(program.root.var.axis) {}

  void run() {
    Loop& root = program_.root;
    if (root.mark != Mark::units || program_.axis(root_axis_).hint < rows_worth_sharing || program_.block > 0) return;
    const bool by_element = root.var.part == Part::element;
    if (by_element) find(root, {});
    else
      for (Item& item : root.body)
        if (auto* inner = std::get_if<Loop>(&item); inner && inner->var.axis == root_axis_) find(*inner, {});
    const Index unit = by_element ? unit_of_copies(program_.axis(root_axis_).hint, threads_) : program_.unit;
    if (shared_.empty() || unit == 0 || (by_element && !root.folds.empty())) return;
    for (const Shared& shared : shared_)
      for (Load* load : shared.loads) *load = Load{load->result, shared.row, index_in_row(shared)};
    if (by_element) split_root(program_, unit);
    std::vector<Item> copies;
    for (const Shared& shared : shared_) copies.emplace_back(copy_of(shared));
    root.body.insert(root.body.begin(), std::make_move_iterator(copies.begin()), std::make_move_iterator(copies.end()));
  }

 private:
  // An array at one index, and what reads it.
  struct Shared {
    int buffer, row;
    std::vector<Subscript> at;
    std::vector<int> axes;                        // of the row: those of the loops outside, the vectors' last
    std::vector<Load*> loads;
  };

  // `loop`: over rows, or within such a loop; `path`: axes of the loops around, without the root's.
  void find(Loop& loop, std::vector<int> path) {
    if (loop.var.axis != root_axis_) path.push_back(loop.var.axis);
    const auto block = choices_.register_block(loop);
    const bool takes = takes_loads(loop, path);
    for (std::size_t k = 0; k < loop.body.size(); ++k) {
      auto* inner = std::get_if<Loop>(&loop.body[k]);
      if (!inner || (block && k == block->fold)) continue;      // which packs what its rows share
      if (inner->mark != Mark::lanes) find(*inner, path);
      else if (takes && inner->var.axis != root_axis_) take_loads(*inner, path);
    }
  }

  // Not where elements of the loop go side by side, in registers: but if they were transposed there for every row, for nothing else.
  bool takes_loads(const Loop& loop, const std::vector<int>& path) const {
    const LoopChoices::Outer outer = choices_.outer_of(loop);
    switch (choices_.together(loop, outer)) {
      case LoopChoices::Together::squares: return false;
      case LoopChoices::Together::thin: case LoopChoices::Together::tiles:
        return loop.var.axis != root_axis_ && std::all_of(outer.loops.begin(), outer.loops.end(), [&](const Loop* lanes) {
          return std::all_of(lanes->body.begin(), lanes->body.end(), [&](const Item& item) {
            auto* load = std::get_if<Load>(&item);
            return choices_.lies_across(item, loop.var.axis, lanes->var.axis) == 0 || (load && is_worth_it(*load, lanes->var.axis, path));
          });
        });
      default: return true;
    }
  }

  void take_loads(Loop& lanes, const std::vector<int>& path) {
    for (Item& item : lanes.body) {
      auto* load = std::get_if<Load>(&item);
      if (!load || !is_worth_it(*load, lanes.var.axis, path)) continue;
      auto shared = std::find_if(shared_.begin(), shared_.end(), [&](const Shared& each) { return each.buffer == load->buffer && each.at == load->at && each.axes.back() == lanes.var.axis; });
      if (shared == shared_.end()) shared = shared_.insert(shared_.end(), add(*load, lanes.var.axis, path));
      shared->loads.push_back(load);
    }
  }

  bool is_worth_it(const Load& load, int lanes, const std::vector<int>& path) const {
    const Place place = program_.buffer(load.buffer).place;
    if (load.guarded || (place != Place::argument && place != Place::temporary) || !choices_.is_far_apart(load.buffer, load.at, lanes)) return false;
    double bytes = static_cast<double>(size_of(program_.buffer(load.buffer).dtype));
    std::vector<int> seen;
    for (const Subscript& s : load.at) {
      const bool is_around = s.axis == lanes || std::find(path.begin(), path.end(), s.axis) != path.end();
      if (!(s == Subscript{s.axis}) || !is_around || std::find(seen.begin(), seen.end(), s.axis) != seen.end()) return false;
      seen.push_back(s.axis);
      bytes *= static_cast<double>(std::max<Index>(1, program_.axis(s.axis).hint));
    }
    return bytes <= machine_.second_level_bytes / 4 && writes_of(program_.root, load.buffer) == 0;
  }

  Shared add(const Load& load, int lanes, const std::vector<int>& path) {
    Shared shared{load.buffer, -1, load.at, {}, {}};
    const auto is_read_along = [&](int axis) { return std::any_of(load.at.begin(), load.at.end(), [&](const Subscript& s) { return s.axis == axis; }); };
    std::copy_if(path.begin(), path.end(), std::back_inserter(shared.axes), is_read_along);
    shared.axes.push_back(lanes);
    Shape extents;
    for (int axis : shared.axes) extents.push_back(program_.axis(axis).extent);
    shared.row = add_row(program_, load.buffer, shared.axes, apart_by_a_line(std::move(extents), program_.buffer(load.buffer).dtype));
    return shared;
  }

  static std::vector<Subscript> index_in_row(const Shared& shared) {
    std::vector<Subscript> at;
    for (int axis : shared.axes) at.push_back({axis});
    return at;
  }

  Loop copy_of(const Shared& shared) {
    std::vector<LoopVar> loops;
    for (int axis : shared.axes) loops.push_back({axis});
    return copying(program_, shared.buffer, shared.at, shared.row, index_in_row(shared), loops);
  }

  Program& program_;
  const LoopChoices choices_;
  const Machine& machine_;
  const int threads_;
  const int root_axis_;
  std::vector<Shared> shared_;
};

}  // namespace

void stage_shared(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine, int threads) {
  SharedStager(program, classes, features, machine, threads).run();
}

}  // namespace weft
