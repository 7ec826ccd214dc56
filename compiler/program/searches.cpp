// Loops that look for the smallest index at which something holds.
#include "loop_choices.h"

#include <algorithm>

namespace weft {

std::optional<LoopChoices::Search> LoopChoices::search_of(const Loop& loop) const {
  if (loop.folds.size() != 1 || !loop.parts.empty() || loop.bounded >= 0) return {};
  const Fold& fold = program_.fold(loop.folds[0]);
  if (fold.start || fold.row >= 0 || fold.accumulator != AccumulatorId::min || is_floating(fold.dtype)) return {};
  const Accumulate* accumulate = nullptr;
  for (const Item& item : loop.body) {
    if (auto* only = std::get_if<Accumulate>(&item); only && !accumulate && !only->factor) accumulate = only;
    else if (auto* load = std::get_if<Load>(&item); load ? load->guarded : !std::holds_alternative<Compute>(item)) return {};
  }
  if (!accumulate || accumulate->value.constant) return {};
  Search search;
  for (const Item& item : loop.body)
    if (auto* compute = std::get_if<Compute>(&item); compute && compute->result == accumulate->value.value) search.where = compute;
  if (!search.where || search.where->op != Op::where || search.where->args[1].constant) return {};
  const auto& otherwise = search.where->args[2].constant;
  if (!otherwise || !(*otherwise == unit(fold.accumulator, fold.dtype))) return {};
  for (const Item& item : loop.body)
    if (auto* load = std::get_if<Load>(&item); load && load->result == search.where->args[1].value) search.index = load;
  if (!search.index || program_.buffer(search.index->buffer).place != Place::index) return {};
  const Subscript& at = search.index->at[0];
  return at.axis == loop.var.axis && at.step == 1 && at.is_linear() ? std::optional(search) : std::nullopt;
}

}  // namespace weft
