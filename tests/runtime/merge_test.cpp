// Rows of partial results that become one, and go to arrays of any strides.
#include <weft/merge.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <weft/kernel.h>

using namespace weft;

namespace {

// The first row becomes the sum of all.
template <class T> void add_rows(void* memory, Index count, Index pitch, Index units) {
  auto* rows = static_cast<T*>(memory);
  for (Index unit = 1; unit < units; ++unit)
    for (Index k = 0; k < count; ++k) rows[k] = static_cast<T>(rows[k] + rows[unit * pitch + k]);
}

template <class T> std::vector<T> numbered(std::size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{1});
  return values;
}

// Three units of a row of 16 elements, of which two by three are copied to every second column of an array whose rows run backwards.
template <class T> void check_plane() {
  std::vector<T> rows = numbered<T>(48), array(24, T{77});
  constexpr Index bytes = sizeof(T);
  const Index sizes[] = {6, 3, 2, 3, 3 * bytes, bytes, -8 * bytes, 2 * bytes, 16};
  void* slots[] = {rows.data(), array.data() + 16};
  Merge merge;
  merge.results.push_back({&add_rows<T>, 0, 1, 0, 8, 1, Scalar(T{}), {{2, 4, 6}, {3, 5, 7}}});
  merge.run(slots, sizes);
  std::vector<T> expected(24, T{77});
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t k = 3 * i + j;
      expected[16 - 8 * i + 2 * j] = static_cast<T>((k + 1) + (k + 17) + (k + 33));
    }
  CHECK(array == expected);
}

}  // namespace

TEST_CASE("merged rows go to arrays of any strides, for elements of one to eight bytes") {
  check_plane<std::uint8_t>();
  check_plane<std::int16_t>();
  check_plane<float>();
  check_plane<double>();
}

TEST_CASE("several results in one stage; a result without axes is one element, an axis without elements copies nothing") {
  std::vector<float> a = numbered<float>(32);
  std::vector<double> b = numbered<double>(16);
  float one = -1;
  double none = -1;
  const Index sizes[] = {16, 2, 1, 0, 8};
  void* slots[] = {a.data(), &one, b.data(), &none};
  auto merge = std::make_shared<Merge>();
  merge->results.push_back({&add_rows<float>, 0, 1, 0, 0, 1, Scalar(0.0f), {}});
  merge->results.push_back({&add_rows<double>, 2, 3, 0, 0, 2, Scalar(0.0), {{3, 4, 4}}});
  Stage stage;
  stage.merge = merge;
  run_units(stage, slots, sizes, 0, 1, nullptr);
  CHECK(one == 1 + 17);
  CHECK(none == -1);
}

TEST_CASE("no units: the value of nothing, whatever the rows hold") {
  std::vector<float> rows = numbered<float>(16), array(3, 9.0f);
  const Index sizes[] = {16, 0, 3, 4};
  void* slots[] = {rows.data(), array.data()};
  Merge merge;
  const float nothing = -2.5f;
  merge.results.push_back({&add_rows<float>, 0, 1, 0, 0, 1, Scalar(nothing), {{2, 3, 3}}});
  merge.run(slots, sizes);
  CHECK(array == std::vector<float>{nothing, nothing, nothing});
}
