// Parts of a large module, so that several threads can generate its code: functions are shared out by size, each part has a context of
// its own, and functions call each other across parts by name.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "owned_module.h"

namespace weft {

// So many parts of so many instructions are worth a thread each: `most` or fewer, one at least.
int parts_worth_threads(std::size_t instructions, int most);

// At most `most` parts, and only as many as are worth a thread: each is made by the thread that calls for it, once; all at the same time if
// need be. Names of functions must differ from those that the code may call outside.
std::vector<std::function<OwnedModule()>> split_module(OwnedModule whole, int most);

}  // namespace weft
