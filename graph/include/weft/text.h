// Graphs as text: printed, parsed back, compared, drawn.
//
//     graph lsq(%x: f64[n,m], %w: f64[m], %y: f64[n]) -> (%2, %3) {
//       %0: f64[i:n] = sum(j:m) multiply(%x[i,j], %w[j])
//       %1: f64[i:n] = subtract(%0[i], %y[i])
//       %2: f64[] = sum(i:n) square(%1[i])
//       %3: f64[i:n] = multiply(2, %1[i])
//     }
//
// An operand that lacks a letter is broadcast along that axis; a letter in front of the op is folded away.
//   types      f64[i:n,j:2*m+1]; a trailing f is the order: %x: f64[n,m] f; axis i is the first of the domain, then
//              j k l p q r s ..., skipping every name that is a symbol of the graph
//   indices    %x[2*i+1,n-1-j,0]: start + step * axis, or a fixed index; %x[i] is the whole axis, whose extent is checked,
//              %x[i+0] its first elements, as many as i has
//   constants  scalars stand where they are used; 2:i32 where no other operand tells the dtype; inf -inf nan -0 true false;
//              arrays have a line, row-major: %0: f32[2,2] = constant [1, 2, 3, 4]
//   the rest   %1: i64[i:n] = iota(i)      %2: i64[] = extent(n+1)      %3: f64[n] = update(%0[i]) at [2*i+1]
//              (%0 written into zeros; `within` for `at`: what lands outside is left out)      %4: f64[m,2] = reshape(%3)      ; comments run to the end of the line
//   recurrences  %5: f64[i:n,j:m] = scan(j) sum(%x[i,j])      %6: f64[i:n] = fold(j:m) ema(%x[i,j])
//              an accumulator of one's own is defined in front of the lines:
//              define ema(0:f64) { graph step(%s0: f64[], %x0: f64[]) -> (%2, %2) {..} graph finish(%s0: f64[]) -> (%0) {..} }
//              start values; (states, elements) -> (states, emitted values); states -> values, of which ema.1 is the second;
//              then graph gradient(..) -> (..), if it was given one (recurrence.h)
//   others     %5: f64[i:n,j:4] = others(j) prod(%x[i,j])     (each element: the product of all others along j)
//   at calls   %4: f64[s[0],4] = broadcast(%x) to [s[0],4]     (weft/settle.h; s[0] is an element of the input %s; `with` instead
//              of `to`: both ways; unbroadcast(%g): the adjoint)
//   names      lines are numbered from %0 in id order; inputs and scalar constants have no number. Any name parses.
//
// Canonical: equal graphs give equal text. parse(to_text(g)) is the same graph and to_text(parse(t)) == t for printed t.
// Errors: kind text with the line and a caret; nodes that break an invariant (node.h) fail as they do when built by hand.
// Thread-safe on a finished graph. Cost: linear; line_of costs O(graph): it is for messages. name_of is O(1).
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include <weft/graph.h>

namespace weft {

std::string to_text(const Graph& graph);
Graph parse(std::string_view text);                                  // throws Error
using TextNames = std::unordered_map<std::string, NodeId>;
Graph parse(std::string_view text, TextNames& names);                // and what the text calls its nodes, without the %

std::string line_of(const Graph& graph, NodeId id);                  // "%0: f64[i:n] = sum(j:m) multiply(%x[i,j], %w[j])"
std::string name_of(const Graph& graph, NodeId id);                  // "%x", "%0", "2:f64"

// The same inputs, nodes and outputs in the same order. Names of graphs, unused scalar constants and whether equal
// scalar constants are one node or several do not count.
bool same(const Graph& a, const Graph& b);

std::string to_dot(const Graph& graph);                              // a picture for Graphviz

}  // namespace weft
