#include "plan.h"

namespace weft {

int SizeTable::add(const Extent& extent, Index at_least) {
  const std::string key = to_text(extent) + (at_least == INT64_MIN ? "" : ">" + std::to_string(at_least));
  auto [it, fresh] = numbers_.emplace(key, static_cast<int>(specs_.size()));
  if (fresh) specs_.push_back({extent, at_least, -1, -1});
  return it->second;
}

int SizeTable::stride(int slot, int dim, Index times) {
  const std::string key = "@" + std::to_string(slot) + "." + std::to_string(dim) + (times == 1 ? "" : "*" + std::to_string(times));
  auto [it, fresh] = numbers_.emplace(key, static_cast<int>(specs_.size()));
  if (fresh) specs_.push_back({0, INT64_MIN, slot, dim, times});
  return it->second;
}

int Plan::slot_of(Place place, NodeId node) {
  auto [it, fresh] = slot_numbers.emplace(std::pair(node, place == Place::partial), static_cast<int>(slots.size()));
  if (fresh) slots.push_back({place, node, 0});
  return it->second;
}

int Plan::stride(const Buffer& buffer, int slot, std::size_t dim, Index times) {
  const bool is_between = buffer.place != Place::argument && buffer.place != Place::result;
  return is_between ? sizes.add(stride_between(buffer, dim) * Extent(times)) : sizes.stride(slot, static_cast<int>(dim), times);
}

std::vector<int> slots_of(const Program& program, Plan& plan) {
  std::vector<int> slots;
  for (const Buffer& buffer : program.buffers) {
    const bool memory = buffer.place != Place::row && buffer.place != Place::index && buffer.place != Place::extent;
    slots.push_back(memory ? plan.slot_of(buffer.place, buffer.node) : -1);
    if (!memory) continue;
    Extent& bytes = plan.slots[static_cast<std::size_t>(slots.back())].bytes;
    if (buffer.place == Place::partial) bytes = (program.units() + 1) * row_elements(buffer) * Extent(item_bytes(buffer.dtype));
    if (buffer.place == Place::temporary) bytes = std::accumulate(buffer.extents.begin(), buffer.extents.end(), Extent(item_bytes(buffer.dtype)), std::multiplies<>());
  }
  return slots;
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
