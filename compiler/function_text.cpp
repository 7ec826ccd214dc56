// What a Function shows of itself, level by level.
#include <algorithm>

#include <weft/text.h>

#include "function_state.h"

namespace weft {

std::string Function::graph() const { return to_text(state_->graph); }

namespace {

// What to show of a graph before it is called: every symbol is 64.
Bindings shown_bindings(const Graph& graph) {
  Bindings bindings;
  std::vector<std::string> symbols;
  for (NodeId id : graph.inputs) for (const Extent& extent : graph.node(id).domain) extent.collect_symbols(symbols);
  for (const ElementSymbol& element : graph.element_symbols()) symbols.push_back(element.symbol);
  for (const std::string& symbol : symbols) bindings[symbol] = 64;
  return bindings;
}

std::shared_ptr<const Function::State> shown_state(const std::shared_ptr<Function::State>& f) {
  if (!f->decided_by_calls) return f;
  {
    const std::scoped_lock lock(f->mutex);
    if (f->latest_settled) return f->latest_settled;
  }
  return f->settled_for(shown_bindings(f->graph));
}

}  // namespace

// The variant of the last compilation, or one for contiguous arguments of extent 64 along every symbol.
std::shared_ptr<const Variant> Function::State::shown() const {
  {
    const std::scoped_lock lock(mutex);
    if (latest) return latest;
  }
  const Bindings bindings = shown_bindings(graph);
  auto contiguous = [&](const std::vector<NodeId>& ids) {
    std::vector<Array> arrays;
    for (NodeId id : ids) {
      const Node& node = graph.node(id);
      arrays.push_back(Array::empty(node.dtype, evaluate(node.shape(), bindings), node.order));
    }
    return arrays;
  };
  return variant_for(bindings, contiguous(graph.inputs), contiguous(graph.outputs));
}

std::string Function::schedule() const {
  const auto state = shown_state(state_);
  return to_text(state->graph, state->shown()->schedule);
}
std::string Function::program() const {
  const auto state = shown_state(state_);
  std::string text;
  for (const Program& program : state->shown()->plan.programs) text += to_text(state->graph, program);
  return text;
}
std::string Function::llvm() const {
  const auto state = shown_state(state_);
  return llvm_text(state->graph, *state->shown());
}
std::string Function::assembly() const {
  const auto state = shown_state(state_);
  return assembly_text(state->graph, *state->shown());
}

double Function::State::compile_seconds() const {
  const std::scoped_lock lock(mutex);
  double seconds = pass_seconds;
  for (const auto& [key, variant] : variants) seconds += variant->seconds;
  for (const auto& [key, state] : settled) seconds += state->compile_seconds();
  return seconds;
}
double Function::compile_seconds() const { return state_->compile_seconds(); }

// How arrays of two axes and more that weft allocates lie in memory (weft/passes.h, choose_layouts).
static std::string layouts_text(const Graph& graph, const Schedule& schedule) {
  std::string results, between;
  const auto layout = [&](NodeId id) { return graph.node(id).rank() < 2 ? "" : concat(" ", name_of(graph, id), " ", to_text(graph.node(id).order)); };
  for (NodeId id : graph.outputs) results += layout(id);
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (schedule.stored[k] && std::find(graph.outputs.begin(), graph.outputs.end(), id_of(k)) == graph.outputs.end())
      between += layout(id_of(k));
  if (results.empty() && between.empty()) return "";
  return concat("  layouts:", results.empty() ? "" : " results", results, between.empty() ? "" : " arrays between nests", between, "\n");
}

std::string Function::report() const {
  const auto state = shown_state(state_);
  const auto variant = state->shown();
  std::string text = concat("function ", state->graph.name, ": ", state->graph.size(), " nodes, ", variant->schedule.nests.size(), " nests, ",
                            variant->plan.stages.size(), " stages, ", state->executor->threads(), " threads\n");
  for (std::size_t k = 0; k < variant->plan.programs.size(); ++k) {
    const Program& program = variant->plan.programs[k];
    std::size_t rows = 0, temporaries = 0, merges = 0;
    for (const Buffer& buffer : program.buffers) rows += buffer.place == Place::row, temporaries += buffer.place == Place::temporary;
    for (const Fold& fold : program.folds) merges += fold.partial >= 0;
    text += concat("  nest ", k, ": ", variant->schedule.nests[k].nodes.size(), " nodes, ", program.folds.size(), " folds (", merges, " merged), ", rows, " rows, ",
                   temporaries, " arrays between nests\n");
  }
  return text + layouts_text(state_->graph, variant->schedule) + concat("  compiled in ", static_cast<Index>(compile_seconds() * 1e6), " us\n");
}

}  // namespace weft
