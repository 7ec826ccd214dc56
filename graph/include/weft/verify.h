// Checks a whole graph again. Passes are verified in tests and in debug builds; Graph::add has checked each node before,
// so a failure here means that something broke a finished graph.
//
//   verify(graph);                  // throws Error that names the invariant and shows the line
//
// Thread-safe on a finished graph. Cost: linear, about as long as building the graph.
#pragma once
#include <string>
#include <vector>

#include <weft/graph.h>

namespace weft {

// `parameters`: symbols that are given at the call besides the inputs.
void verify(const Graph& graph, const std::vector<std::string>& parameters = {});
// Only that every symbol is bound by some input or is a parameter: throws Error(shape) that names the symbol.
void check_symbols(const Graph& graph, const std::vector<std::string>& parameters = {});

}  // namespace weft
