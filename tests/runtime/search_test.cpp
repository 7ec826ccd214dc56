// Units that hold none of the extremes found are left out, and leave what no unit finds.
#include <weft/search.h>

#include <limits>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include <weft/kernel.h>

using namespace weft;

namespace {

constexpr Index pitch = 16;
const Index sizes[] = {2, pitch, 1};             // two extremes a unit, one result

// Row 0 is what the merge made of all.
template <class T> UnitSearch search_for(const std::vector<std::vector<T>>& units, std::vector<T>& rows) {
  rows.assign(units.size() * pitch, T{0});
  for (std::size_t unit = 0; unit < units.size(); ++unit) std::copy(units[unit].begin(), units[unit].end(), rows.begin() + static_cast<Index>(unit) * pitch);
  UnitSearch search;
  search.extremes.push_back({dtype_of<T>(), 0, 0, 1});
  search.results.push_back({1, 2, 1, Scalar(std::int64_t{-7})});
  return search;
}

// Notes each call: which units.
void note(void* const* slots, const Index*, Index begin, Index end, std::byte*) {
  static_cast<std::vector<std::pair<Index, Index>>*>(slots[2])->emplace_back(begin, end);
}

template <class T> std::vector<std::pair<Index, Index>> calls(const std::vector<std::vector<T>>& units, Index begin, Index end, std::vector<std::int64_t>& results) {
  std::vector<T> rows;
  std::vector<std::pair<Index, Index>> calls;
  Stage stage;
  stage.run = &note;
  stage.search = std::make_shared<UnitSearch>(search_for(units, rows));
  results.assign(units.size() * pitch, 0);
  void* slots[] = {rows.data(), results.data(), &calls};
  run_units(stage, slots, sizes, begin, end, nullptr);
  return calls;
}

using Calls = std::vector<std::pair<Index, Index>>;

}  // namespace

TEST_CASE_TEMPLATE("units with none of the extremes do not run", T, float, double, std::uint8_t, std::int64_t) {
  std::vector<std::int64_t> results;
  const std::vector<std::vector<T>> units{{T(9), T(8)}, {T(9), T(1)}, {T(2), T(3)}, {T(3), T(8)}, {T(8), T(9)}};
  CHECK(calls(units, 0, 5, results) == Calls{{0, 2}, {3, 4}});
  CHECK(results[2 * pitch] == -7);
  CHECK(results[2 * pitch + 1] == 0);
  CHECK(results[4 * pitch] == -7);
  CHECK(results[pitch] == 0);
  CHECK(calls(units, 1, 3, results) == Calls{{1, 2}});
  CHECK(calls(units, 2, 3, results).empty());
  CHECK(calls(units, 3, 3, results).empty());
}

TEST_CASE("zeros of either sign are the same, a NaN is found where there are NaNs") {
  std::vector<std::int64_t> results;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(calls<float>({{0.0f, 5}, {-0.0f, 1}, {-1, 1}}, 0, 3, results) == Calls{{0, 2}});
  CHECK(calls<float>({{nan, 5}, {4, 1}, {nan, 2}, {6, 2}}, 0, 4, results) == Calls{{0, 1}, {2, 3}});
}
