// Broadcasts that a call decides (Kind::fit) made into ordinary nodes for the sizes of one call.
//
//   %0: f64[s[0],4] = broadcast(%x) to [s[0],4]        %x: f64[n,4]; s[0] is an element of the input %s
//
// When n is s[0], axis 0 is followed; when n is 1 it is repeated. A settled graph says which: the node is a copy (of an
// adjoint: a sum over what repeated), and symbols that must agree are one symbol, so that loops fuse as in any other graph.
// It holds for every call with the same key, whatever the sizes. Symbols may become numbers besides: the graph is then one for calls
// in which they have these values.
//
//   if (has_fits(graph)) Graph plain = settle(graph, bindings);        // the same ids, inputs and outputs
//   Graph of_three = settle(graph, bindings, {{"c", 3}});              // c is 3 in `bindings` too
//
// The sizes agree: check_at_call (weft/binding.h) was called for each fit. Pure functions; thread-safe. Cost: linear.
#pragma once
#include <string>

#include <weft/graph.h>

namespace weft {

bool has_fits(const Graph& graph);
std::string fit_key(const Graph& graph, const Bindings& bindings);     // one letter for each axis of each fit
Graph settle(const Graph& graph, const Bindings& bindings, const Bindings& numbers = {});

}  // namespace weft
