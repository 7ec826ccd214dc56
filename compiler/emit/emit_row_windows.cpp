// Windows of one row that overlap: vectors of the row are loaded once, and each window is picked from two of them. A load that begins within a line waits for
// two, and a row that comes from memory is asked for by as many loads as it has windows.
#include <algorithm>

#include <llvm/Analysis/VectorUtils.h>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

// Picking takes the units that multiply; a load that begins within a line counts twice. In the caches the mean of five neighbours takes .67 of the time, 3 x 3
// sums .9, steps of reactions that diffuse .85, but sixteen weights 1.2; in memory .48, .92, .95 and .65 (Zen 5).
bool KernelEmitter::picks_sooner(const Loop& loop, const std::vector<RowWindow>& all) const {
  const std::size_t elements = std::max<std::size_t>(1, jam_.size());
  std::vector<Window> loaded, rows;
  const auto add = [](std::vector<Window>& to, Window window) { if (std::find(to.begin(), to.end(), window) == to.end()) to.push_back(std::move(window)); };
  for (std::size_t element = 0; element < elements; ++element)
    for (const RowWindow& window : all) {
      add(loaded, window_of(std::get<Load>(*window.load), copied_axis_, element));
      add(rows, window_of(std::get<Load>(*window.first), copied_axis_, element));
    }
  std::size_t multiplied = 0, others = 0;
  for (const Item& item : loop.body) {
    const auto* compute = std::get_if<Compute>(&item);
    const auto* accumulate = std::get_if<Accumulate>(&item);
    multiplied += (compute && (compute->op == Op::multiply || compute->op == Op::fma || op_cost(compute->op) > 1)) || (accumulate && accumulate->factor);
    others += std::holds_alternative<Load>(item);
  }
  const std::size_t loads = 2 * loaded.size() - rows.size() + elements * (others - all.size());
  return 10 * (elements * multiplied + loaded.size() - rows.size()) < 9 * loads;
}

// Where no single instruction picks lanes from two registers the loads are as good.
void KernelEmitter::find_row_windows(const Loop& loop) {
  row_windows_.clear();
  if ((!jam_.empty() && !copies_.keep_windows) || copies_.tiled_by >= 0 || register_bytes() < 64) return;
  std::vector<RowWindow> all = row_windows(loop);
  const auto& accesses = jam_.empty() ? accesses_ : jam_.front().accesses;
  const auto is_plain = [&](const Item* item) {
    const auto access = accesses.find(item);
    return access != accesses.end() && access->second.lane == StrideClass::unit && access->second.period == 0 && access->second.each == 1 && !access->second.cells;
  };
  const auto is_stored = [&](int buffer) {
    return std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) { return std::holds_alternative<Store>(item) && std::get<Store>(item).buffer == buffer; });
  };
  std::erase_if(all, [&](const RowWindow& window) {
    const auto& load = std::get<Load>(*window.load);
    return size_of(program_.buffer(load.buffer).dtype) < size_of(f32) || is_stored(load.buffer) || !is_plain(window.load) || !is_plain(window.first);
  });
  const bool in_caches = !all.empty() && picks_sooner(loop, all);
  for (const RowWindow& window : all) {
    const auto in_row = std::count_if(all.begin(), all.end(), [&](const RowWindow& other) { return other.first == window.first; });
    const auto& load = std::get<Load>(*window.load);
    if (in_row > 1 && (in_caches || lies_in_memory(load.buffer, load.at))) row_windows_.emplace(window.load, window);
  }
}

// How far behind the first one's vector windows of its row reach.
Index KernelEmitter::reach_of(const Item* first) const {
  Index reach = 0;
  for (const auto& [item, window] : row_windows_) if (window.first == first) reach = std::max(reach, window.ahead);
  return reach;
}

// Of the row: the vector so many steps on; behind the last step no more of it than windows reach into, as the row may end there.
Value* KernelEmitter::row_vector(const Loop& loop, const Item* first, Value* index, int step, int steps) {
  const auto& load = std::get<Load>(*first);
  const Index lanes = step < steps ? lane_count : reach_of(first);
  Window vector = window_of(load, copied_axis_, jam_copy_);
  for (Subscript& s : vector.at)
    if (s.axis == loop.var.axis) s.start = s.start + step * lane_count;
  if (Value* kept = kept_vector(vector, lanes)) return kept;
  LaneAccess access = accesses_.at(first);
  Value* mask = nullptr;
  if (step == steps) {
    access.next_row = nullptr;
    std::vector<llvm::Constant*> there;
    for (Index lane = 0; lane < lane_count; ++lane) there.push_back(b_.getInt1(lane < lanes));
    mask = llvm::ConstantVector::get(there);
  }
  Value* loaded = lane_load(access, program_.buffer(load.buffer).dtype, index, step, mask);
  windows_.push_back({std::move(vector), loaded, lanes});
  return loaded;
}

// By step; none: the load is no such window, or some lanes are outside of the loop.
std::vector<Value*> KernelEmitter::emit_row_window(const Loop& loop, const Item* item, Value* index, int steps, const Masks& masks) {
  const auto found = row_windows_.find(item);
  if (found == row_windows_.end() || part_ || !masks.empty()) return {};
  const RowWindow& window = found->second;
  const DType dtype = program_.buffer(std::get<Load>(*item).buffer).dtype;
  std::vector<Value*> made;
  for (int step = 0; step < steps; ++step) {
    if (window.load != window.first) fetch_beside(accesses_.at(item), dtype, lane_address(accesses_.at(item), dtype, index, step), step);
    Value* low = row_vector(loop, window.first, index, step, steps);
    const auto lanes = llvm::createSequentialMask(static_cast<unsigned>(window.ahead), lane_count, 0);
    made.push_back(window.ahead == 0 ? low : b_.CreateShuffleVector(low, row_vector(loop, window.first, index, step + 1, steps), lanes));
  }
  return made;
}

}  // namespace weft
