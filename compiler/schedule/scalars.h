// Scalars of inputs and extents: made once, in a nest before all others, or by each nest that reads them for each of its slices.
//
// A few simple ops take less than a stage of their own does. The pass runs when the nests have what they keep: a reader that another nest
// makes again takes its scalars along.
#pragma once
#include "schedule.h"

namespace weft {

// Empties nests without axes into their readers, where that is less. Scalars may run in several nests afterwards.
void make_scalars_where_read(const Graph& graph, std::vector<Nest>& nests);

}  // namespace weft
