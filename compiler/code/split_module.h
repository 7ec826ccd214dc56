// Parts of a large module, so that several threads can generate its code: functions are shared out by size, each part has a context of
// its own, and functions call each other across parts by name.
#pragma once
#include <vector>

#include "owned_module.h"

namespace weft {

// At most `most` parts, and only as many as are worth a thread. Names of functions must be unique in the process.
std::vector<OwnedModule> split_module(OwnedModule whole, std::size_t most);

}  // namespace weft
