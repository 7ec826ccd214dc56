// Choices about operands and results that lie across a vector loop: tiles, squares, blocks of both, and when they go by way of scratch.
#include <algorithm>
#include <array>
#include <limits>

#include "loop_choices.h"
#include "schedule/cost_model.h"

namespace weft {

// Sixteen copies of a small body. States of scans go from copy to copy in registers, of longer bodies too, eight elements at a time: rows of
// exp(cumulative_sum(x)) * x take .5 ns an element for 1.4, which loads and stores of single elements took (Zen 4). So do states of few vectors, of
// which each row would wait for a store of the row before: running sums down two columns take .2 of the time, down sixteen .4 (Zen 3), down 17 to 50 .3
// to .55 (Zen 5, where vectors of 32 bytes take 1.1 to 1.5); of four vectors there is enough else to do meanwhile. Folds over this loop whose values have
// rows are emit_jam's; of folds over loops outside each copy has a row. x y^2 of 1000 x 7 x 9 floats, y summed up along the second axis, all along the third, .70 -> .34 (Zen 4).
bool LoopChoices::is_tiled(const Outer& outer) const {
  const Index most = register_bytes() == 64 ? 4 * lane_count - 1 : lane_count;
  const bool few_vectors = outer.scans && carries_rows(outer) && program_.axis(outer.loops[0]->var.axis).hint <= most;
  if ((outer.across + outer.windows == 0 && (!few_vectors || outer.folds_others)) || outer.weight > (outer.scans ? 2 : 1) * tiled_body) return false;
  return outer.scans ? carries_rows(outer) : !outer.rows && !outer.folds_outer;
}

// One body for each of sixteen elements. Folds over this loop go on from one to the next as they do without.
bool LoopChoices::is_rolled_tile(const Loop& loop, const Outer& outer) const {
  constexpr int few = 8;                // instructions that are done again for each vector
  if (outer.across == 0 || outer.loops.size() != 1 || outer.weight > masked_only || loop.weight > few) return false;
  return outer.pure && !outer.scans && !outer.scalars && !outer.folds_lanes && !outer.folds_others;
}

int LoopChoices::tile_elements(const Loop& loop, const Outer& outer, int past_caches) const {
  if (outer.weight > tiled_body) return lane_count / 2;
  std::size_t widest = 1;
  for (const Loop* lanes : outer.loops) widest = std::max(widest, widest_of(*lanes));
  const Extent& extent = program_.axis(outer.loops[0]->var.axis).extent;
  Index lanes = program_.is_tiled(outer.loops[0]->var.axis) ? program_.unit : extent.is_number() ? extent.constant() : std::numeric_limits<Index>::max();
  if (const int vectors = vectors_of_blocks(loop, outer, past_caches); vectors > 1) lanes = vectors * lane_count;
  return elements_of_tile(registers_of(widest), static_cast<double>(line_bytes * (outer.across + outer.windows)) * static_cast<double>(lanes));
}

// Results that lie across, since each of their lines is another row's; of others, what goes past the caches and is long in both directions: a
// line of each step lies on a page of its own, of more pages than address caches hold.
int LoopChoices::vectors_of_blocks(const Loop& loop, const Outer& outer, int past_caches) const {
  if (outer.scans || outer.folds_lanes || outer.folds_outer || outer.folds_others || outer.rows || outer.loops.size() != 1) return 0;
  const Loop& lanes = *outer.loops[0];
  const auto shorter = std::min(program_.axis(loop.var.axis).hint, program_.axis(lanes.var.axis).hint);
  const auto writes_across = [&](const Item& item) { return std::holds_alternative<Store>(item) && lies_across(item, loop.var.axis, lanes.var.axis) != 0; };
  const auto written = std::find_if(lanes.body.begin(), lanes.body.end(), writes_across);
  if (written != lanes.body.end()) {
    // A unit has few elements of each row: parts of lines, which go before the next part is written if the rows crowd a set. Planes to pixels of four
    // bytes, 720 x 1280: .37 ns a byte, .08 (Zen 5).
    const Store& store = std::get<Store>(*written);
    if (program_.per_root(loop.var.axis) > 1 && crowds_a_set(store.buffer, store.at, lanes.var.axis, 4 * lane_count, 8)) return 1;
    return shorter >= shortest_in_blocks ? 4 : 0;
  }
  return shorter >= 512 ? past_caches : 0;
}

// By the extents of the call that compiles; 0: nothing runs along it.
Index LoopChoices::bytes_apart(int number_of_buffer, const std::vector<Subscript>& at, int axis) const {
  const Buffer& buffer = program_.buffer(number_of_buffer);
  const std::size_t rank = at.size();
  const bool last_is_fastest = rank > 0 && class_of(buffer, rank - 1) == StrideClass::unit;
  Index apart = item_bytes(buffer.dtype);
  for (std::size_t k = 0; k < rank; ++k) {
    const Subscript& s = at[last_is_fastest ? rank - 1 - k : k];
    if (s.axis == axis) return apart;
    if (s.axis >= 0) apart *= std::max<Index>(1, program_.axis(s.axis).hint);
  }
  return 0;
}

bool LoopChoices::crowds_a_set(int number_of_buffer, const std::vector<Subscript>& at, int axis, Index neighbours, double ways) const {
  constexpr Index sets = 64;
  const Index apart = bytes_apart(number_of_buffer, at, axis);
  if (apart == 0) return false;
  std::array<int, sets> lines{};
  for (Index row = 0; row < std::min(neighbours, sets * static_cast<Index>(ways + 1)); ++row) {
    const Index first = row * apart / line_bytes, last = (row * apart + line_bytes - 1) / line_bytes;    // of a vector of floats: one line, or parts of two
    ++lines[static_cast<std::size_t>(first % sets)];
    if (last != first) ++lines[static_cast<std::size_t>(last % sets)];
  }
  return *std::max_element(lines.begin(), lines.end()) > ways;
}

// 64 x 128 elements that go by way of a block of their own take .012 ns a byte where results straight from registers take .018 (768 x 1024
// floats, two inputs), and .014 for .020 where it is the columns of two inputs that are 4 KiB apart (Zen 5).
bool LoopChoices::stages_results(const Loop& loop, const Loop& lanes, double first_level_ways) const {
  constexpr Index rows = 4 * lane_count;         // of a block
  int crowded_loads = 0, crowded_stores = 0;
  for (const Item& item : lanes.body) {
    const int across = lies_across(item, loop.var.axis, lanes.var.axis);
    if (auto* store = std::get_if<Store>(&item); store && across != 0) {
      if (across != 1) return false;
      crowded_stores += crowds_a_set(store->buffer, store->at, lanes.var.axis, rows, 1.5 * first_level_ways);
    } else if (auto* load = std::get_if<Load>(&item); load && !load->guarded && lies_along(load->buffer, load->at, lanes.var.axis)) {
      crowded_loads += crowds_a_set(load->buffer, load->at, loop.var.axis, lane_count, first_level_ways);
    }
  }
  return crowded_stores > 0 || crowded_loads > 1;
}

// .014 ns a byte for .019 (768 x 1024 floats, one of two inputs across, Zen 5); .024 for .011 where rows of 1008 do not crowd. Several such
// operands are better transposed while others are worked on: gelu and its gradient .034 for .043. Arrays that lie along begin pages, and crowd
// together: x^T + y with rows of 1028 and 1030 floats took .57 ns an element, as rows of 1024 do .28 (Zen 4).
bool LoopChoices::stages_operands(const Loop& loop, const Outer& outer, double first_level_ways) const {
  if (outer.loops.size() != 1 || outer.across != 1) return false;
  const Loop& lanes = *outer.loops[0];
  std::vector<const Store*> stores;
  std::ptrdiff_t loads = 0;
  for (const Item& item : lanes.body) {
    auto* store = std::get_if<Store>(&item);
    auto* load = std::get_if<Load>(&item);
    if (store && lies_across(item, loop.var.axis, lanes.var.axis) != 0) return false;
    if (store && lies_along(store->buffer, store->at, lanes.var.axis)) stores.push_back(store);
    loads += load && depends_on(*load, loop.var.axis) && lies_along(load->buffer, load->at, lanes.var.axis);
  }
  const double ways = first_level_ways / static_cast<double>(std::max<std::ptrdiff_t>(1, std::ssize(stores) + loads));
  return std::any_of(stores.begin(), stores.end(), [&](const Store* store) { return crowds_a_set(store->buffer, store->at, loop.var.axis, lane_count, ways); });
}

}  // namespace weft
