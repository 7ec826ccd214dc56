#include <weft/search.h>

#include <algorithm>

namespace weft {
namespace {

template <class T> bool has_extreme(const void* memory, Index count, Index pitch, Index unit) {
  const T *all = static_cast<const T*>(memory), *own = all + unit * pitch;
  for (Index k = 0; k < count; ++k)
    if (own[k] == all[k] || own[k] != own[k]) return true;
  return false;
}

}  // namespace

bool UnitSearch::may_hold(void* const* slots, const Index* sizes, Index unit) const {
  return std::any_of(extremes.begin(), extremes.end(), [&](const Extreme& extreme) {
    return visit_dtype(extreme.dtype, [&](auto tag) { return has_extreme<typename decltype(tag)::type>(slots[extreme.rows], sizes[extreme.count], sizes[extreme.pitch], unit); });
  });
}

void UnitSearch::find_nothing(void* const* slots, const Index* sizes, Index unit) const {
  for (const Found& found : results) {
    const Index bytes = item_bytes(found.nothing.dtype());
    std::byte* row = static_cast<std::byte*>(slots[found.rows]) + unit * sizes[found.pitch] * bytes;
    for (Index k = 0; k < sizes[found.count]; ++k) found.nothing.store(row + k * bytes);
  }
}

}  // namespace weft
