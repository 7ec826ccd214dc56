// A program that looks for where an extreme stands, as argmax does, needs no unit whose own extreme is another one: the program before has left those of all
// units, cut alike. Such units are left out (weft/search.h).
//
//   merges %1 by max over i                       merges %5 by min over i
//   parallel i in n by 1024 { .. }                searches units by partial(%1)
//                                                 parallel i in n by 1024 { .. where t4 t8 2147483647 .. }
#pragma once
#include <optional>
#include <vector>

#include "program.h"

namespace weft {

void search_units(std::vector<Program>& programs, const Graph& graph);

// The fold that `id`, a fold of the smallest index, looks for: where(v == m, index, none), or with v == m | isnan(v), of which m is the largest or smallest
// of v along the same axes.
std::optional<NodeId> extreme_sought(const Graph& graph, NodeId id);

}  // namespace weft
