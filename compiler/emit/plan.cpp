#include "plan.h"

namespace weft {

int SizeTable::add(const Extent& extent, Index at_least) {
  const std::string key = to_text(extent) + (at_least == INT64_MIN ? "" : ">" + std::to_string(at_least));
  auto [it, fresh] = numbers_.emplace(key, static_cast<int>(specs_.size()));
  if (fresh) specs_.push_back({extent, at_least, -1, -1});
  return it->second;
}

int SizeTable::stride(int slot, int dim) {
  auto [it, fresh] = numbers_.emplace("@" + std::to_string(slot) + "." + std::to_string(dim), static_cast<int>(specs_.size()));
  if (fresh) specs_.push_back({0, INT64_MIN, slot, dim});
  return it->second;
}

int Plan::slot_of(Place place, NodeId node) {
  auto [it, fresh] = slot_numbers.emplace(std::pair(node, place == Place::partial), static_cast<int>(slots.size()));
  if (fresh) slots.push_back({place, node, 0});
  return it->second;
}

Extent row_elements(const Buffer& buffer) {
  Extent elements = 1;
  for (const Extent& extent : buffer.extents) elements = elements * extent;
  return floor_div(elements + 15, 16) * Extent(16);
}

Extent stride_between(const Buffer& buffer, std::size_t dim) {
  Extent stride = item_bytes(buffer.dtype);
  const bool c = buffer.order == Order::c;
  for (std::size_t d = c ? dim + 1 : 0; d < (c ? buffer.extents.size() : dim); ++d) stride = stride * buffer.extents[d];
  return stride;
}

}  // namespace weft
