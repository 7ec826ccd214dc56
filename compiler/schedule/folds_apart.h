// Sums of what a nest has for each of its rows, apart from nests that could slide (weft/slide.h).
//
// A fold over the root gives one result for units of 1024 rows, each of which runs once: such a nest neither makes lines for others strip by strip
// nor reads them so. Where it is a stencil of another nest's array, or the other way round, and that array does not stay near, the fold
// gets a nest of its own, behind all others that it can follow: what it reads is a number for each row, and the rest slides.
//
//   loss = sum(square(conv(relu(conv(x))))) and its gradient, 2160 x 3840 floats: 27 -> 22 ms (Zen 5)
#pragma once
#include "schedule.h"

namespace weft {

void set_folds_apart(const Graph& graph, const Hints& hints, std::vector<Nest>& nests, std::vector<Parting>& partings);

}  // namespace weft
