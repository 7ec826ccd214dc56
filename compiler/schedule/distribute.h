// Loop distribution: the long body of a vector loop becomes several loops over a strip of elements that stays in the first level.
//
// Long functions wait for their own results, and a processor looks some hundred instructions ahead: of a body of 130 whose results wait
// for each other it finds little to do beside one vector. Of bodies that are half as long, or whose functions do not wait for each other,
// it works on several vectors at a time. Values that a later loop reads go through rows.
#pragma once
#include "schedule.h"

namespace weft {

// By place: the loop along nest.lanes that runs the node, counted in id order; 0 for nodes that do not run along it. Empty: one loop is
// best. Notes in nest.distribution what it compared. Cost: linear in the nodes.
std::vector<int> distribute(const Graph& graph, const Schedule& schedule, Nest& nest);

}  // namespace weft
