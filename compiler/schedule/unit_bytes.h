// What a nest whose root runs as vectors has in use for each element of the root, in bytes: by it the length of a unit is chosen.
#pragma once
#include "schedule.h"

namespace weft {

// What one loop keeps for another: rows, parts of arrays that are read again, sums over other axes.
double kept_bytes(const Graph& graph, const Schedule& schedule, const Nest& nest);
// The same of loops that were one body: of all arrays, which later loops read again, and of rows.
double bytes_of_strip(const Graph& graph, const Schedule& schedule, const Nest& nest);
// Of arrays whose lines lie across the vectors: the elements of a line are read one after the other, by loops outside.
double bytes_across(const Graph& graph, const Hints& hints, const Nest& nest);
// Of folds over many rows: their slots.
double bytes_of_slots(const Graph& graph, const Nest& nest);

}  // namespace weft
