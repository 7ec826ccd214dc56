#include "side_by_side.h"

namespace weft {

void SideBySide::exchange(JamCopy& copy) {
  std::swap(axis_index_, copy.axis_index);
  std::swap(scalars_, copy.scalars);
  std::swap(accesses_, copy.accesses);
  std::swap(spread_, copy.spread);
  std::swap(divisors_, copy.divisors);
  std::swap(folds_, copy.folds);
}

}  // namespace weft
