// Sums and other folds in rows, as x[i,k] * y[k,j] over k: which of them are made in blocks of registers, and how large a block is.
#include <algorithm>
#include <set>

#include "code/features.h"
#include "loop_choices.h"
#include "schedule/cost_model.h"
#include "visit.h"

namespace weft {

namespace {

bool is_value(const Item& item) { return std::holds_alternative<Load>(item) || std::holds_alternative<Compute>(item); }

// What each panel of a row's vectors makes again, for every element of the fold: values of the row alone, and reciprocals of divisors.
int made_again(const Loop& fold, const Loop& lanes) {
  int cost = 0;
  for (const Item& item : fold.body)
    if (auto* compute = std::get_if<Compute>(&item)) cost += op_cost(compute->op);
  std::set<int> made;
  for (const Item& item : lanes.body) {
    if (auto* load = std::get_if<Load>(&item)) made.insert(load->result);
    auto* compute = std::get_if<Compute>(&item);
    if (!compute) continue;
    made.insert(compute->result);
    if (compute->op == Op::divide && !compute->args[1].constant && !made.contains(compute->args[1].value)) cost += long_function;
  }
  return cost;
}

}  // namespace

bool LoopChoices::depends_on(const Load& load, int axis) {
  return std::any_of(load.at.begin(), load.at.end(), [&](const Subscript& s) { return s.axis == axis; });
}

// What all rows share, and each of them would read again.
bool LoopChoices::is_packed(const Load& load, const Loop& rows, const Loop& fold, const Loop& lanes) const {
  const Place place = program_.buffer(load.buffer).place;
  return place != Place::index && place != Place::extent && !depends_on(load, rows.var.axis) && depends_on(load, fold.var.axis) && depends_on(load, lanes.var.axis);
}

// What has one element for each row, neighbours for neighbours.
bool LoopChoices::is_packed_along_rows(const Load& load, const Loop& rows, const Loop& fold) const {
  return depends_on(load, rows.var.axis) && depends_on(load, fold.var.axis) && lies_along(load.buffer, load.at, rows.var.axis);
}

// Whether the loop folds rows over few enough instructions, from arrays that the rows do not write.
bool LoopChoices::fits_register_block(const Loop& rows, const Loop& fold) const {
  const Outer outer = outer_of(fold);
  if (fold.mark != Mark::serial || outer.loops.size() != 1 || !outer.folds_outer || !outer.pure || (program_.is_tiled(fold.var.axis) && program_.unit > fold_leaf)) return false;
  if (outer.folds_lanes || outer.folds_others || outer.stores || outer.scans || outer.scalars || outer.weight > small_body) return false;
  const Loop& lanes = *outer.loops[0];
  constexpr int few = 8;                // instructions
  if (std::get_if<Loop>(&fold.body.back()) != &lanes || made_again(fold, lanes) > few) return false;
  const auto fits_fold = [&](int number_of_fold) {
    const Fold& each = program_.fold(number_of_fold);
    return !each.start && size_of(each.dtype) >= size_of(f32) && each.row_axes == std::vector<int>{lanes.var.axis};
  };
  const auto fits_load = [&](const Item& item) {
    auto* load = std::get_if<Load>(&item);
    if (!load) return true;
    const Place place = program_.buffer(load->buffer).place;
    if (place == Place::partial || load->guarded || !is_linear(load->at) || writes_of(rows, load->buffer) > 0) return false;
    return !depends_on(*load, lanes.var.axis) || is_packed(*load, rows, fold, lanes) || lies_along(load->buffer, load->at, lanes.var.axis);
  };
  return std::all_of(fold.folds.begin(), fold.folds.end(), fits_fold) && std::all_of(fold.body.begin(), fold.body.end(), fits_load) &&
         std::all_of(lanes.body.begin(), lanes.body.end(), fits_load);
}

// The first loop of the rows, after values that it may use: which item it is.
std::optional<std::size_t> LoopChoices::sums_of_rows(const Loop& rows) const {
  if ((rows.mark != Mark::serial && rows.mark != Mark::units) || rows.var.part != Part::element || program_.block > 0) return {};
  const auto first = std::find_if_not(rows.body.begin(), rows.body.end(), is_value);
  const auto changes = [&](const Item& item) {
    auto* load = std::get_if<Load>(&item);
    return load && writes_of(rows, load->buffer) > 0;
  };
  if (first == rows.body.end() || std::any_of(rows.body.begin(), first, changes)) return {};
  const auto* fold = std::get_if<Loop>(&*first);
  // Rows that would be cut into functions of their own are left alone (emit_outline.cpp).
  if (!fold || !fits_register_block(rows, *fold) || code_of(rows) > largest_piece) return {};
  if (is_thin(*fold, outer_of(*fold))) return {};
  return static_cast<std::size_t>(first - rows.body.begin());
}

std::optional<LoopChoices::RegisterBlock> LoopChoices::register_block(const Loop& rows) const {
  const auto at = sums_of_rows(rows);
  if (!at) return {};
  const Loop& fold = std::get<Loop>(rows.body[*at]);
  const Loop& lanes = *outer_of(fold).loops[0];
  const auto shared = [&](const Item& item) {
    auto* load = std::get_if<Load>(&item);
    return load && is_packed(*load, rows, fold, lanes);
  };
  const auto along_rows = [&](const Item& item) {
    auto* load = std::get_if<Load>(&item);
    return load && is_packed_along_rows(*load, rows, fold);
  };
  const bool neighbours = std::any_of(fold.body.begin(), fold.body.end(), along_rows);
  const auto hint = [&](const Loop& of) { return program_.axis(of.var.axis).hint; };
  const int each = registers_of(std::max(size_of(f32), widest_of(lanes))), sums = static_cast<int>(fold.folds.size());
  RegisterBlock block{.fold = *at};
  block.vectors = vectors_of_register_block(registers() / 8 / (each * sums), (hint(lanes) + lane_count - 1) / lane_count);
  block.rows = rows_of_register_block(registers(), block.vectors * each, sums, hint(rows), neighbours);
  block.packed = rows_packed(hint(lanes) * sums * static_cast<Index>(widest_of(lanes)), block.rows);
  // Sums of more panels would gain nothing else, and their trees lie on more pages: products of 500 x 3000 x 700 took 1.14 times as long (Zen 3).
  if (neighbours)
    block.panels = panels_together(block.packed * block.vectors * lane_count * sums * static_cast<Index>(widest_of(lanes)), hint(lanes) / lane_count / block.vectors);
  const bool pays = block.rows > 1 && hint(rows) >= block.rows && hint(fold) >= fold_slots;
  return pays && std::any_of(lanes.body.begin(), lanes.body.end(), shared) ? std::optional(block) : std::nullopt;
}

}  // namespace weft
