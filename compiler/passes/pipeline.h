// The graph passes in order: one array of {name, function, purpose} from which running, tracing, timing and help come.
#pragma once
#include <span>

#include <weft/graph.h>
#include <weft/options.h>

namespace weft {

struct GraphPass {
  const char* name;
  Graph (*run)(const Graph&);
  const char* purpose;
  bool (*concerns)(const Graph&) = nullptr;     // it changes nothing in a graph for which this is false; null: it may change any graph

  bool may_change(const Graph& graph) const { return !concerns || concerns(graph); }
};
std::span<const GraphPass> graph_passes();

// Runs all passes that may change the graph; verifies after each if asked to; prints what `options.trace` (or WEFT_TRACE) names.
Graph run_graph_passes(Graph graph, const Options& options);

// Inputs and constants, under whatever shape: in memory before anything runs.
bool is_given(const Graph& graph, NodeId id);

// Ops and folds of f16 and bf16 become ops and folds in f32. Rounded is what is stored: outputs, what updates, reshapes and recurrences read, and what a
// cast to a half asks for, wherever it stands. So results do not depend on which loops share what.
Graph widen_halves(const Graph& graph);         // widen_halves.cpp
// A reshape of what ops make of inputs is these ops on reshaped inputs: no array is between them and what reads it in its new shape.
Graph lift_reshapes(const Graph& graph);        // lift_reshapes.cpp
// .. and ops on reshapes of anything else that nothing else reads are reshapes of these ops: one loop makes and finishes it.
Graph sink_reshapes(const Graph& graph);        // sink_reshapes.cpp
// Sums and products of integers of which only the low bytes are asked, as cast(sum(x), i32) does, are made of the low bytes: twice as many fit a vector.
Graph narrow_sums(const Graph& graph);          // narrow_sums.cpp
// Every fold over several axes becomes folds over one axis each, the last first: the order that weft/accumulator.h defines.
// Folded axes of extent 1 go.
Graph split_folds(const Graph& graph);          // split_folds.cpp
// Folds over a few elements of folds over a few elements, as of pooling and blocks of pixels, become the ops that combine these: one loop, in registers.
Graph unroll_folds(const Graph& graph);         // unroll_folds.cpp
// A slice of what an update writes from memory reads that memory itself, and zero beside it: stencils over a padded array need no such array.
Graph read_through_windows(const Graph& graph); // inline_windows.cpp
// .. and so does one of a value that is not made where the update writes it: it is an array of its own, and the update none.
Graph read_through_values(const Graph& graph);  // inline_windows.cpp
// Cheap values that an update writes are made where it writes them, from what its window reads of memory.
Graph inline_windows(const Graph& graph);       // inline_windows.cpp
// Cheap values of one element that ops read at several indices are made at each of them: no array is between.
Graph make_where_read(const Graph& graph);      // make_where_read.cpp
// Cheap values that a stack along its last axis puts side by side are made where it stores them.
Graph make_in_stacks(const Graph& graph);       // make_in_stacks.cpp
bool stacks_last(const Graph& graph);           // some node may be one
// Values of which every reader takes the same part are made in that part only.
Graph narrow(const Graph& graph);               // narrow.cpp
bool reads_in_part(const Graph& graph);         // some node does
bool reads_elements(const Graph& graph);        // some node does, or reads a value at a fixed index
// The window of an update is read from memory: one that is an iota, an extent or a literal gets a copy.
Graph store_windows(const Graph& graph);        // store_windows.cpp
// What a reshape names lies in memory of its own, in row-major order: a constant and an output get a copy, calls see to inputs.
Graph store_reshapes(const Graph& graph);       // store_reshapes.cpp
// An output that is a copy of a reshape is that reshape: what it names lies in the memory of the output, which is row-major while it is written.
Graph reshape_results(const Graph& graph);      // reshape_results.cpp
// A condition on indices that is asked along several axes, as those of a square are that rolls both ways, becomes one for each: nests make them where
// they ask (schedule/conditions.h), which one could not be for two axes of a nest.
Graph part_conditions(const Graph& graph);      // part_conditions.cpp

}  // namespace weft
