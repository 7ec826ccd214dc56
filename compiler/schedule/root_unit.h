// How many elements of the root a unit of parallel work has, if the root runs as vectors: by what the nest has in use for each of them.
#pragma once
#include "schedule.h"

namespace weft {

// moved: bytes of all arrays of the nest.
Index unit_of_root_vectors(const Graph& graph, const Hints& hints, const Schedule& schedule, const Nest& nest, double moved);

}  // namespace weft
