// Choices about folds over a loop outside the vectors, over rows along them, and about rows that share operands: which of its elements are worked on at once.
#include <algorithm>
#include <bit>

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
  return outer.folds_lanes && !outer.scans && !outer.rows && !outer.scalars && !outer.folds_outer && !outer.folds_others && outer.across + outer.windows == 0;
}

static int sums_of(const Loop& lanes) {
  return static_cast<int>(std::count_if(lanes.body.begin(), lanes.body.end(), [](const Item& item) { return std::holds_alternative<Accumulate>(item); }));
}

// Halves are added as f32.
std::size_t LoopChoices::widest_of_columns(const Loop& lanes) const { return std::max(size_of(f32), widest_of(lanes)); }

// Rows of few vectors fill the registers with more slots: sums of 48 rows of 20 floats, in the first level, .031 ns an element, with two slots .055 (Zen 5).
int LoopChoices::slots_of_pass(const Outer& outer) const {
  constexpr Index few_vectors = 4;
  return program_.axis(outer.loops[0]->var.axis).hint < few_vectors * lane_count ? 2 * slots_of_a_pass : slots_of_a_pass;
}

int LoopChoices::columns_at_once(const Outer& outer) const {
  const Loop& lanes = *outer.loops[0];
  const int registers_each = registers_of(widest_of_columns(lanes)) * sums_of(lanes);
  const Index vectors = program_.axis(lanes.var.axis).hint / lane_count;
  return std::min({lanes.weight <= only_summed ? 8 : 4, vectors_of_unit(lanes), std::max(1, static_cast<int>(std::bit_floor(static_cast<std::size_t>(vectors)))), registers() / 2 / (slots_of_pass(outer) * registers_each)});
}

// Slots leave room for a few of them: more vectors side by side would go to the stack and back.
int LoopChoices::vectors_of_slots(const Loop& lanes, int elements) const {
  constexpr int little_beside = 8;
  const int slots = std::min(elements, static_cast<int>(fold_slots)) * std::max(1, sums_of(lanes));
  return std::max(lanes.weight <= little_beside ? 2 : 1, registers() / (slots * registers_of(widest_of(lanes))));
}

Index LoopChoices::strip_of_columns(const Outer& outer) const {
  const Loop& lanes = *outer.loops[0];
  return columns_of_strip(widest_of_columns(lanes) * static_cast<std::size_t>(sums_of(lanes)));
}

// Float sums over rows, of which a strip of columns after the other is walked.
bool LoopChoices::is_columns(const Loop& loop, const Outer& outer) const {
  if (!is_fold_of_rows(loop, outer) || outer.scans || !outer.ordered || loop.body.size() != 1 || columns_at_once(outer) < 1) return false;
  if (program_.is_tiled(loop.var.axis) || !fits_one_leaf(loop.var.axis)) return false;       // rows from the first to the last
  const Loop& lanes = *outer.loops[0];
  const Index rows = program_.axis(loop.var.axis).hint, columns = program_.axis(lanes.var.axis).hint;
  Index apart = 1;                      // bytes
  int arrays = 0;
  for (const Item& item : lanes.body) {
    if (auto* accumulate = std::get_if<Accumulate>(&item); accumulate && program_.fold(accumulate->fold).row_axes != std::vector<int>{lanes.var.axis}) return false;
    auto* load = std::get_if<Load>(&item);
    if (!load) continue;
    if (load->guarded || !is_linear(load->at)) return false;
    if (program_.buffer(load->buffer).place == Place::row || !depends_on(*load, loop.var.axis)) continue;
    ++arrays;
    apart = std::max(apart, columns * item_bytes(program_.buffer(load->buffer).dtype));
  }
  return lanes.weight <= small_body && rows >= static_cast<Index>(fold_slots) && columns_pay(rows * arrays, apart, outer.from_memory);
}

// Rows one by one, of which several sums are taken one after the other, of little else: each is a chain of additions, as the order of sums stays, and a
// processor does not look ahead as far as the next row. Layer norm of 8192 rows of 1024 floats 1.42 -> 1.22 ms, on two threads .68 -> .49, of 4000 rows of
// 1000 .20 -> .14 ns an element; one sum a row, and rows that leave the first level, gain nothing (Zen 5). Not measured with sixteen registers.
bool LoopChoices::is_pairs(const Loop& rows, const Outer& outer) const {
  constexpr int little = 4, several = 2;
  constexpr Index long_row = 16 * lane_count;
  if (registers() < 32 || rows.mark != Mark::units || rows.var.part != Part::element || program_.block > 0 || !rows.folds.empty() || program_.elements() < worth_pairs) return false;
  if (outer.scans || outer.folds_outer || outer.folds_others || outer.across > 0) return false;
  int sums = 0;
  for (const Loop* lanes : outer.loops) {
    const Index elements = program_.axis(lanes->var.axis).hint;
    if (!lanes->parts.empty() || lanes->weight > small_body || elements < long_row || 2 * elements * static_cast<Index>(widest_of(*lanes)) > first_level_share) return false;
    sums += lanes->weight <= little && std::any_of(lanes->folds.begin(), lanes->folds.end(), [&](int fold) { return program_.fold(fold).ordered; });
  }
  return sums >= several;
}

// Rows of results, as many as have room in registers beside what all of them read: filters of 3 x 3 for each channel, whose channels lie inside, .224 ->
// .178 ns an element (Zen 5).
int LoopChoices::sharing(const Loop& loop, const Outer& outer) const {
  constexpr int worth_sharing = 4, most = 4, others = 4;       // operands; elements; registers beside these
  if (loop.mark != Mark::serial || outer.loops.size() != 1 || !outer.pure || !outer.stores || outer.folds_lanes || outer.folds_outer || outer.folds_others || outer.across > 0) return 1;
  const Loop& lanes = *outer.loops[0];
  if (!loop.folds.empty() || !lanes.parts.empty() || lanes.weight > interleaved_body || program_.axis(lanes.var.axis).known.multiple % lane_count != 0) return 1;
  int shared = 0;
  for (const Item& item : lanes.body) {
    const auto* load = std::get_if<Load>(&item);
    if (!load) continue;
    if (load->guarded || !is_linear(load->at)) return 1;
    shared += lies_along(load->buffer, load->at, lanes.var.axis) && !depends_on(*load, loop.var.axis);
  }
  if (shared < worth_sharing) return 1;
  const int room = (registers() - others) / registers_of(widest_of(lanes)) / interleave(lanes) - shared;
  const Index hint = program_.axis(loop.var.axis).hint;
  return room >= most && hint >= 2 * most ? most : room >= 2 && hint >= most ? 2 : 1;
}

}  // namespace weft
