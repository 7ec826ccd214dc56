// Conditions on the indices of axes alone, as triangles, windows and masks have them: i < j + 3, and what is made of such. They are made where they are
// asked, whatever part of the root that runs in: a mask of attention, which all heads share, takes no root from their nest. Where they hold
// is often known for a whole part of a loop (program/partition.h), but never of what memory holds.
#pragma once
#include <functional>
#include <set>

#include "schedule.h"

namespace weft {

// By node: those that elementwise nodes and folds read, each element at its own index. Outputs are none: they have arrays.
std::vector<bool> conditions_on_indices(const Graph& graph);

// Those that a node over these axes asks, and those that they are made of, each with the axes along which it is asked; in id order. None that is
// known, nor what it is made of.
using Asked = std::pair<NodeId, std::vector<int>>;
std::set<Asked> find_asked(const Graph& graph, const std::vector<bool>& asks, NodeId id, const std::vector<int>& axes,
                           const std::function<bool(const Asked&)>& is_known = [](const Asked&) { return false; });

// The nests of all other nodes get those that they read. One that a nest would read at two indices has a nest of its own, before all others.
void make_conditions(const Graph& graph, const Hints& hints, std::vector<Nest>& nests);

}  // namespace weft
