#include "pipeline.h"

#include <weft/passes.h>
#include <weft/text.h>
#include <weft/verify.h>

#include "program/trace.h"

namespace weft {
namespace {

Graph simplify_stable(const Graph& graph) { return simplify(graph, RuleClass::real); }

bool is_fold(const Node& node) { return node.mode != Mode::broadcast || node.kind == Kind::others; }
bool is_half_value(const Node& node) { return is_half(node.dtype); }
bool is_scan(const Node& node) { return node.mode == Mode::scan; }
bool is_update(const Node& node) { return node.kind == Kind::update; }
bool is_reshape(const Node& node) { return node.kind == Kind::reshape; }
bool is_condition(const Node& node) { return is_boolean(node.dtype); }
bool is_read_through(const Node& node) { return (node.kind == Kind::apply && node.op == Op::copy) || is_update(node) || is_reshape(node); }
bool has_layouts(const Node& node) { return node.rank() > 1; }

template <bool (*holds)(const Node&)> bool has(const Graph& graph) {
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (holds(graph.node(id_of(k)))) return true;
  return false;
}
bool is_unnumbered(const Graph& graph) { return !is_numbered(graph); }

constexpr GraphPass passes[] = {
    {"drop_dead", drop_dead, "keep what the outputs need, numbered from the outputs", is_unnumbered},
    {"fold_constants", fold_constants, "ops over constants become constants", has_constants_to_fold},
    {"simplify", simplify_stable, "rewrite rules: exact ones, and stable forms"},
    {"widen_halves", widen_halves, "f16 and bf16 are computed in f32 and rounded where they are stored", has<is_half_value>},
    {"lift_reshapes", lift_reshapes, "what is computed of inputs and reshaped is computed of reshaped inputs", has<is_reshape>},
    {"sink_reshapes", sink_reshapes, "what is done to reshaped values is done where they are made, and reshaped", has<is_reshape>},
    {"absorb_copies", absorb_copies, "read through transposes, slices and broadcasts", has<is_read_through>},
    {"shift_log_sums", shift_log_sums, "logarithms of sums of exponentials take off the largest exponent", has<is_fold>},
    {"narrow_sums", narrow_sums, "integer sums of which only low bytes are asked are made of these", has<is_fold>},
    {"drop_unit_axes", drop_unit_axes, "values between others lose axes of extent 1", has_unit_axes},
    {"merge_duplicates", merge_duplicates, "one node for equal nodes"},
    {"shift_variances", shift_variances, "sums of squared deviations from a mean read once what they sum", has<is_fold>},
    {"turn_scans", turn_scans, "scans over what is read backwards run backwards", has<is_scan>},
    {"contract", contract, "multiply-add becomes fma, and sums add products unrounded, here and nowhere else"},
    {"split_folds", split_folds, "folds over several axes become folds over one axis each", has<is_fold>},
    {"unroll_folds", unroll_folds, "folds of folds over a few elements each become the ops that combine them", has<is_fold>},
    {"read_through_windows", read_through_windows, "slices of what an update writes read its window", has<is_update>},
    {"inline_windows", inline_windows, "cheap values that an update writes are made where it writes them", has<is_update>},
    {"read_through_values", read_through_values, "slices of dear values that an update writes read these", has<is_update>},
    {"make_where_read", make_where_read, "cheap values that are read at several indices are made there", reads_elements},
    {"make_in_stacks", make_in_stacks, "cheap values that a stack puts side by side are made where it stores them", stacks_last},
    {"narrow", narrow, "values that are read in part are made in that part", reads_elements},
    {"store_windows", store_windows, "what an update writes lies in memory", has<is_update>},
    {"store_reshapes", store_reshapes, "what a reshape names lies in memory, row-major", has<is_reshape>},
    {"part_conditions", part_conditions, "conditions on indices that are asked along several axes become one for each", has<is_condition>},
    {"renumber", drop_dead, "drop what became dead, number again", is_unnumbered},
    {"choose_layouts", choose_layouts, "results and arrays between nests are stored as their readers run: C or F", has<has_layouts>},
    {"reshape_results", reshape_results, "outputs that are reshapes are made where they are, in the shape that was reshaped", has<is_reshape>},
};

}  // namespace

std::span<const GraphPass> graph_passes() { return passes; }

bool is_given(const Graph& graph, NodeId id) {
  while (graph.node(id).kind == Kind::reshape) id = graph.operand(id, 0);
  return graph.node(id).kind == Kind::input || std::holds_alternative<Array>(graph.node(id).payload);
}

Graph run_graph_passes(Graph graph, const Options& options) {
  const Trace trace(options);
  for (const GraphPass& pass : passes) {
    if (!pass.may_change(graph)) continue;
    Graph next = pass.run(graph);
    if (options.verify) verify(next);
    if (trace.names(pass.name)) Trace::show(pass.name, to_text(graph), to_text(next));
    graph = std::move(next);
  }
  return graph;
}

}  // namespace weft
