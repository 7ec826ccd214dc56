#include <weft/function.h>

#include <algorithm>
#include <chrono>

#include <weft/passes.h>
#include <weft/settle.h>
#include <weft/text.h>
#include <weft/verify.h>

#include "call_state.h"
#include "compile_for.h"
#include "variant_key.h"
#include "code/code_cache.h"
#include "code/features.h"
#include "passes/pipeline.h"
#include "program/pipeline.h"
#include "program/trace.h"

namespace weft {
namespace {

Array constant_array(const Node& node) { return std::get<Array>(node.payload); }

std::vector<NodeId> constant_arrays(const Graph& graph) {
  std::vector<NodeId> ids;
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (const Node& node = graph.node(id_of(k)); node.kind == Kind::constant && node.kept > 0) ids.push_back(id_of(k));
  return ids;
}

void check_output(const Graph& graph, std::size_t k, const View& array, const Bindings& bindings) {
  const Node& node = graph.node(graph.outputs[k]);
  const Dims expected = evaluate(node.shape(), bindings);
  WEFT_REQUIRE(array.dtype() == node.dtype, dtype, "output ", k, " has dtype ", node.dtype, " but the array given for it has ", array.dtype());
  WEFT_REQUIRE(array.shape() == expected, shape, "output ", k, " has shape ", to_text(expected), " but the array given for it has ", to_text(array.shape()),
               "\n  shapes of given arrays never change: pass an array of this shape");
  WEFT_REQUIRE(array.is_writable(), usage, "output ", k, " is given a read-only array\n  pass a writable one");
  WEFT_REQUIRE(!array.is_self_overlapping(), usage, "output ", k, " is given an array with strides ", to_text(array.strides()),
               " in which two indices may name one element\n  pass an array without zero strides");
}

}  // namespace

std::shared_ptr<const Variant> Function::State::variant_for(const Bindings& bindings, const std::vector<Array>& inputs,
                                                            const std::vector<Array>& outputs) const {
  const PastCaches stream = stores_past_caches(inputs, outputs, cache_limit());
  std::string key = variant_key(inputs, outputs, stream);
  std::vector<std::pair<NodeId, Dims>> reshaped_strides;
  for (const Reshaped& each : reshaped) {
    const Dims shape = evaluate(graph.node(each.node).shape(), bindings), strides = contiguous_strides(shape, Order::c);
    key += layout_key(strides, shape);
    reshaped_strides.emplace_back(each.node, strides);
  }
  const auto known = [&]() -> std::shared_ptr<const Variant> {
    const std::scoped_lock lock(mutex);
    const auto of_key = variants.find(key);
    auto found = of_key == variants.end() ? nullptr : of_key->second.find(bindings);
    return found ? latest = std::move(found) : nullptr;
  };
  if (auto found = known()) return found;
  const std::scoped_lock alone(compiling);
  if (auto found = known()) return found;                          // another thread compiled it
  const Variants others = [&] {
    const std::scoped_lock lock(mutex);
    const auto of_key = variants.find(key);
    return of_key == variants.end() ? Variants() : of_key->second;
  }();
  Hints hints;
  hints.bindings = bindings;
  hints.facts = others.may_take_facts(bindings) ? facts_of_call(bindings) : facts_of_all_but_huge(bindings);
  hints.threads = executor->threads();
  hints.machine = machine;
  hints.masks = has_feature(host_features(options.lanes), "+avx512f");
  hints.stream = stream;
  for (std::size_t k = 0; k < inputs.size(); ++k) hints.arrays[graph.inputs[k]] = {inputs[k].strides()};
  for (std::size_t k = 0; k < outputs.size(); ++k) hints.arrays[results[k]] = {outputs[k].strides()};
  for (const auto& [id, strides] : reshaped_strides) hints.arrays[id] = {strides};
  for (NodeId id : constant_arrays(graph)) hints.arrays[id] = {constant_array(graph.node(id)).strides()};
  hints.turned = turned_arrays(graph, hints);
  auto variant = compile_variant(graph, hints, options, others.all());
  const std::scoped_lock lock(mutex);
  variants[key].add(variant);
  return latest = std::move(variant);
}

namespace {

std::vector<NodeId> with_call_checks(const Graph& graph) {
  std::vector<NodeId> checked;
  for (std::size_t k = 0; k < graph.size(); ++k) if (has_call_checks(graph, id_of(k))) checked.push_back(id_of(k));
  return checked;
}

// A graph that was extracted, ready to be called.
std::shared_ptr<Function::State> make_state(Graph graph, const Options& options, const Machine& machine, std::shared_ptr<Executor> executor) {
  const auto start = std::chrono::steady_clock::now();
  auto state = std::make_shared<Function::State>();
  state->decided_by_calls = has_fits(graph);
  if (!with_call_checks(graph).empty()) {
    state->given = drop_dead(graph);             // a copy
    state->checked_given = with_call_checks(state->given);
  }
  state->graph = state->decided_by_calls ? std::move(graph) : run_graph_passes(std::move(graph), options);
  state->options = options;
  state->machine = machine;
  state->executor = std::move(executor);
  state->checked = with_call_checks(state->graph);
  state->results = results_of(state->graph);
  for (std::size_t k = 0; k < state->graph.size(); ++k) {
    const auto& inputs = state->graph.inputs;
    const auto input = std::find(inputs.begin(), inputs.end(), memory_of(state->graph, id_of(k)));
    if (state->graph.node(id_of(k)).kind == Kind::reshape && input != inputs.end()) state->reshaped.push_back({id_of(k), static_cast<std::size_t>(input - inputs.begin())});
  }
  if (options.verify) verify(state->graph);
  state->pass_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return state;
}

}  // namespace

Function::State::Settling Function::State::settling_for(const Bindings& bindings) const {
  const std::string fits = decided_by_calls ? fit_key(graph, bindings) : "";
  const auto key_of = [&](const Bindings& extents) {
    std::string key = fits;
    for (const auto& [symbol, value] : extents) key += concat(' ', symbol, '=', value);
    return key;
  };
  const auto is_for = [&](const Bindings& extents) { return !extents.empty() && std::includes(bindings.begin(), bindings.end(), extents.begin(), extents.end()); };
  const bool is_compiled = decided_by_calls ? settled.contains(fits) : !variants.empty();
  Bindings of_call = thin_extents ? thin_extents->in(bindings, !is_compiled && settled.empty()) : Bindings();
  if (of_call.empty() && !is_compiled)          // a short call runs what was compiled for a long one
    for (const auto& [key, state] : settled)
      if (is_for(state->thin) && key == key_of(state->thin)) return {true, state, {}, {}};
  if (!of_call.empty() && settled.size() >= most_settled && !settled.contains(key_of(of_call))) of_call.clear();
  if (!decided_by_calls && of_call.empty()) return {true, nullptr, {}, {}};        // most calls: nothing to look for in the graph
  std::string key = key_of(of_call);
  if (const auto found = settled.find(key); found != settled.end()) return {true, found->second, {}, {}};
  return {false, nullptr, std::move(key), std::move(of_call)};
}

std::shared_ptr<Function::State> Function::State::settled_for(const Bindings& bindings) const {
  const auto look = [&] {
    const std::scoped_lock lock(mutex);
    Settling found = settling_for(bindings);
    if (found.is_known) latest_settled = found.state;
    return found;
  };
  if (const Settling found = look(); found.is_known) return found.state;
  const std::scoped_lock alone(compiling);
  Settling wanted = look();
  if (wanted.is_known) return wanted.state;                        // another thread settled it
  auto state = make_state(settle(graph, bindings, wanted.thin), options, machine, executor);
  state->thin = std::move(wanted.thin);
  const std::scoped_lock lock(mutex);
  return latest_settled = settled[wanted.key] = std::move(state);
}

std::vector<Array> Function::State::make_outputs(const Bindings& bindings) {
  std::vector<Array> outputs;
  for (NodeId id : graph.outputs) {
    const Node& node = graph.node(id);
    const Dims dims = evaluate(node.shape(), bindings);
    auto memory = pool.take(static_cast<std::size_t>(element_count(dims)) * size_of(node.dtype));
    outputs.push_back(Array::borrow(View(memory.get(), node.dtype, dims, node.order), memory));
  }
  return outputs;
}

namespace {

Bindings check_inputs(const Function::State& f, const std::vector<Array>& inputs) {
  const Graph& whole = f.checked_given.empty() ? f.graph : f.given;        // passes may have dropped what reads an element of an input as an extent
  Bindings bindings = bind_symbols(whole, whole.inputs, inputs);
  for (NodeId id : f.checked_given) check_at_call(f.given, id, bindings);      // in the words of who wrote it
  for (NodeId id : f.checked) check_at_call(f.graph, id, bindings);
  return bindings;
}

std::vector<Array> new_outputs(Function::State& f, const CallLayout& layout) {
  std::vector<Array> outputs;
  for (std::size_t k = layout.inputs; k < layout.arguments.size(); ++k) {
    const CallLayout::Argument& like = layout.arguments[k];
    auto memory = f.pool.take(static_cast<std::size_t>(like.past));
    outputs.push_back(Array::borrow(View(memory.get(), like.dtype, like.shape, like.strides), memory));
  }
  return outputs;
}

// One like a call before, of these arrays.
template <class... Arrays> RecentCall recent_call(const std::shared_ptr<Function::State>& f, const Arrays&... arrays) {
  const std::scoped_lock lock(f->mutex);
  RecentCall call = f->recent.find(arrays...);
  if (!call.layout) return call;
  f->latest_settled = call.settled;
  if (!call.settled) {
    if (f->latest != call.layout->variant) f->latest = call.layout->variant;
    call.settled = f;
    return call;
  }
  const std::scoped_lock of_settled(call.settled->mutex);
  if (call.settled->latest != call.layout->variant) call.settled->latest = call.layout->variant;
  return call;
}

// Whether nothing of the call depends on addresses, or on elements of inputs.
bool depends_on_layout(const Function::State& whole, const Call::State& call, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  const auto reads_elements = [](const Function::State& f) { return !f.graph.element_symbols().empty() || !f.given.element_symbols().empty(); };
  return !reads_elements(whole) && !reads_elements(*call.function) && call.copies.empty() && call.gathered.empty() && lie_alike(*call.layout, inputs, outputs) &&
         stores_past_caches(inputs, outputs, whole.cache_limit()) == PastCaches::no;
}

// Of arguments that were checked, for `whole` or for what it became for them.
std::shared_ptr<Call::State> first_call(const std::shared_ptr<Function::State>& whole, const std::shared_ptr<Function::State>& state, const Bindings& bindings, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  auto call = make_call(state, bindings, inputs, outputs);
  if (depends_on_layout(*whole, *call, inputs, outputs)) {
    const std::scoped_lock lock(whole->mutex);
    if (!whole->recent.find(inputs, outputs).layout) whole->recent.add({call->layout, state == whole ? nullptr : state});     // by another thread, meanwhile
  }
  return call;
}

// The state that runs a call whose arguments were checked, and what its symbols are bound to.
std::shared_ptr<Function::State> state_for(const std::shared_ptr<Function::State>& f, const std::vector<Array>& inputs, Bindings& bindings) {
  bindings = check_inputs(*f, inputs);
  auto settled = f->settled_for(bindings);
  if (!settled) return f;
  bindings = check_inputs(*settled, inputs);
  return settled;
}

}  // namespace

std::vector<Array> Function::operator()(const std::vector<Array>& inputs) const {
  if (auto [layout, state] = recent_call(state_, inputs); layout) {
    std::vector<Array> outputs = new_outputs(*state, *layout);
    run_call(*call_again(state, std::move(layout), inputs, outputs));
    return outputs;
  }
  Bindings bindings;
  const auto state = state_for(state_, inputs, bindings);
  std::vector<Array> outputs = state->make_outputs(bindings);
  run_call(*first_call(state_, state, bindings, inputs, outputs));
  return outputs;
}

Call Function::bind(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const {
  if (auto [layout, state] = recent_call(state_, inputs, outputs); layout) return Call(call_again(state, std::move(layout), inputs, outputs));
  Bindings bindings;
  const auto state = state_for(state_, inputs, bindings);
  WEFT_REQUIRE(outputs.size() == state->graph.outputs.size(), usage, "expected ", state->graph.outputs.size(), " output arrays, got ", outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) check_output(state->graph, k, outputs[k], bindings);
  return Call(first_call(state_, state, bindings, inputs, outputs));
}

void Function::run(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const { bind(inputs, outputs)(); }

const Graph& Function::final_graph() const { return state_->graph; }
const Graph& Function::final_graph(const std::vector<Array>& inputs) const {
  Bindings bindings;
  return state_for(state_, inputs, bindings)->graph;           // settled states stay
}

namespace {

Function make_function(Graph extracted, const Options& options, const Machine& machine, std::chrono::steady_clock::time_point start) {
  check_symbols(extracted);
  WEFT_REQUIRE(options.lanes == 0 || options.lanes == 4 || options.lanes == 8 || options.lanes == 16, usage, "Options::lanes: expected 4, 8, 16, or 0 for what the processor has, got ",
               options.lanes);
  WEFT_REQUIRE(options.cache_bytes >= 0, usage, "Options::cache_bytes: expected a number of bytes, or 0 for what the processor has, got ", options.cache_bytes);
  Trace(options).check([](std::string_view name) {
    const auto is_it = [&](const auto& pass) { return name == pass.name; };
    return std::any_of(graph_passes().begin(), graph_passes().end(), is_it) || std::any_of(program_passes().begin(), program_passes().end(), is_it);
  });
  Options chosen = options;
  if (!chosen.cache_dir.empty()) chosen.cache_dir = open_cache_dir(chosen.cache_dir);
  auto state = make_state(std::move(extracted), chosen, machine, options.executor ? options.executor : make_executor(options.threads, thread_costs(machine)));
  state->thin_extents.emplace(state->graph);
  state->pass_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Function(std::move(state));
}

}  // namespace

Function compile_for(const Machine& machine, const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  WEFT_REQUIRE(!outputs.empty(), usage, "compile: expected at least one output");
  WEFT_REQUIRE(!outputs.front().is_empty(), usage, "compile: an output is an empty Expr");
  return make_function(extract(outputs.front().graph(), inputs, outputs), options, machine, start);
}

Function compile(const std::vector<Expr>& outputs, const std::vector<Expr>& inputs, const Options& options) {
  return compile_for(this_machine(), outputs, inputs, options);
}

Function compile_for(const Machine& machine, const Graph& graph, const Options& options) {
  std::vector<Expr> inputs, outputs;
  auto& same = const_cast<Graph&>(graph);      // Exprs are handles; nothing is added
  for (NodeId id : graph.inputs) inputs.emplace_back(same, id);
  for (NodeId id : graph.outputs) outputs.emplace_back(same, id);
  return compile_for(machine, outputs, inputs, options);
}

Function compile(const Graph& graph, const Options& options) { return compile_for(this_machine(), graph, options); }

}  // namespace weft
