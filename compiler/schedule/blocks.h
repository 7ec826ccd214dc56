// Blocks of rows: a nest over rows takes several of them through one loop before the next loop begins, where that pays.
#pragma once
#include "schedule.h"

namespace weft {

// Whether the node runs along the root and no other axis: one element for each row.
bool follows_root_alone(const Nest& nest, const Placed& placed);
// Whether the node runs along axes, but not along the root: a condition on an index (recompute.cpp), which is made in every loop that asks.
bool is_made_by_readers(const Nest& nest, const Placed& placed);

// How many rows a block has; 0: rows go one by one. Notes in nest.blocks what it compared. The root is nest.vars[0], root_folds: something folds
// over it.
Index choose_block(const Graph& graph, const Hints& hints, const Schedule& schedule, bool root_folds, Nest& nest);

}  // namespace weft
