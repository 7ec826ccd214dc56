// Loads of a vector loop that read the same row of an array, each some elements further than the first: x[i], x[i+1], x[i+2].
#pragma once
#include <vector>

#include "program.h"

namespace weft {

struct RowWindow {
  const Item *load, *first;             // it, and the one that begins a vector or less before it: perhaps itself
  Index ahead;                          // elements from that to it
};
// All loads of the body that have such neighbours, in order of where they begin; of each row as many firsts as it takes.
std::vector<RowWindow> row_windows(const Loop& lanes);

}  // namespace weft
