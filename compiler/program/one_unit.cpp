#include "one_unit.h"

#include <algorithm>
#include <numeric>

#include "schedule/cost_model.h"
#include "share_rows.h"

namespace weft {
namespace {

bool merges(const Program& program) {
  return std::any_of(program.folds.begin(), program.folds.end(), [](const Fold& fold) { return fold.partial >= 0; });
}

std::vector<Subscript> at_target(const Fold& fold) {
  std::vector<Subscript> at;
  for (const int axis : fold.target_axes) at.push_back({axis, 0, 1});
  return at;
}

// Where partial results went.
void store_results(Loop& loop, const std::vector<Fold>& folds) {
  for (Item& item : loop.body) {
    if (auto* inner = std::get_if<Loop>(&item)) store_results(*inner, folds);
    auto* store = std::get_if<Store>(&item);
    if (!store) continue;
    const auto fold = std::find_if(folds.begin(), folds.end(), [&](const Fold& each) { return each.partial == store->buffer; });
    if (fold != folds.end()) store->at = at_target(*fold);
  }
}

}  // namespace

void run_as_one_unit(Program& program) {
  if (program.root.mark != Mark::units || program.root.var.part != Part::tile) return;
  const auto& [extent, hint, known] = program.axis(program.root.var.axis);
  const bool is_short = known.most <= std::min(program.unit, fold_leaf);
  const bool is_worth_it = extent.is_number() || instructions_of(program.root) <= small_body || (program.unit < fold_leaf && !program.folds.empty());
  if (!is_short || !is_worth_it || (merges(program) && known.least < 1)) return;       // a merge of no units makes a value of nothing, code makes none
  program.is_one_unit = true;
  store_results(program.root, program.folds);
  std::vector<std::size_t> same(program.buffers.size());
  std::iota(same.begin(), same.end(), std::size_t{0});
  for (Fold& fold : program.folds) {
    if (fold.partial < 0) continue;
    same[static_cast<std::size_t>(fold.partial)] = static_cast<std::size_t>(fold.target);
    fold.partial = fold.target = -1;
    fold.target_axes.clear();
  }
  join_buffers(program, same);
}

}  // namespace weft
