// Work that recurses as deep as a graph is large: LLVM's instruction selection does over the nodes of a block.
#pragma once
#include <functional>
#include <vector>

namespace weft {

// Runs all of them at once, each on a stack of 512 MiB, of which only what is touched takes memory: the first on the calling thread, the others on
// threads of their own. Throws what the first of them throws that fails, when all have ended.
void on_large_stacks(const std::vector<std::function<void()>>& works);

}  // namespace weft
