#include "keep_transposed.h"

#include <algorithm>
#include <map>
#include <set>

#include "rows.h"
#include "schedule/cost_model.h"

namespace weft {
namespace {

// A load of an array that lies across, in a vector loop along the root.
struct Use {
  Loop* lanes;
  std::size_t item;                             // of the loop's body
  std::size_t within;                           // the item of the root that the loop is in
  bool is_whole;                                // visits every element of each unit: its index is the axes of the loops
  double repeats;                               // for each element of other loops around it; 1: of none
  bool along_rows, folds_rows;                  // in whole vectors, as it lies (along_rows.cpp); and folds over these rows
};

class Keeper {
 public:
  Keeper(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine)
      : program_(program), choices_(program, classes, features), machine_(machine), root_axis_(program.root.var.axis) {}

  void run() {
    Loop& root = program_.root;
    if (root.mark != Mark::units || root.var.part != Part::tile || program_.block > 0) return;
    for (std::size_t k = 0; k < root.body.size(); ++k) {
      if (auto* loop = std::get_if<Loop>(&root.body[k])) find(*loop, {}, k, false, false);
      else note_written(root.body[k]);
    }
    for (auto& [buffer, uses] : uses_) {
      const Use& first = uses.front();
      // Transposed often: those that take whole rows as they lie transpose nothing, or what they fold.
      const auto is_often = [](const Use& use) { return use.repeats >= repeats_worth_preparing && (!use.along_rows || use.folds_rows); };
      const bool are_often = std::any_of(uses.begin(), uses.end(), is_often);
      std::erase_if(uses, [&](const Use& use) { return &use != &first && ((use.within == first.within && !is_often(use)) || !same_dimension(first, use)); });
      if (!first.is_whole || written_.contains(buffer) || bytes_of_row(load_of(first)) > machine_.second_level_bytes / 4) continue;
      if (first.repeats == 1)                    // rows that its own loop has yet to write are none for what reads them there
        std::erase_if(uses, [&](const Use& use) { return &use != &first && use.within == first.within; });
      if (first.repeats == 1 && std::any_of(uses.begin() + 1, uses.end(), [](const Use& use) { return !use.along_rows; })) keep(uses);
      if (first.repeats > 1 && (elements_of_row(load_of(first)) >= worth_preparing || are_often)) prepare(uses);
    }
    for (auto before = prepared_.rbegin(); before != prepared_.rend(); ++before)
      root.body.insert(root.body.begin() + static_cast<std::ptrdiff_t>(before->first), std::move(before->second));
  }

 private:
  static Load& load_of(const Use& use) { return std::get<Load>(use.lanes->body[use.item]); }

  void note_written(const Item& item) {
    if (auto* store = std::get_if<Store>(&item)) written_.insert(store->buffer);
    if (auto* others = std::get_if<Others>(&item)) written_.insert(others->to);
  }

  void find(Loop& loop, std::vector<int> path, std::size_t within, bool along_rows, bool folds_rows) {
    if (loop.mark == Mark::lanes && loop.var.axis == root_axis_) {
      for (std::size_t k = 0; k < loop.body.size(); ++k) {
        note_written(loop.body[k]);
        const bool is_across = std::any_of(path.begin(), path.end(), [&](int axis) { return choices_.lies_across(loop.body[k], axis, root_axis_) != 0; });
        auto* load = std::get_if<Load>(&loop.body[k]);
        if (!load || !is_across) continue;
        std::vector<int> own = path;
        double repeats = 1;
        std::erase_if(own, [&](int axis) {
          if (std::any_of(load->at.begin(), load->at.end(), [&](const Subscript& s) { return s.axis == axis; })) return false;
          repeats *= static_cast<double>(std::max<Index>(2, program_.axis(axis).hint));
          return true;
        });
        uses_[load->buffer].push_back({&loop, k, within, is_whole(*load, own), repeats, along_rows, folds_rows});
      }
      return;
    }
    path.push_back(loop.var.axis);
    const LoopChoices::Outer outer = choices_.outer_of(loop);
    along_rows = choices_.together(loop, outer) == LoopChoices::Together::thin && choices_.runs_along_rows(loop, outer);
    for (Item& item : loop.body) {
      if (auto* inner = std::get_if<Loop>(&item)) find(*inner, path, within, along_rows, outer.folds_outer);
      else note_written(item);
    }
  }

  bool is_whole(const Load& load, std::vector<int> path) const {
    path.push_back(root_axis_);
    if (load.at.size() != path.size()) return false;
    for (std::size_t d = 0; d < load.at.size(); ++d) {
      const Subscript& s = load.at[d];
      const auto runs_along = [&](const Subscript& other) { return other.axis == s.axis; };
      if (s != Subscript{s.axis} || std::count(path.begin(), path.end(), s.axis) != 1 || std::count_if(load.at.begin(), load.at.end(), runs_along) != 1) return false;
      const Buffer& array = program_.buffer(load.buffer);
      if (s.axis != root_axis_ && !(array.extents[d] == program_.axis(s.axis).extent)) return false;      // a part of it
    }
    return true;
  }

  std::size_t root_dimension(const std::vector<Subscript>& at) const {
    return static_cast<std::size_t>(std::find(at.begin(), at.end(), Subscript{root_axis_}) - at.begin());
  }
  // Whether both run along the root in the same dimension of the array, and in no other.
  bool same_dimension(const Use& first, const Use& use) const {
    const auto& at = load_of(use).at;
    return root_dimension(at) == root_dimension(load_of(first).at) && std::count_if(at.begin(), at.end(), [&](const Subscript& s) { return s.axis == root_axis_; }) == 1;
  }

  double bytes_of_row(const Load& load) const {
    double bytes = static_cast<double>(program_.unit) * static_cast<double>(size_of(program_.buffer(load.buffer).dtype));
    for (const Subscript& s : load.at)
      if (s.axis != root_axis_) bytes *= static_cast<double>(std::max<Index>(1, program_.axis(s.axis).hint));
    return bytes;
  }

  double elements_of_row(const Load& load) const {
    return bytes_of_row(load) / (static_cast<double>(program_.unit) * static_cast<double>(size_of(program_.buffer(load.buffer).dtype)));
  }

  // The dimensions of the array in their order, but that of the root last.
  std::vector<Subscript> index_in_row(std::vector<Subscript> at) const {
    std::rotate(at.begin() + static_cast<std::ptrdiff_t>(root_dimension(at)), at.begin() + static_cast<std::ptrdiff_t>(root_dimension(at)) + 1, at.end());
    return at;
  }

  int add_row(const Load& load) {
    std::vector<int> axes;
    Shape extents;
    for (const Subscript& s : index_in_row(load.at)) {
      axes.push_back(s.axis);
      extents.push_back(s.axis == root_axis_ ? Extent(program_.unit) : program_.axis(s.axis).extent);
    }
    return weft::add_row(program_, load.buffer, std::move(axes), std::move(extents));
  }

  void read_row(const Use& use, int row) {
    Load& load = load_of(use);
    load.buffer = row;
    load.at = index_in_row(load.at);
  }

  // A loop of its own before them transposes the array, once.
  void prepare(const std::vector<Use>& uses) {
    const Load first = load_of(uses.front());
    const int row = add_row(first);
    for (const Use& use : uses) read_row(use, row);
    std::vector<LoopVar> loops;
    for (const Subscript& s : index_in_row(first.at)) loops.push_back({s.axis});
    Loop loop = copying(program_, first.buffer, first.at, row, index_in_row(first.at), loops);
    prepared_.emplace(uses.front().within, std::move(loop));
  }

  void keep(const std::vector<Use>& uses) {
    const Load first = load_of(uses.front());
    const int row = add_row(first);
    for (std::size_t k = 1; k < uses.size(); ++k) read_row(uses[k], row);
    auto& body = uses.front().lanes->body;
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(uses.front().item) + 1, Store{row, index_in_row(first.at), {first.result, {}}});
    for (auto& [buffer, others] : uses_)         // what stands behind it has moved
      for (Use& other : others)
        if (other.lanes == uses.front().lanes && other.item > uses.front().item) ++other.item;
  }

  Program& program_;
  const LoopChoices choices_;
  const Machine& machine_;
  const int root_axis_;
  std::map<int, std::vector<Use>> uses_;         // by buffer, in order
  std::multimap<std::size_t, Loop> prepared_;    // by the item of the root that they stand before
  std::set<int> written_;
};

}  // namespace

void keep_transposed(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine) { Keeper(program, classes, features, machine).run(); }

}  // namespace weft
