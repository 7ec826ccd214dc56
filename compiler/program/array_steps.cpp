// How arrays lie along the loops of a nest: steps of memory that are known, rows without gaps, what lies across.
#include <algorithm>
#include <iterator>
#include <span>

#include "index_conditions.h"
#include "loop_choices.h"

namespace weft {

StrideClass LoopChoices::class_of(const Buffer& buffer, std::size_t dim) const {
  if (dim >= buffer.extents.size()) return StrideClass::other;         // indices and extents lie in no memory
  if (buffer.place == Place::argument || buffer.place == Place::result)
    if (auto found = classes_.find(buffer.node); found != classes_.end()) return found->second[dim];
  const auto inside = buffer.order == Order::c ? std::span(buffer.extents).subspan(dim + 1) : std::span(buffer.extents).first(dim);
  // Of one element along a dimension no step is made.
  const bool shrinks = buffer.place == Place::temporary;
  if (shrinks && buffer.extents[dim].is(1)) return StrideClass::unit;
  const auto from_fastest = static_cast<std::size_t>(std::count_if(inside.begin(), inside.end(), [&](const Extent& extent) { return !shrinks || !extent.is(1); }));
  constexpr StrideClass classes[] = {StrideClass::unit, StrideClass::joined, StrideClass::stacked};
  return from_fastest < std::size(classes) ? classes[from_fastest] : StrideClass::other;
}

// How far neighbours along the axis are apart.
StrideClass LoopChoices::lane_class(int number_of_buffer, const std::vector<Subscript>& at, int axis) const {
  StrideClass found = StrideClass::zero;
  Index every = 1;                              // of rows without gaps
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d].axis != axis) continue;
    const StrideClass own = class_of(program_.buffer(number_of_buffer), d);
    if (is_behind_rows(own)) every = at[d].step;
    found = !at[d].is_linear() ? StrideClass::other : is_behind_rows(own) ? own : times(own, at[d].step);
  }
  if (!is_behind_rows(found)) return found;
  const Buffer& buffer = program_.buffer(number_of_buffer);
  const auto fastest = fastest_of(buffer), rows = found == StrideClass::stacked ? joined_of(buffer) : fastest;
  if (!fastest || !rows) return StrideClass::other;
  const Index few = std::min(buffer.extents[*fastest].constant(), longest_row + 1);
  const Index row = every * (rows == fastest ? few : few * std::min(buffer.extents[*rows].constant(), longest_row + 1));
  return row > 0 && row <= longest_row ? static_cast<StrideClass>(row) : StrideClass::other;
}

// Instructions of a body, with those that gather from windows whose elements do not lie side by side, nor are moved as rows of the loop around it.
int LoopChoices::code_with_windows(const Loop& lanes, int outer) const {
  constexpr int gathered = 6;
  return lanes.weight + gathered * static_cast<int>(std::count_if(lanes.body.begin(), lanes.body.end(), [&](const Item& item) {
    auto* load = std::get_if<Load>(&item);
    return load && load->guarded && lane_class(load->buffer, load->at, lanes.var.axis) != StrideClass::unit && !moved_rows(*load, outer, lanes.var.axis);
  }));
}

// The dimension that `joined` speaks of, if its extent is known. A row of scratch may be longer than its extents say.
std::optional<std::size_t> LoopChoices::fastest_of(const Buffer& buffer) const {
  if (buffer.place != Place::argument && buffer.place != Place::result && buffer.place != Place::temporary) return {};
  for (std::size_t d = buffer.extents.size(); d-- > 0;)
    if (class_of(buffer, d) == StrideClass::unit && !buffer.extents[d].is(1)) return buffer.extents[d].is_number() ? std::optional(d) : std::nullopt;
  return {};
}

// The one that follows it without a gap, of which `stacked` speaks, if its extent is known.
std::optional<std::size_t> LoopChoices::joined_of(const Buffer& buffer) const {
  for (std::size_t d = buffer.extents.size(); d-- > 0;)
    if (class_of(buffer, d) == StrideClass::joined) return buffer.extents[d].is_number() ? std::optional(d) : std::nullopt;
  return {};
}

// Whether neighbours along the axis are rows of the fastest dimension, or of that and the joined one, without gaps.
bool LoopChoices::follows_rows(const Buffer& buffer, const std::vector<Subscript>& at, int axis, StrideClass rows, Index step) const {
  const auto runs = std::count_if(at.begin(), at.end(), [&](const Subscript& s) { return s.axis == axis; });
  for (std::size_t d = 0; d < at.size(); ++d)
    if (at[d].axis == axis) return runs == 1 && at[d].step == step && at[d].is_linear() && class_of(buffer, d) == rows;
  return false;
}

// Which element of each row a loop over rows without gaps reads, where it reads the same of all.
std::optional<Index> LoopChoices::column_of(int number_of_buffer, const std::vector<Subscript>& at, int axis) const {
  const Buffer& buffer = program_.buffer(number_of_buffer);
  const auto fastest = fastest_of(buffer), joined = joined_of(buffer);
  const auto is_known = [&](const std::optional<std::size_t>& d) { return d && at[*d].axis < 0 && at[*d].start.is_number(); };
  if (!is_known(fastest)) return {};
  const Index column = at[*fastest].start.constant();
  if (follows_rows(buffer, at, axis, StrideClass::joined)) return column;
  if (!is_known(joined) || !follows_rows(buffer, at, axis, StrideClass::stacked)) return {};
  return at[*joined].start.constant() * buffer.extents[*fastest].constant() + column;
}

bool LoopChoices::joins(int number_of_buffer, const std::vector<Subscript>& at, int few, int lanes, Index step) const {
  const Buffer& buffer = program_.buffer(number_of_buffer);
  const auto fastest = fastest_of(buffer);
  if (!fastest || !follows_rows(buffer, at, lanes, StrideClass::joined, step)) return false;
  const Subscript& row = at[*fastest];
  return row.axis == few && row.step == 1 && row.start.is(0) && buffer.extents[*fastest] == program_.axis(few).extent;
}

// How many elements of memory neighbours of the outer loop are apart, -1 if they run backwards, where that is known and neighbours of the
// vector loop may be anywhere; or 0.
int LoopChoices::lies_across(int number_of_buffer, const std::vector<Subscript>& at, int outer, int lanes) const {
  const Buffer& buffer = program_.buffer(number_of_buffer);
  if (buffer.place == Place::index || buffer.place == Place::extent || buffer.place == Place::row) return 0;
  int along_outer = 0;
  bool across_lanes = false;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (!at[d].is_linear()) return 0;
    const StrideClass stride = times(class_of(buffer, d), at[d].step);
    if (at[d].axis == outer) along_outer = is_known(stride) ? static_cast<int>(step_of(stride)) : 0;
    if (at[d].axis == lanes) across_lanes = !is_known(stride);
  }
  return across_lanes ? along_outer : 0;
}

// If the vector loop has no index without an element: then whole rows are there or not.
int LoopChoices::window_across(const Load& load, int outer, int lanes) const {
  const auto is_row = [&](const Subscript& s) { return !s.elements && s.is_linear() && std::abs(s.step) == 1 && (s.axis != lanes || has_every_index(program_, load, s)); };
  return load.guarded && std::all_of(load.at.begin(), load.at.end(), is_row) ? lies_across(load.buffer, unguarded(program_, load), outer, lanes) : 0;
}

int LoopChoices::lies_across(const Item& item, int outer, int lanes) const {
  if (auto* load = std::get_if<Load>(&item)) return load->guarded ? 0 : lies_across(load->buffer, load->at, outer, lanes);
  if (auto* store = std::get_if<Store>(&item)) {
    const int step = lies_across(store->buffer, store->at, outer, lanes);
    return step == 1 || step == -1 ? step : 0;                         // what lies between elements belongs to others
  }
  return 0;
}

}  // namespace weft
