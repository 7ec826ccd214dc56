#include "side_by_side.h"

#include <algorithm>

namespace weft {

// What a unit leaves of a fold is copied once. Of several rows of a block, which the first level holds, two vectors go without a wait: the gradient of a
// logistic loss takes as long as with four, and a twelfth less to compile.
int SideBySide::steps_of(const Loop& loop) const {
  constexpr int of_block = 2;
  const bool is_seldom = std::any_of(loop.body.begin(), loop.body.end(), [&](const Item& item) {
    auto* store = std::get_if<Store>(&item);
    return store && program_.buffer(store->buffer).place == Place::partial;
  });
  if (copies_.tiled_by >= 0 || is_seldom) return 1;
  if ((copies_.keep_windows && !jam_.empty()) || copies_.left_over) return vectors_in_register(loop);
  if (copies_.thin > 0) return std::min(interleave(loop), vectors_of_slots(loop, copies_.thin));
  const bool along_block = !jam_.empty() && program_.block > 0 && program_.is_tiled(copied_axis_);
  return along_block ? std::min(interleave(loop), of_block) : interleave(loop);
}

void SideBySide::exchange(JamCopy& copy) {
  std::swap(axis_index_, copy.axis_index);
  std::swap(scalars_, copy.scalars);
  std::swap(accesses_, copy.accesses);
  std::swap(spread_, copy.spread);
  std::swap(divisors_, copy.divisors);
  std::swap(folds_, copy.folds);
}

}  // namespace weft
