// Packed operands: every element where its slot has it, whatever its size and however the array lies; zeros behind them, and nothing else is touched.
#include <numeric>

#include <weft/accumulator.h>

#include "code/pack_support.h"

using namespace weft;

namespace {

template <class T> void check(Index count, Index row, Index stride, Index row_stride, Index elements_of_pitch = 48) {
  CAPTURE(sizeof(T));
  CAPTURE(count);
  CAPTURE(row);
  CAPTURE(stride);
  CAPTURE(row_stride);
  CAPTURE(elements_of_pitch);
  constexpr Index size = sizeof(T), untouched = 77;
  const Index panels = (row + elements_of_pitch - 1) / elements_of_pitch, of_slot = (count + fold_slots - 1) / fold_slots, behind = std::min<Index>(0, (count - 1) * stride) + std::min<Index>(0, (row - 1) * row_stride);
  const Index panel = fold_slots * of_slot * elements_of_pitch + bytes_between_panels / size;
  std::vector<T> array(static_cast<std::size_t>(count * std::abs(stride) + row * std::abs(row_stride) + 1)), packed(static_cast<std::size_t>(panel * panels + 16), untouched);
  std::iota(array.begin(), array.end(), T(100));
  std::vector<T> expected = packed;
  const Index in_last = row - (panels - 1) * elements_of_pitch;
  for (Index k = 0; k < fold_slots * of_slot; ++k) std::fill_n(expected.begin() + (panels - 1) * panel + k * elements_of_pitch + in_last, elements_of_pitch - in_last, T(0));
  const T* first = array.data() - behind;
  for (Index k = 0; k < count; ++k)
    for (Index column = 0; column < row; ++column) expected[static_cast<std::size_t>(column / elements_of_pitch * panel + (k % fold_slots * of_slot + k / fold_slots) * elements_of_pitch + column % elements_of_pitch)] = first[k * stride + column * row_stride];
  for (const PackFunction& function : pack_functions())
    if (function.symbol == pack_symbol(sizeof(T)))
      function.address(reinterpret_cast<char*>(packed.data()), elements_of_pitch * size, reinterpret_cast<const char*>(first), count, stride * size, row, row_stride * size);
  CHECK((packed == expected));
}

template <class T> void check_all() {
  for (const Index count : {1, 15, 16, 17, 48, 100})
    for (const Index row : {1, 4, 7, 8, 15, 16, 17, 33, 48}) {
      check<T>(count, row, row + 3, 1);
      check<T>(count, row, 1, count + 5);
      check<T>(count, row, -1, count);
      check<T>(count, row, 2, 2 * count);
      check<T>(count, row, -row, -1);
      check<T>(count, row, 1, 0);
      for (const Index pitch : {1, 2, 4, 8, 12, 16}) {                   // in panels
        check<T>(count, row, row + 3, 1, pitch);
        check<T>(count, row, 1, count + 5, pitch);
        check<T>(count, row, -row, -1, pitch);
      }
    }
}

}  // namespace

TEST_CASE("operands are packed from any layout") {
  check_all<std::uint8_t>();
  check_all<std::uint16_t>();
  check_all<std::uint32_t>();
  check_all<std::uint64_t>();
}
