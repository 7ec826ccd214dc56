// Choices about folds over a loop outside the vectors, and over short rows along them: which of its elements are worked on at once.
#include <algorithm>

#include "loop_choices.h"
#include "schedule/cost_model.h"

namespace weft {

int LoopChoices::rows_at_once(const Outer& outer) const { return rows_together(registers_of(widest_of(*outer.loops[0])), registers()); }

// Of what one run of the loop has: of a tiled axis a block, or a unit.
int LoopChoices::jammed(const Loop& loop, const Outer& outer, double first_level_ways) const {
  const Index hint = program_.axis(loop.var.axis).hint;
  const Index most = !program_.is_tiled(loop.var.axis) ? hint : std::min(hint, program_.block > 0 ? program_.block : program_.unit);
  return elements_together(outer.weight, outer.ordered, most, first_level_ways);
}

// A fold over this loop alone, of what one vector loop makes.
static bool is_fold_of_rows(const Loop& loop, const LoopChoices::Outer& outer) {
  return loop.mark == Mark::serial && outer.loops.size() == 1 && outer.folds_outer && outer.pure && !outer.folds_lanes && !outer.folds_others;
}

// Elements of one slot of it.
bool LoopChoices::is_jam(const Loop& loop, const Outer& outer) const { return is_fold_of_rows(loop, outer) && !outer.stores && jammed(loop, outer) > 1; }

// Short rows that are folded, as those in blocks are: what comes before a row and after it takes longer than the row. Of extremes, with sixteen registers,
// softmax of up to 64 floats would take .96 of the time, and a third more to compile.
bool LoopChoices::is_rows(const Loop& loop, const Outer& outer) const {
  constexpr int small = 8;              // values of all copies are in registers
  if (program_.block == 0 || loop.mark != Mark::serial || !program_.is_tiled(loop.var.axis) || outer.loops.size() != 1 || outer.weight > small) return false;
  const auto& folds = outer.loops[0]->folds;
  if (registers() < 32 && std::any_of(folds.begin(), folds.end(), [&](int fold) { return is_extreme(program_.fold(fold)); })) return false;
  return outer.folds_lanes && !outer.scans && !outer.rows && !outer.scalars && !outer.folds_outer && !outer.folds_others && outer.across == 0;
}

int LoopChoices::columns_at_once(const Outer& outer) const {
  const Loop& lanes = *outer.loops[0];
  const auto sums = std::count_if(lanes.body.begin(), lanes.body.end(), [](const Item& item) { return std::holds_alternative<Accumulate>(item); });
  const std::size_t bytes = std::max(size_of(f32), widest_of(lanes));                    // halves are added as f32
  return std::min({2, vectors_of_unit(lanes), registers() / 2 / (slots_of_a_pass * registers_of(bytes) * static_cast<int>(sums))});
}

// Float sums over rows of which one vector of columns after the other may be walked: all of them are in a cache, or few enough are read at once.
bool LoopChoices::is_columns(const Loop& loop, const Outer& outer) const {
  if (!is_fold_of_rows(loop, outer) || outer.scans || !outer.ordered || loop.body.size() != 1 || columns_at_once(outer) < 1) return false;
  if (program_.is_tiled(loop.var.axis) || !fits_one_leaf(loop.var.axis)) return false;       // rows from the first to the last
  const Loop& lanes = *outer.loops[0];
  const Index rows = program_.axis(loop.var.axis).hint, columns = program_.axis(lanes.var.axis).hint;
  Index row_bytes = 0, apart = 1;
  int arrays = 0;
  for (const Item& item : lanes.body) {
    if (auto* accumulate = std::get_if<Accumulate>(&item); accumulate && program_.fold(accumulate->fold).row_axes != std::vector<int>{lanes.var.axis}) return false;
    auto* load = std::get_if<Load>(&item);
    if (!load) continue;
    if (load->guarded || !is_linear(load->at)) return false;
    const Index bytes = columns * item_bytes(program_.buffer(load->buffer).dtype);
    row_bytes += bytes;
    if (program_.buffer(load->buffer).place == Place::row || !depends_on(*load, loop.var.axis)) continue;
    ++arrays;
    apart = std::max(apart, bytes);
  }
  if (lanes.weight > small_body || rows < static_cast<Index>(fold_slots)) return false;
  return columns_stay_near(rows, row_bytes) || (program_.is_tiled(lanes.var.axis) && columns_pay(rows, arrays, apart, static_cast<double>(rows * apart) * arrays));
}

}  // namespace weft
