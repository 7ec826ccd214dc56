// Graph passes: each a pure function Graph -> Graph in a file of its own.
//
// A pass leaves its argument alone, keeps every input (in order, used or not) and the number and order of outputs, and
// costs near linear time without recursion: 20,000 nodes take a few tens of milliseconds. Results hold live nodes
// only, except where a pass says otherwise. Every output of a result is a distinct node that computes something
// (can_be_output in passes/rebuild.h): an output that would be an input, a constant or another output becomes a copy of it.
//
//   Graph small = drop_dead(merge_duplicates(simplify(extract(graph, {x, w}, {loss}))));
//
// Thread-safe: several passes may read one graph at a time.
#pragma once
#include <cstdint>
#include <vector>

#include <weft/graph.h>

namespace weft {

// Out: a graph of its own with `inputs` in the given order and what `outputs` need.
// Needs: Exprs of `graph`; every input the outputs need is listed (Error(usage) names one that is not).
// Keeps: the ids' order; names of inputs.
Graph extract(const Graph& graph, const std::vector<Expr>& inputs, const std::vector<Expr>& outputs);

// Out: only what the outputs need, numbered depth-first from the outputs, operands in position order.
// Keeps: every value, bit for bit.
// So that: ids, golden text and cache keys do not depend on the order in which nodes were built.
Graph drop_dead(const Graph& graph);
Graph drop_dead(Graph&& graph);
bool is_numbered(const Graph& graph);            // so: drop_dead changes nothing

// Out: values that only elementwise ops and folds read have no axes of extent 1, as numbers, in their results.
// Keeps: every value, bit for bit; inputs and outputs as they are.
Graph drop_unit_axes(const Graph& graph);
bool has_unit_axes(const Graph& graph);          // some op or fold has one

// Out: of equal nodes (same op, dtype, domain, fold, payload bits, operands and maps) the first.
// Keeps: every value, bit for bit.
// Note: the preferred layout (`order`) of the first one stays.
Graph merge_duplicates(const Graph& graph);

// Out: an op over scalar constants becomes a constant.
// Keeps: every value, bit for bit: only ops that are rounded exactly, never exp, log, .. whose compiled bits may
// differ from those of libm; never f16 and bf16.
Graph fold_constants(const Graph& graph);
bool has_constants_to_fold(const Graph& graph);

// exact: bit-identical for every input, NaN, infinities and -0 included. real: equal over the real numbers where the
// pattern is defined, and better conditioned: log1p(exp(a)) -> softplus(a).
enum class RuleClass : std::uint8_t { exact, real };

// Out: the rules of graph/passes/simplify_rules.h applied until none fits: multiply(a, 1) -> a, where(c, a, a) -> a, ..
// Keeps: every value bit for bit (RuleClass::exact); with RuleClass::real the real-number meaning.
// Note: forgets stop_gradient: differentiate first.
Graph simplify(const Graph& graph, RuleClass allowed = RuleClass::exact);

// Out: log(sum(exp(a))) becomes log(sum(exp(a - top))) + top, with the largest a, as logsumexp computes it; f32 and f64.
// Keeps: the real-number meaning, also where the sum of the exponentials overflows or is 0.
Graph shift_log_sums(const Graph& graph);

// Out: sum(square(x - sum(x) / n)) takes off the mean of a sixteenth of the elements instead and corrects the sum: one pass over x
// in place of two. They stay two where rows lie along the only folded axis, and where deviations are an output.
// Keeps: the real-number meaning, to four bits at worst and a rounding or two as a rule; the result is never negative.
// Note: finite elements whose sum overflows give NaN, where two passes give infinity.
Graph shift_variances(const Graph& graph);

// Out: add and subtract of a multiply that nothing else uses become one fma node, and a sum over one becomes a node that folds
// the multiply: it adds each product unrounded (f32 and f64). So do steps of recurrences with products of what was before.
// Keeps: values up to one rounding fewer.
// So that: contraction is decided here and nowhere later; loops and the interpreter run the same fma nodes.
Graph contract(const Graph& graph);

// Out: an operand that is a copy without a fold (transpose, slice, flip, broadcast) is read through: maps compose.
// Keeps: every value, bit for bit; a copy that is an output; a copy that alone mentions a folded axis.
Graph absorb_copies(const Graph& graph);

// Out: a scan that reads mostly reversed and is read mostly reversed, along the axes that carry, runs from the last element itself.
// Keeps: every value, bit for bit: the same elements in the same order of visiting; outputs, and what a reshape or update names.
// So that: the two scans of a product's gradient, and that of a running sum, share loops with what they read and what reads them.
Graph turn_scans(const Graph& graph);

// Out: `order` of every node is the layout that suits its readers: C for order c, F for order f, whichever more of them
// have; between equal numbers, and without readers, the node's own. A reader that runs through the axes backwards
// (x[j,i] over i, j) prefers the other layout, unless the node is an output: callers see F only where an order f asks.
// Keeps: every value, bit for bit: the order of a fold is defined on axes, not on memory.
// Source: tests/README.md, requirements 154.
Graph choose_layouts(const Graph& graph);

}  // namespace weft
