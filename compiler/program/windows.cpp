// Choices about rows of results whose windows of arrays overlap: several are made at once, and what one has loaded the others need not.
//
// The rows follow each other: while the first adds what it reads of the third row of its window, the second adds what it reads of its second one. That
// is the same, so little is kept at any time.
#include <algorithm>
#include <tuple>

#include "loop_choices.h"
#include "schedule/cost_model.h"

namespace weft {

Window window_of(const Load& load, int outer, std::size_t element) {
  Window window{load.buffer, load.at};
  for (Subscript& s : window.at)
    if (s.axis == outer) s.start = s.start + Extent(static_cast<Index>(element) * s.step);
  return window;
}

namespace {

// The row of its window that a load reads, and how many rows on that is for the next element.
std::optional<std::pair<Index, Index>> row_of(const Item& item, int outer) {
  const auto* load = std::get_if<Load>(&item);
  if (!load) return {};
  const auto found = std::find_if(load->at.begin(), load->at.end(), [&](const Subscript& s) { return s.axis == outer && s.step > 0 && s.start.is_number(); });
  return found == load->at.end() ? std::nullopt : std::optional(std::pair(found->start.constant(), found->step));
}

// What is kept of loads, in the order in which they come, until they are needed for the last time.
struct Kept {
  std::vector<Window> all;
  std::size_t at_once = 0;
};
Kept kept_of(const Loop& lanes, int outer, int elements) {
  struct Vector {
    Window window;
    std::size_t first, last;
  };
  std::vector<Vector> vectors;
  std::size_t now = 0;
  for (const Turn& turn : turns_of(lanes, outer, elements))
    for (std::size_t k = turn.first; k < turn.last; ++k, ++now) {
      const auto* load = std::get_if<Load>(&lanes.body[k]);
      if (!load) continue;
      Window window = window_of(*load, outer, static_cast<std::size_t>(turn.element));
      const auto found = std::find_if(vectors.begin(), vectors.end(), [&](const Vector& each) { return each.window == window; });
      if (found == vectors.end()) vectors.push_back({std::move(window), now, now});
      else found->last = now;
    }
  Kept kept;
  for (const Vector& each : vectors) {
    const auto at_once = std::ranges::count_if(vectors, [&](const Vector& other) { return other.first <= each.first && other.last > each.first; });
    kept.at_once = std::max(kept.at_once, static_cast<std::size_t>(at_once));
  }
  for (Vector& each : vectors) kept.all.push_back(std::move(each.window));
  return kept;
}

}  // namespace

std::vector<Turn> turns_of(const Loop& lanes, int outer, int elements) {
  struct Group {
    Index row;
    std::size_t first;
  };
  std::vector<Group> groups;
  Index apart = 1;
  for (std::size_t k = 0; k < lanes.body.size(); ++k) {
    const auto row = row_of(lanes.body[k], outer);
    if (row) apart = row->second;
    if (groups.empty() || (row && row->first > groups.back().row)) groups.push_back({row ? row->first : 0, groups.empty() ? 0 : k});
  }
  const auto end_of = [&](std::size_t group) { return group + 1 < groups.size() ? groups[group + 1].first : lanes.body.size(); };
  std::vector<std::tuple<Index, int, std::size_t>> order;        // the row that is read, the element, the group
  for (int element = 0; element < elements; ++element)
    for (std::size_t g = 0; g < groups.size(); ++g) order.emplace_back(groups[g].row + element * apart, element, g);
  std::sort(order.begin(), order.end());
  std::vector<Turn> turns;
  for (const auto& [row, element, group] : order) turns.push_back({element, groups[group].first, end_of(group)});
  return turns;
}

// How many rows of memory windows go through: neighbours close to each other are one.
std::size_t LoopChoices::rows_of_memory(const std::vector<Window>& windows, int outer, int lanes) const {
  constexpr Index near = 512;            // bytes
  std::vector<Window> rows;
  for (Window window : windows) {
    const bool is_near = bytes_apart(window.buffer, window.at, outer) < near;
    std::erase_if(window.at, [&](const Subscript& s) { return s.axis == lanes || (s.axis == outer && is_near); });
    if (std::find(rows.begin(), rows.end(), window) == rows.end()) rows.push_back(std::move(window));
  }
  return rows.size();
}

bool LoopChoices::reads_few_rows(const Loop& loop, const Outer& outer) const {
  constexpr std::size_t few = 3;
  std::vector<Window> windows;
  for (const Item& item : outer.loops[0]->body)
    if (const auto* load = std::get_if<Load>(&item)) windows.push_back(window_of(*load, loop.var.axis, 0));
  return rows_of_memory(windows, loop.var.axis, outer.loops[0]->var.axis) <= few;
}

// The loads of a body that mostly moves, all along the vectors; none if it does anything else.
std::vector<const Load*> LoopChoices::loads_that_move(const Loop& lanes) const {
  std::vector<const Load*> loads;
  for (const Item& item : lanes.body) {
    const auto* load = std::get_if<Load>(&item);
    const auto* store = std::get_if<Store>(&item);
    const auto* compute = std::get_if<Compute>(&item);
    if (compute && op_cost(compute->op) >= long_function) return {};
    if (load && (load->guarded || !is_linear(load->at) || !lies_along(load->buffer, load->at, lanes.var.axis))) return {};
    if (store && !lies_along(store->buffer, store->at, lanes.var.axis)) return {};
    if (load) loads.push_back(load);
  }
  const auto is_loaded = [&](const Item& item) {
    const auto* store = std::get_if<Store>(&item);
    return store && std::any_of(loads.begin(), loads.end(), [&](const Load* load) { return load->buffer == store->buffer; });
  };
  const bool mostly_moves = 4 * static_cast<int>(loads.size()) >= lanes.weight;
  return mostly_moves && std::none_of(lanes.body.begin(), lanes.body.end(), is_loaded) ? loads : std::vector<const Load*>();
}

// Rows of results whose bodies mostly move. 3 x 3 sums of rows of 500 floats .135 -> .09 ns an element, 5 x 5 weights .38 -> .25 (Zen 5). Of fewer loads the
// second level is what a loop waits for: sums of three rows of 514 floats would take 1.05 of the time. Nor of more rows of arrays, read and written, than a
// processor follows: two arrays of 5 points each and two results, 20 rows, would take 1.15.
int LoopChoices::overlapping(const Loop& loop, const Outer& outer) const {
  constexpr int most = 4, others = 4, most_code = 200;          // elements; registers beside; instructions of all copies
  constexpr std::size_t least_loads = 5, most_rows = 16;
  const bool runs = loop.mark == Mark::serial || (loop.mark == Mark::units && loop.var.part == Part::element && program_.block == 0);
  const bool folds = outer.folds_lanes || outer.folds_outer || outer.folds_others || !loop.folds.empty();
  if (!runs || folds || outer.loops.size() != 1 || !outer.pure || !outer.stores || outer.across > 0) return 1;
  const Loop& lanes = *outer.loops[0];
  const int axis = loop.var.axis;
  if (!lanes.parts.empty() || lanes.is_seldom_run || lanes.weight > interleaved_body) return 1;
  const auto follows = [&](const std::vector<Subscript>& at) { return std::any_of(at.begin(), at.end(), [&](const Subscript& s) { return s.axis == axis; }); };
  const auto following = static_cast<std::size_t>(std::ranges::count_if(loads_that_move(lanes), [&](const Load* load) { return follows(load->at); }));
  const auto stores = static_cast<std::size_t>(std::ranges::count_if(lanes.body, [](const Item& item) { return std::holds_alternative<Store>(item); }));
  if (following < least_loads) return 1;
  for (int elements = most; elements > 1; elements /= 2) {
    if (elements * lanes.weight > most_code || program_.axis(axis).hint < 2 * elements) continue;
    const auto times = static_cast<std::size_t>(elements);
    const Kept kept = kept_of(lanes, axis, elements);
    const int in_registers = (static_cast<int>(kept.at_once) + 2 * elements) * registers_of(widest_of(lanes)) + others;
    const auto loaded = static_cast<std::size_t>(std::ranges::count_if(kept.all, [&](const Window& each) { return follows(each.at); }));
    const bool few_rows = rows_of_memory(kept.all, axis, lanes.var.axis) + stores * times <= most_rows;
    if (in_registers <= registers() && few_rows && 4 * loaded <= 3 * following * times) return elements;
  }
  return 1;
}

}  // namespace weft
