#include <weft/merge.h>

#include <cstring>

namespace weft {

namespace {

template <std::size_t bytes> void copy_line(const std::byte* from, std::byte* to, Index count, Index from_apart, Index to_apart) {
  for (Index k = 0; k < count; ++k) std::memcpy(to + k * to_apart, from + k * from_apart, bytes);
}

auto* line_copier(const Merge::Result& result) {
  switch (size_of(result.nothing.dtype())) {
    case 1: return &copy_line<1>;
    case 2: return &copy_line<2>;
    case 4: return &copy_line<4>;
    default: return &copy_line<8>;
  }
}

// The axes from `depth` on. No axis: one element.
void copy_axes(const Merge::Result& result, std::size_t depth, const Index* sizes, const std::byte* from, std::byte* to) {
  if (depth == result.axes.size()) return line_copier(result)(from, to, 1, 0, 0);
  const auto& [extent, from_entry, to_entry] = result.axes[depth];
  const Index count = sizes[extent], from_apart = sizes[from_entry], to_apart = sizes[to_entry];
  if (depth + 1 == result.axes.size()) return line_copier(result)(from, to, count, from_apart, to_apart);
  for (Index k = 0; k < count; ++k) copy_axes(result, depth + 1, sizes, from + k * from_apart, to + k * to_apart);
}

void fill(const Scalar& value, std::byte* row, Index count) {
  for (Index k = 0; k < count; ++k) value.store(row + k * static_cast<Index>(size_of(value.dtype())));
}

}  // namespace

void Merge::run(void* const* slots, const Index* sizes) const {
  for (const Result& result : results) {
    void* rows = slots[result.rows];
    if (sizes[result.units] > 0) result.fold(rows, sizes[result.count], sizes[result.units]);
    else fill(result.nothing, static_cast<std::byte*>(rows), sizes[result.count]);
    copy_axes(result, 0, sizes, static_cast<const std::byte*>(rows), static_cast<std::byte*>(slots[result.array]));
  }
}

}  // namespace weft
