// Arrays whose rows of a few elements follow each other without a gap need no transposing where ops work on them: the same on any lanes. In place of
// copies for each element of a row, step k of one body has the k-th vector of sixteen rows (emit/emit_thin.cpp).
#include "loop_choices.h"

#include <cstdlib>

#include "index_conditions.h"
#include "schedule/cost_model.h"

namespace weft {

// How far rows of these few elements are apart, if that is known: of rows without gaps, as many as they have. Else 0.
Index LoopChoices::distance_of_rows(int buffer, const std::vector<Subscript>& at, int few, int lanes) const {
  const StrideClass rows = lane_class(buffer, at, lanes);
  if (is_known(rows)) return step_of(rows);
  return joins(buffer, at, few, lanes) ? program_.axis(few).extent.constant() : 0;
}

// Rows that turn, lie beside others or run backwards. Registers that hold sixteen floats take any of two others by one instruction; shorter ones load such rows
// if they only turn: each element lies as far from its place as all others do.
std::optional<MovedRows> LoopChoices::moved_rows(const Load& load, int few, int lanes) const {
  const Buffer& buffer = program_.buffer(load.buffer);
  const auto fastest = fastest_of(buffer);
  if (!fastest || !program_.axis(few).extent.is_number() || masks_by_branches(buffer.dtype)) return {};
  const auto is_free = [&](const Subscript& s) { return s.axis == few ? !s.elements : has_every_index(program_, load, s); };
  if (load.guarded && !std::all_of(load.at.begin(), load.at.end(), is_free)) return {};
  const std::vector<Subscript> at = load.guarded ? unguarded(program_, load) : load.at;
  const Subscript& row = at[*fastest];
  const auto runs = std::count_if(at.begin(), at.end(), [&](const Subscript& s) { return s.axis == few; });
  if (runs != 1 || row.axis != few || row.each > 1 || std::abs(row.step) != 1 || !row.start.is_number()) return {};
  const Index length = buffer.extents[*fastest].constant();
  const bool backwards = follows_rows(buffer, at, lanes, StrideClass::joined, -1), turns = !backwards && row.is_linear() && row.step == 1 && length == program_.axis(few).extent.constant();
  if (length > longest_row || !(backwards || follows_rows(buffer, at, lanes, StrideClass::joined)) || (!turns && register_bytes() < 64)) return {};
  const MovedRows moved{length, row.start.constant(), row.step, row.period, backwards ? -1 : 1};
  const Index last = (row.period > 0 ? row.period : program_.axis(few).extent.constant()) - 1;
  if (!load.guarded && !(moved.has(0) && moved.has(last))) return {};            // an axis of several dimensions of the array
  return moved;
}

// What is folded over a row changes places (where that is less, all arrays do: folds_by_transposes), and what stays for a row is spread to its elements;
// sums down the columns are as they are until their end. Sums of (x - y)^2 over rows of four take .08 ns an element, .14 if both are transposed; sums of
// rows .043 and .065, of eight .040 and .073, down their columns .036 and .071, of eight .035 and .078 (Zen 4).
bool LoopChoices::runs_along_rows(const Loop& serial, const Outer& outer) const {
  if (outer.loops.size() != 1 || outer.across == 0) return false;
  const Loop& lanes = *outer.loops[0];
  const Index count = program_.axis(serial.var.axis).extent.constant();
  // Bytes go as vectors of sixteen where they are moved and nothing is folded: other loops have whole registers of them.
  const bool moves = std::any_of(lanes.body.begin(), lanes.body.end(), [&](const Item& item) {
    const auto* load = std::get_if<Load>(&item);
    const auto moved = load ? moved_rows(*load, serial.var.axis, lanes.var.axis) : std::nullopt;
    return moved && !moved->is_whole(count);
  });
  const bool any_width = moves && std::none_of(lanes.body.begin(), lanes.body.end(), [](const Item& item) { return std::holds_alternative<Accumulate>(item); });
  const auto fills_a_register = [&](DType dtype) { return any_width || lane_count * size_of(dtype) >= register_bytes(); };
  const auto is_row = [&](const Item& item, int buffer, const std::vector<Subscript>& at) {
    return lies_across(item, serial.var.axis, lanes.var.axis) == 1 && fills_a_register(program_.buffer(buffer).dtype) &&
           distance_of_rows(buffer, at, serial.var.axis, lanes.var.axis) == count;
  };
  int moved = 0, folded = 0, staying = 0;
  bool ends_in_rows = false;                     // something but what is folded over them
  std::size_t widest = 1;
  for (const Item& item : lanes.body) {
    if (std::holds_alternative<Compute>(item)) continue;
    if (auto* load = std::get_if<Load>(&item)) {
      const bool is_moved = fills_a_register(program_.buffer(load->buffer).dtype) && moved_rows(*load, serial.var.axis, lanes.var.axis);
      if (load->guarded && !is_moved) return false;
      if (is_moved || is_row(item, load->buffer, load->at)) ++moved, widest = std::max(widest, size_of(program_.buffer(load->buffer).dtype));
      else if (depends_on(*load, serial.var.axis) || !lies_along(load->buffer, load->at, lanes.var.axis)) return false;
      else ++staying;
    } else if (auto* store = std::get_if<Store>(&item)) {
      if (!is_row(item, store->buffer, store->at)) return false;
      ++moved, ends_in_rows = true;
    } else if (auto* accumulate = std::get_if<Accumulate>(&item)) {
      const Fold& fold = program_.fold(accumulate->fold);
      if (!fills_a_register(fold.dtype)) return false;
      if (fold.axis == serial.var.axis) ++folded, widest = std::max(widest, size_of(fold.dtype));
      else if (fold.axis != lanes.var.axis) return false;
      else ends_in_rows = true;
    } else {
      return false;
    }
  }
  if (!ends_in_rows && folds_by_transposes(count, moved, folded, widest, register_bytes())) return false;
  return 2 * folded + staying <= 2 * moved;
}

}  // namespace weft
