// What a call must satisfy before anything runs: arguments match the inputs, and every symbol has one value.
// Used by the interpreter and by compiled functions, so both refuse the same calls with the same words.
//
//   Bindings n = bind_symbols(graph, {x, w}, {xa, wa});      // {"n": 1000}
//   for (NodeId id : live) if (has_call_checks(graph, id)) check_at_call(graph, id, n);
//
// Errors: usage (number of arguments, not an input), dtype (no implicit cast), shape (rank, sizes, symbols).
// Pure functions; thread-safe. Cost: O(total rank of the inputs); a message costs O(graph).
#pragma once
#include <vector>

#include <weft/graph.h>

namespace weft {

// The values of all symbols in the shapes of `inputs`, given what is passed for each. Extents that are one symbol bind it, and
// the elements of integer inputs bind s[0], s[1], .. where the graph mentions them; numbers and other expressions (2*n+1) are
// then checked. `extra` binds symbols that no input mentions.
Bindings bind_symbols(const Graph& graph, const std::vector<NodeId>& inputs, const std::vector<const View*>& arrays, const Bindings& extra = {});
Bindings bind_symbols(const Graph& graph, const std::vector<NodeId>& inputs, const std::vector<Array>& arrays, const Bindings& extra = {});
Bindings bind_symbols(const Graph& graph, const std::vector<NodeId>& inputs, const std::vector<View>& arrays, const Bindings& extra = {});

// Nodes that the outputs need, in id order.
std::vector<NodeId> live_nodes(const Graph& graph, const std::vector<NodeId>& outputs);
// Throws unless every input that the outputs need is among `inputs`.
void check_inputs_given(const Graph& graph, const std::vector<NodeId>& outputs, const std::vector<NodeId>& inputs);

// Whether sizes decide if a node makes sense: extents that can be negative, slices with symbolic bounds, max or min over
// an axis that can be empty, broadcasts that a call decides.
bool has_call_checks(const Graph& graph, NodeId id);
void check_at_call(const Graph& graph, NodeId id, const Bindings& bindings);   // throws Error(shape)

}  // namespace weft
