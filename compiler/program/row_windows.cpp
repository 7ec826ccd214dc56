#include "row_windows.h"

#include <algorithm>
#include <utility>

#include "schedule/cost_model.h"

namespace weft {
namespace {

// A load without where along the vectors it begins.
struct Row {
  int buffer;
  std::vector<Subscript> at;
  friend bool operator==(const Row&, const Row&) = default;
};
struct Begin {
  const Item* load;
  Extent start;
  Index at;                             // elements after the first that was found
};

}  // namespace

std::vector<RowWindow> row_windows(const Loop& lanes) {
  std::vector<std::pair<Row, std::vector<Begin>>> rows;
  for (const Item& item : lanes.body) {
    const auto* load = std::get_if<Load>(&item);
    if (!load || load->guarded || !is_linear(load->at)) continue;
    const auto is_along = [&](const Subscript& s) { return s.axis == lanes.var.axis; };
    if (std::ranges::count_if(load->at, is_along) != 1) continue;
    Row row{load->buffer, load->at};
    Subscript& along = *std::ranges::find_if(row.at, is_along);
    if (along.step != 1) continue;
    const Extent start = std::exchange(along.start, 0);
    const auto same = std::ranges::find_if(rows, [&](const auto& each) { return each.first == row && (start - each.second.front().start).is_number(); });
    if (same == rows.end()) rows.push_back({row, {{&item, start, 0}}});
    else same->second.push_back({&item, start, (start - same->second.front().start).constant()});
  }
  std::vector<RowWindow> windows;
  for (auto& [row, begins] : rows) {
    if (begins.size() < 2) continue;
    std::sort(begins.begin(), begins.end(), [](const Begin& a, const Begin& b) { return a.at < b.at; });
    const Begin* first = &begins.front();
    for (const Begin& each : begins) {
      if (each.at - first->at > lane_count) first = &each;
      windows.push_back({each.load, first->load, each.at - first->at});
    }
  }
  return windows;
}

}  // namespace weft
