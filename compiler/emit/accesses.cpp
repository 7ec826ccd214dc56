#include "accesses.h"

#include <algorithm>
#include <utility>

namespace weft {

using llvm::Value;

// Beside stores past the caches, and in large folds, the processor's own fetching of what is read falls behind. Copies of the body read places of
// their own: x^T + y, in tiles of sixteen rows, takes 15 % more if these are fetched 4096 bytes ahead (Zen 5).
void Accesses::fetch_ahead(const Loop& loop, bool beside_stores) {
  std::vector<const Item*> loads;
  for (const Item& item : loop.body)
    if (auto* load = std::get_if<Load>(&item); load && reads_on(loop, *load)) loads.push_back(&item);
  std::vector<LaneAccess*> streams;
  for (const Item* item : loads) {
    const auto came_before = [&](const Item* other) { return follows_closely(std::get<Load>(*item), std::get<Load>(*other)); };
    if (std::any_of(loads.begin(), loads.end(), came_before)) continue;
    if (auto found = accesses_.find(item); found != accesses_.end() && !found->second.next_row) streams.push_back(&found->second);
  }
  const Index near = beside_stores ? near_ahead(static_cast<Index>(streams.size()) * copies()) : 0;
  for (LaneAccess* access : streams) {
    const Index ahead = near > 0 ? near : far_ahead;
    access->next_row = number(access->lane == StrideClass::reversed ? -ahead : ahead);
    access->next_is_near = near > 0;
  }
}

// Whether the loop runs over rows of what lies in memory, or comes with more than the caches hold: of loads with masks a processor learns little of what is
// next. Moving averages down 41943 x 100 doubles 3.8 -> 1.3 ms where only the end of a row has masks (Zen 5). What repeats does so in whole steps.
bool Accesses::walks_rows_of_memory(const Loop& loop) const {
  if (std::any_of(accesses_.begin(), accesses_.end(), [](const auto& each) { return each.second.period > 0 || each.second.each > 1; })) return false;
  return std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    const auto* load = std::get_if<Load>(&item);
    return load && !load->guarded && load->at.size() > 1 && lies_along(load->buffer, load->at, loop.var.axis) && comes_from_memory(*load);
  });
}

// Before a vector loop: the addresses of its items.
void Accesses::open_accesses(const Loop& loop) {
  const int axis = loop.var.axis;
  accesses_.clear();
  forget_invariants();
  bool past_caches = copies_.taken_past_caches;
  for (const Item& item : loop.body) {
    if (auto* load = std::get_if<Load>(&item)) {
      const Place place = program_.buffer(load->buffer).place;
      if (place != Place::index && !load->guarded) {
        accesses_[&item] = lane_access(load->buffer, load->at, axis);
        fetch_next(*load, accesses_[&item], copied_axis_ == program_.root.var.axis && copies_.tiled_by < 0 ? static_cast<Index>(jam_.size()) : 1);
      }
      if (load->guarded) base_of(load->buffer);
    } else if (auto* others = std::get_if<Others>(&item)) {
      open_others(*others, axis);
    } else if (auto* store = std::get_if<Store>(&item)) {
      LaneAccess access = lane_access(store->buffer, store->at, axis);
      if (copies_.tiled_by >= 0 && lies_across(item, copies_.tiled_by, axis) == 1) {
        access.stream = is_joined(*store, loop) ? streams_joined(*store, copies_.tiled_by, axis) : streams(*store, copies_.tiled_by, static_cast<int>(jam_.size()));
      } else {
        access.stream = streams(*store, axis);
        past_caches |= access.stream;
      }
      accesses_[&item] = access;
    } else if (auto* accumulate = std::get_if<Accumulate>(&item)) {
      const Fold& fold = program_.fold(accumulate->fold);
      if (fold.axis == axis) continue;
      const FoldState& state = folds_[static_cast<std::size_t>(accumulate->fold)];
      std::vector<Subscript> at;
      for (int row_axis : fold.row_axes) at.push_back({row_axis, 0, 1, -1});
      LaneAccess access = lane_access(fold.row, at, axis);
      Value* slot = b_.CreateMul(b_.CreateMul(fold_slot(fold, state), state.elements), number(item_bytes(fold.dtype)));
      access.base = b_.CreateGEP(b_.getInt8Ty(), access.base, slot);
      access.own_vectors = std::exchange(access.own, false);       // the next slot follows
      accesses_[&item] = access;
    }
  }
  if (past_caches || folds_from_memory(loop)) fetch_ahead(loop, past_caches);
}

std::pair<LaneAccess, LaneAccess> Accesses::others_access(const Others& item, int lanes) {
  LaneAccess from = lane_access(item.from, item.from_at, lanes), to = lane_access(item.to, item.to_at, lanes);
  to.stream = streams({item.to, item.to_at, {}}, lanes);
  return {from, to};
}

void Accesses::open_others(const Others& item, int lanes) {
  auto& elements = others_accesses_[&item];
  elements.clear();
  for (Index k = 0; k < program_.axis(item.axis).extent.constant(); ++k) {
    axis_index_[static_cast<std::size_t>(item.axis)] = number(k);
    elements.push_back(others_access(item, lanes));
  }
  axis_index_[static_cast<std::size_t>(item.axis)] = nullptr;
}

}  // namespace weft
