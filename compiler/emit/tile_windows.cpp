// Windows along the copies of a tile: what one of them reads of a window is what another one, or none, has loaded and transposed with its own. Halves of
// rows of ten floats that rotate each other .32 -> .13 ns an element in the caches (Zen 5).
#include <algorithm>

#include "emit_kernel.h"
#include "program/index_conditions.h"

namespace weft {

using llvm::Value;

namespace {

// The dimension along which the copies go, at known places one after the other; -1: there is none, or more than one.
int dimension_of_copies(const std::vector<Subscript>& at, int axis) {
  int only = -1;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (at[d].axis != axis) continue;
    if (only >= 0 || !at[d].start.is_number() || (at[d].step != 1 && at[d].step != -1) || !at[d].is_linear()) return -1;
    only = static_cast<int>(d);
  }
  return only;
}

bool equal_but_for(std::size_t dimension, const std::vector<Subscript>& a, const std::vector<Subscript>& b) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if (d != dimension && !(a[d] == b[d])) return false;
  return true;
}

}  // namespace

// Null: it is no such window, or no copy has what it reads.
Value* KernelEmitter::window_of_tile(const Loop& lanes, const Load& load) {
  if (!load.guarded || copies_.tiled_by < 0 || jam_.size() < 2 || tiles_.empty()) return nullptr;
  const int axis = copies_.tiled_by;
  const auto* own = llvm::dyn_cast_or_null<llvm::ConstantInt>(axis_index_[static_cast<std::size_t>(axis)]);
  if (!own || !std::all_of(load.at.begin(), load.at.end(), [&](const Subscript& s) { return s.axis == axis ? s.dim >= 0 && !s.elements : has_every_index(program_, load, s); })) return nullptr;
  const std::vector<Subscript> at = unguarded(program_, load);
  const int found = dimension_of_copies(at, axis);
  if (found < 0) return nullptr;
  const auto d = static_cast<std::size_t>(found);
  const Buffer& window = program_.buffer(load.buffer);
  const Index wanted = at[d].start.constant() + at[d].step * own->getSExtValue();
  const bool is_beside = wanted < 0 || (window.extents[d].is_number() && wanted >= window.extents[d].constant());
  if (is_beside) return llvm::Constant::getNullValue(register_type(context_, window.dtype, lane_count));
  if (!window.extents[d].is_number()) return nullptr;
  for (const Item& item : lanes.body) {
    const auto tile = tiles_.find(&item);
    if (tile == tiles_.end()) continue;
    const auto& other = std::get<Load>(item);
    if (other.guarded || other.buffer != load.buffer || dimension_of_copies(other.at, axis) != found || !equal_but_for(d, other.at, at)) continue;
    const Index copy = static_cast<Index>(jam_copy_) + (wanted - other.at[d].start.constant()) * other.at[d].step - own->getSExtValue();
    if (copy >= 0 && copy < static_cast<Index>(jam_.size())) return from_memory(tile->second[static_cast<std::size_t>(copy)], window.dtype);
  }
  return nullptr;
}

}  // namespace weft
