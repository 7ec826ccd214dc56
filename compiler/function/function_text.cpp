// What a Function shows of itself, level by level.
#include <algorithm>

#include <weft/text.h>

#include "function_state.h"
#include "report.h"
#include "program/pipeline.h"
#include "schedule/machine.h"

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
  {
    const std::scoped_lock lock(f->mutex);
    if (f->latest_settled) return f->latest_settled;
  }
  if (!f->decided_by_calls) return f;
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
  alignas(line_bytes) static std::byte nowhere[line_bytes];          // never read: only dtypes, shapes, strides and alignment count
  auto contiguous = [&](const std::vector<NodeId>& ids) {
    std::vector<Array> arrays;
    for (NodeId id : ids) {
      const Node& node = graph.node(id);
      arrays.push_back(Array::borrow(View(nowhere, node.dtype, evaluate(node.shape(), bindings), node.order)));
    }
    return arrays;
  };
  return variant_for(bindings, contiguous(graph.inputs), contiguous(results));
}

std::string Function::schedule() const {
  const auto state = shown_state(state_);
  return to_text(state->graph, state->shown()->schedule);
}
std::string Function::program() const {
  const auto state = shown_state(state_);
  return program_text(state->graph, state->shown()->plan.programs);
}
std::string Function::llvm() const {
  const auto state = shown_state(state_);
  return llvm_text(*state->shown());
}
std::string Function::assembly() const {
  const auto state = shown_state(state_);
  return assembly_text(*state->shown());
}

double Function::State::compile_seconds() const {
  const std::scoped_lock lock(mutex);
  double seconds = pass_seconds;
  for (const auto& [key, of_key] : variants)
    for (const auto& variant : of_key.all()) seconds += variant->seconds.total();
  for (const auto& [key, state] : settled) seconds += state->compile_seconds();
  return seconds;
}
double Function::compile_seconds() const { return state_->compile_seconds(); }

// How arrays of two axes and more that weft allocates lie in memory (weft/passes.h, choose_layouts).
static std::string layouts_text(const Graph& graph, const Schedule& schedule) {
  std::string results, between;
  const auto layout = [&](NodeId id) { return graph.node(id).rank() < 2 ? "" : concat(" ", name_of(graph, id), " ", to_text(layout_of(graph, schedule.turned, id))); };
  for (NodeId id : results_of(graph)) results += layout(id);
  const std::vector<bool> is_result = result_marks(graph);
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (schedule.stored[k] && !is_result[k])
      between += layout(id_of(k));
  if (results.empty() && between.empty()) return "";
  return concat("  layouts:", results.empty() ? "" : " results", results, between.empty() ? "" : " arrays between nests", between, "\n");
}

std::string Function::report() const {
  const auto state = shown_state(state_);
  const auto variant = state->shown();
  const auto us = [](double seconds) { return static_cast<Index>(seconds * 1e6); };
  const auto& seconds = variant->seconds;
  const char* code = variant->code == Variant::Code::shared ? ", code of another variant " : variant->code == Variant::Code::read ? ", code read from the cache " : ", LLVM ";
  return concat("function ", state->graph.name, ": ", state->graph.size(), " nodes, ", variant->schedule.nests.size(), " nests, ", variant->plan.stages.size(),
                " stages, ", state->executor->threads(), " threads\n", report_text(*state, *variant), layouts_text(state->graph, variant->schedule),
                "  compiled in ", us(compile_seconds()), " us; this variant: passes ", us(state->pass_seconds), ", schedule ", us(seconds.schedule), ", lower ",
                us(seconds.lower), ", emit ", us(seconds.emit), code, us(seconds.llvm), ", link ", us(seconds.link), "\n");
}

}  // namespace weft
