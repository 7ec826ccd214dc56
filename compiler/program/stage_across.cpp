#include "stage_across.h"

#include <algorithm>
#include <utility>

#include "loop_choices.h"
#include "schedule/cost_model.h"
#include "split_root.h"
#include "staged_rows.h"
#include "visit.h"

namespace weft {
namespace {

class Stager : private StagedRows {
 public:
  Stager(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine, bool past_caches)
      : StagedRows(program), choices_(program, classes, features), machine_(machine), past_caches_(past_caches) {}

  void run() {
    if (program_.block > 0) return run_in_blocks();
    rows_ = loop_of_rows();
    if (!rows_) return;
    find(*rows_, {});
    if (rows_ == &program_.root && !has_pixels()) find_pixels_backwards();
    if (!stage(*rows_)) return;
    if (rows_ == &program_.root) split();
    else split_rows();
  }

 private:
  // Rows of what is there in blocks anyway.
  void run_in_blocks() {
    Loop& blocks = loop_of_blocks();
    find(blocks, {});
    std::erase_if(staged_, [&](const Staged& s) { return s.few >= 0 || loops_with(blocks, s) < 2; });
    if (stage(blocks)) blocks.body = with_copies(std::move(blocks.body));
  }
  Loop& loop_of_blocks() {
    for (Item& item : program_.root.body)
      if (auto* inner = std::get_if<Loop>(&item); inner && inner->mark == Mark::block) return *inner;
    return program_.root;
  }

  // Whether anything is: then the loops in `loop` read and write rows.
  bool stage(Loop& loop) {
    std::erase_if(staged_, [&](const Staged& s) { return reads_of(program_.root, s.buffer) > 0 && writes_of(program_.root, s.buffer) > 0; });
    if (staged_.empty() || bytes() > bytes_that_pay()) return false;
    use_rows(loop);
    return true;
  }
  // The loop over rows, one at a time: the root, or that of its units; null if there is a better way to run sixteen at once.
  Loop* loop_of_rows() {
    Loop& root = program_.root;
    if (root.mark != Mark::units || program_.block > 0 || program_.axis(root_axis_).hint < lane_count) return nullptr;
    if (root.var.part == Part::element) return root.folds.empty() && (!runs_together(root) || is_better_staged(root)) ? &root : nullptr;
    const auto is_tiled_row = [&](const Buffer& buffer) { return buffer.place == Place::row && std::find(buffer.axes.begin(), buffer.axes.end(), root_axis_) != buffer.axes.end(); };
    if (std::any_of(program_.buffers.begin(), program_.buffers.end(), is_tiled_row)) return nullptr;       // as long as a unit
    Loop* only = nullptr;
    for (Item& item : root.body)
      if (auto* inner = std::get_if<Loop>(&item)) {
        if (only || inner->mark != Mark::serial || inner->var.axis != root_axis_) return nullptr;
        only = inner;
      }
    return only && !runs_together(*only) ? only : nullptr;
  }
  bool runs_together(const Loop& loop) const { return choices_.together(loop, choices_.outer_of(loop)) != LoopChoices::Together::none; }

  // In tiles or squares, which write sixteen rows side by side: past the caches that is better.
  bool is_better_staged(const Loop& loop) const {
    const LoopChoices::Outer outer = choices_.outer_of(loop);
    const LoopChoices::Together how = choices_.together(loop, outer);
    const bool side_by_side = how == LoopChoices::Together::tiles || how == LoopChoices::Together::squares;
    return side_by_side && !past_caches_ && choices_.stages_operands(loop, outer, machine_.first_level_ways);
  }

  void find(const Loop& loop, std::vector<int> outside) {
    if (loop.mark == Mark::lanes) {
      if (loop.var.axis == root_axis_) return;
      for (const Item& item : loop.body) {
        const auto access = access_of(item);
        if (!access) continue;
        const int few = few_of(*access, loop.var.axis, outside);
        if (few >= 0 || choices_.lies_across(item, root_axis_, loop.var.axis) != 0) add(*access, loop.var.axis, few, outside);
      }
      return;
    }
    if (loop.var.axis != root_axis_) outside.push_back(loop.var.axis);
    for (const Item& item : loop.body)
      if (auto* inner = std::get_if<Loop>(&item)) find(*inner, outside);
  }

  bool has_pixels() const {
    return std::any_of(staged_.begin(), staged_.end(), [](const Staged& s) { return s.few >= 0; });
  }

  // Arrays whose pixels run backwards along the root, as where a picture is turned by a quarter: from the other end of it they run forwards.
  void find_pixels_backwards() {
    if (!reads_backwards(program_.root, root_axis_) || !can_turn_round(program_.root, root_axis_)) return;
    Loop turned = program_.root;
    turn_round(turned, root_axis_, program_.axis(root_axis_).extent);
    std::vector<Staged> before = std::exchange(staged_, {});
    find(turned, {});
    if (has_pixels()) program_.root = std::move(turned);
    else staged_ = std::move(before);
  }

  // What may be staged: a load that is not guarded, or a store.
  struct Access {
    int buffer;
    const std::vector<Subscript>& at;
    bool is_result;
  };
  static std::optional<Access> access_of(const Item& item) {
    if (auto* store = std::get_if<Store>(&item)) return Access{store->buffer, store->at, true};
    auto* load = std::get_if<Load>(&item);
    return load && !load->guarded ? std::optional(Access{load->buffer, load->at, false}) : std::nullopt;
  }

  // Of an array that lies across the vectors, the loop whose few elements lie side by side for each of the root's, and these behind each other.
  int few_of(const Access& access, int lanes, const std::vector<int>& outside) const {
    if (!choices_.is_apart(access.buffer, access.at, lanes)) return -1;
    const auto found = std::find_if(outside.begin(), outside.end(), [&](int axis) { return choices_.joins(access.buffer, access.at, axis, root_axis_); });
    return found == outside.end() ? -1 : *found;
  }

  void add(const Access& access, int lanes, int few, const std::vector<int>& outside) {
    Staged s;
    s.is_result = access.is_result;
    s.buffer = access.buffer;
    s.at = access.at;
    s.few = few;
    s.axes.push_back(root_axis_);
    if (few >= 0) s.axes.push_back(few);
    for (int axis : outside)
      if (axis != few && std::any_of(s.at.begin(), s.at.end(), [&](const Subscript& at) { return at.axis == axis; })) s.axes.push_back(axis);
    s.axes.push_back(lanes);
    const auto holds_same = [&](const Staged& other) { return other.buffer == s.buffer && other.at == s.at; };
    if (std::none_of(staged_.begin(), staged_.end(), holds_same)) staged_.push_back(std::move(s));
  }

  static int loops_with(const Loop& loop, const Staged& s) {
    int count = 0;
    bool is_here = false;
    for (const Item& item : loop.body) {
      if (auto* inner = std::get_if<Loop>(&item)) count += loops_with(*inner, s);
      else if (const auto access = access_of(item)) is_here |= access->is_result == s.is_result && access->buffer == s.buffer && access->at == s.at;
    }
    return count + is_here;
  }

  double bytes() const {
    double sum = 0;
    for (const Staged& s : staged_) {
      double row = static_cast<double>(rows_at_once()) * static_cast<double>(size_of(program_.buffer(s.buffer).dtype));
      for (std::size_t k = 1; k < s.axes.size(); ++k) row *= static_cast<double>(std::max<Index>(1, program_.axis(s.axes[k]).hint));
      sum += row;
    }
    return sum;
  }

  // Single elements of pixels cost more than rows that leave the second level: planes of 4320 x 300 pixels of three floats to pixels .17 ns a byte,
  // .08 by way of rows (Zen 5).
  double bytes_that_pay() const {
    return has_pixels() ? machine_.third_level_bytes / 4 : machine_.second_level_bytes / 2;
  }

  static std::vector<Item> alone(Loop loop) {
    std::vector<Item> items;
    items.emplace_back(std::move(loop));
    return items;
  }

  // The root runs through units of sixteen.
  void split() {
    split_root(program_, lane_count);
    auto& body = program_.root.body;
    Loop rows = std::move(std::get<Loop>(body.back()));
    body.pop_back();
    for (Item& item : with_copies(alone(std::move(rows)))) body.push_back(std::move(item));
  }

  // The rows of a unit run in blocks, and what is folded over them runs on through these.
  void split_rows() {
    Loop rows = std::move(*rows_);
    Loop& blocks = *rows_;
    blocks = {};
    blocks.mark = Mark::block;
    blocks.var = {root_axis_, Part::block};
    blocks.folds = std::exchange(rows.folds, {});
    blocks.body = with_copies(alone(std::move(rows)));
    program_.block = lane_count;
  }

  const LoopChoices choices_;
  const Machine& machine_;
  const bool past_caches_;
  Loop* rows_ = nullptr;
};

}  // namespace

void stage_across(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine, bool past_caches) {
  Stager(program, classes, features, machine, past_caches).run();
}

}  // namespace weft
