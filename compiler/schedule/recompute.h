// Values that several nests read: stored by the nest that makes them, or made again by each that reads them.
//
// A stored value is written once and read from memory; a value that is made again costs its ops, and the reading of what
// they need. The sizes and strides of the call that compiles decide: a million exponentials are sooner computed than fetched,
// a thousand are sooner fetched. So the backward half of a gradient makes again what is cheap, and reads what is dear. Equal
// ops on equal operands have equal bits, wherever they run.
#pragma once
#include "schedule.h"

namespace weft {

// Adds nodes to nests that read them, and takes them from their own nest if nothing there needs them any more. A nest
// that loses nodes may have more roots without them. Afterwards a node may run in several nests; those that only memory hands on are listed in one.
// Returns what was compared.
std::vector<Again> make_cheap_values_again(const Graph& graph, const Hints& hints, std::vector<Nest>& nests);

}  // namespace weft
