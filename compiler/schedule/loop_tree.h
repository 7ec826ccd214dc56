// The tree of loops of a nest, once their order is chosen.
#pragma once
#include "schedule.h"

namespace weft {

// The nest has its variables; its nodes are in an order in which each comes after those that it reads. loops: see distribute.h. Cost: linear
// in the nodes.
Level build_tree(const Graph& graph, const Nest& nest, const std::vector<int>& loops);

}  // namespace weft
