#include <weft/merge.h>

#include <cstring>

namespace weft {

namespace {

template <std::size_t bytes> void copy_line(const std::byte* from, std::byte* to, Index count, Index from_apart, Index to_apart) {
  for (Index k = 0; k < count; ++k) std::memcpy(to + k * to_apart, from + k * from_apart, bytes);
}

void copy_line(DType dtype, const std::byte* from, std::byte* to, Index count, Index from_apart, Index to_apart) {
  switch (size_of(dtype)) {
    case 1: return copy_line<1>(from, to, count, from_apart, to_apart);
    case 2: return copy_line<2>(from, to, count, from_apart, to_apart);
    case 4: return copy_line<4>(from, to, count, from_apart, to_apart);
    default: return copy_line<8>(from, to, count, from_apart, to_apart);
  }
}

// The axes from `depth` on. No axis: one element.
void copy_axes(const Merge::Result& result, std::size_t depth, const Index* sizes, const std::byte* from, std::byte* to) {
  const DType dtype = result.nothing.dtype();
  if (depth == result.axes.size()) return copy_line(dtype, from, to, 1, 0, 0);
  const auto& [extent, from_entry, to_entry] = result.axes[depth];
  const Index count = sizes[extent], from_apart = sizes[from_entry], to_apart = sizes[to_entry];
  if (depth + 1 == result.axes.size()) return copy_line(dtype, from, to, count, from_apart, to_apart);
  for (Index k = 0; k < count; ++k) copy_axes(result, depth + 1, sizes, from + k * from_apart, to + k * to_apart);
}

void fill(const Scalar& value, std::byte* row, Index count) {
  for (Index k = 0; k < count; ++k) value.store(row + k * item_bytes(value.dtype()));
}

}  // namespace

void Merge::run(void* const* slots, const Index* sizes) const {
  for (const Result& result : results) {
    void* rows = slots[result.rows];
    const Index units = sizes[result.units];
    if (units > 1) result.fold(rows, sizes[result.count], sizes[result.pitch], units);             // short calls have one unit, and a call takes as long as such a sum
    else if (units == 0) fill(result.nothing, static_cast<std::byte*>(rows), sizes[result.count]);
    copy_axes(result, 0, sizes, static_cast<const std::byte*>(rows), static_cast<std::byte*>(slots[result.array]));
  }
}

}  // namespace weft
