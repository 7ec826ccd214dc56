// Arrays whose rows of a few elements follow each other without a gap need no transposing where ops work on them: the same on any lanes. In place of
// copies for each element of a row, step k of one body has the k-th vector of sixteen rows (emit/emit_thin.cpp).
#include "loop_choices.h"
#include "schedule/cost_model.h"

namespace weft {

// How far rows of these few elements are apart, if that is known: of rows without gaps, as many as they have. Else 0.
Index LoopChoices::distance_of_rows(int buffer, const std::vector<Subscript>& at, int few, int lanes) const {
  const StrideClass rows = lane_class(buffer, at, lanes);
  if (is_known(rows)) return step_of(rows);
  return joins(buffer, at, few, lanes) ? program_.axis(few).extent.constant() : 0;
}

// What is folded over a row changes places (where that is less, all arrays do: folds_by_transposes), and what stays for a row is spread to its elements;
// sums down the columns are as they are until their end. Sums of (x - y)^2 over rows of four take .08 ns an element, .14 if both are transposed; sums of
// rows .043 and .065, of eight .040 and .073, down their columns .036 and .071, of eight .035 and .078 (Zen 4).
bool LoopChoices::runs_along_rows(const Loop& serial, const Outer& outer) const {
  if (outer.loops.size() != 1 || outer.across == 0) return false;
  const Loop& lanes = *outer.loops[0];
  const Index count = program_.axis(serial.var.axis).extent.constant();
  const auto fills_a_register = [&](DType dtype) { return lane_count * size_of(dtype) >= register_bytes(); };
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
      if (load->guarded) return false;
      if (is_row(item, load->buffer, load->at)) ++moved, widest = std::max(widest, size_of(program_.buffer(load->buffer).dtype));
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
