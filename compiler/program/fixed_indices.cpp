#include "fixed_indices.h"

#include "visit.h"

namespace weft {
namespace {

// The indices at which dimensions stand still before all others run; none if it is not so.
std::vector<Index> leading_indices(const std::vector<Subscript>& at) {
  std::vector<Index> indices;
  auto s = at.begin();
  for (; s != at.end() && s->axis < 0 && s->start.is_number(); ++s) indices.push_back(s->start.constant());
  const bool others_run = s != at.end() && std::all_of(s, at.end(), [](const Subscript& each) { return each.axis >= 0; });
  return others_run ? indices : std::vector<Index>();
}

// Code for elements that lie side by side may know what follows them in memory; of dimensions outside it knows nothing.
bool lies_in_order(const Buffer& array, std::size_t dims, const StrideClasses& classes) {
  if (array.order != Order::c) return false;
  if (array.place == Place::temporary) return true;
  const auto found = classes.find(array.node);
  return found == classes.end() || std::none_of(found->second.begin(), found->second.begin() + static_cast<std::ptrdiff_t>(dims), is_known);
}

// Parts of a loop hold its items again.
template <class Visit> void each_item_and_part(Loop& loop, const Visit& visit) {
  for (Item& item : loop.body) {
    if (auto* inner = std::get_if<Loop>(&item)) each_item_and_part(*inner, visit);
    else visit(item);
  }
  for (Loop& part : loop.parts) each_item_and_part(part, visit);
}

// By buffer: the least of the indices of its accesses.
std::vector<std::vector<Index>> least_indices(Program& program, const StrideClasses& classes) {
  std::vector<std::optional<std::vector<Index>>> least(program.buffers.size());
  each_item_and_part(program.root, [&](Item& item) {
    auto* load = std::get_if<Load>(&item);
    each_access(item, [&](int buffer, const std::vector<Subscript>& at, bool) {
      const Buffer& array = program.buffer(buffer);
      const bool is_read = load && !load->guarded && (array.place == Place::argument || array.place == Place::temporary);
      auto indices = is_read ? leading_indices(at) : std::vector<Index>();
      if (!lies_in_order(array, indices.size(), classes)) indices.clear();
      auto& known = least[static_cast<std::size_t>(buffer)];
      if (!known) known = indices;
      known->resize(std::min(known->size(), indices.size()));
      for (std::size_t d = 0; d < known->size(); ++d) (*known)[d] = std::min((*known)[d], indices[d]);
    });
  });
  std::vector<std::vector<Index>> indices;
  for (auto& of : least) indices.push_back(of ? std::move(*of) : std::vector<Index>());
  return indices;
}

}  // namespace

std::vector<FixedIndex> take_fixed_indices(Program& program, const StrideClasses& classes) {
  const auto indices = least_indices(program, classes);
  each_item_and_part(program.root, [&](Item& item) {
    each_access(item, [&](int buffer, std::vector<Subscript>& at, bool) {
      for (std::size_t d = 0; d < indices[static_cast<std::size_t>(buffer)].size(); ++d) at[d].start = at[d].start - indices[static_cast<std::size_t>(buffer)][d];
    });
  });
  std::vector<FixedIndex> fixed;
  for (std::size_t k = 0; k < indices.size(); ++k)
    for (std::size_t d = 0; d < indices[k].size(); ++d)
      if (indices[k][d] != 0) fixed.push_back({static_cast<int>(k), d, indices[k][d]});
  return fixed;
}

}  // namespace weft
