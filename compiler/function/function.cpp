#include <weft/function.h>

#include <algorithm>
#include <chrono>

#include <weft/passes.h>
#include <weft/settle.h>
#include <weft/text.h>
#include <weft/verify.h>

#include "compile_for.h"
#include "function_state.h"
#include "variant_key.h"
#include "code/code_cache.h"
#include "passes/pipeline.h"

namespace weft {

struct Call::State {
  std::shared_ptr<Function::State> function;
  std::shared_ptr<const Variant> variant;
  std::vector<void*> slots;
  std::vector<Index> sizes;
  std::shared_ptr<const std::vector<Stage>> stages;                // the variant's, or its own with some that slide
  std::vector<std::shared_ptr<void>> memory;                       // temporaries and partial results
  std::vector<Array> inputs, outputs;                              // kept alive
  std::vector<View> reshaped;                                      // of State::reshaped
  std::vector<std::pair<Array, Array>> gathered;                   // inputs with gaps that a reshape reads: from, to
  std::vector<std::pair<Array, Array>> copies;                     // results that overlap something: from, to
  Index temporary_bytes = 0;
};

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
  const PastCaches stream = stores_past_caches(inputs, outputs, cache_bytes());
  std::string key = variant_key(inputs, outputs, stream) + short_rows->in(bindings);
  std::vector<std::pair<NodeId, Dims>> reshaped_strides;
  for (const Reshaped& each : reshaped) {
    const Dims shape = evaluate(graph.node(each.node).shape(), bindings), strides = contiguous_strides(shape, Order::c);
    key += layout_key(strides, shape);
    reshaped_strides.emplace_back(each.node, strides);
  }
  const std::scoped_lock lock(mutex);
  auto& of_key = variants[key];
  const auto fitting = std::find_if(of_key.begin(), of_key.end(), [&](const auto& variant) { return hold_for(variant->facts, bindings); });
  if (fitting != of_key.end()) return latest = *fitting;
  Hints hints;
  hints.bindings = bindings;
  if (of_key.empty()) hints.facts = facts_of_call(bindings);
  hints.threads = executor->threads();
  hints.machine = machine;
  hints.stream = stream;
  for (std::size_t k = 0; k < inputs.size(); ++k) hints.arrays[graph.inputs[k]] = {inputs[k].strides()};
  for (std::size_t k = 0; k < outputs.size(); ++k) hints.arrays[graph.outputs[k]] = {outputs[k].strides()};
  for (const auto& [id, strides] : reshaped_strides) hints.arrays[id] = {strides};
  for (NodeId id : constant_arrays(graph)) hints.arrays[id] = {constant_array(graph.node(id)).strides()};
  hints.turned = turned_arrays(graph, hints);
  of_key.push_back(compile_variant(graph, hints, options));
  return latest = of_key.back();
}

namespace {

template <class Which> bool has_update(const Graph& graph, Which which) {
  for (std::size_t k = 0; k < graph.size(); ++k)
    if (const Node& node = graph.node(id_of(k)); node.kind == Kind::update && which(std::get<AxisMap>(node.payload))) return true;
  return false;
}

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
  Graph given;
  if (has_update(graph, [](const AxisMap&) { return true; })) given = drop_dead(graph);      // a copy
  state->graph = state->decided_by_calls ? std::move(graph) : run_graph_passes(std::move(graph), options);
  if (has_update(state->graph, are_within)) {
    state->given = std::move(given);
    state->checked_given = with_call_checks(state->given);
  }
  state->options = options;
  state->machine = machine;
  state->executor = std::move(executor);
  state->short_rows.emplace(state->graph);
  state->checked = with_call_checks(state->graph);
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

std::shared_ptr<Function::State> Function::State::settled_for(const Bindings& bindings) const {
  Bindings thin = thin_extents ? thin_extents->in(bindings) : Bindings();
  const std::scoped_lock lock(mutex);
  if (!decided_by_calls && thin.empty()) return latest_settled = nullptr;       // most calls: nothing to look for in the graph
  const std::string fits = decided_by_calls ? fit_key(graph, bindings) : "";
  std::string key = fits;
  for (const auto& [symbol, value] : thin) key += concat(' ', symbol, '=', value);
  if (!thin.empty() && settled.size() >= most_settled && !settled.contains(key)) {
    if (!decided_by_calls) return latest_settled = nullptr;
    key = fits;
    thin.clear();
  }
  auto& state = settled[key];
  if (!state) {
    try {
      state = make_state(settle(graph, bindings, thin), options, machine, executor);
    } catch (...) {
      settled.erase(key);
      throw;
    }
  }
  return latest_settled = state;
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
  Bindings bindings = bind_symbols(f.graph, f.graph.inputs, inputs);
  for (NodeId id : f.checked) check_at_call(f.graph, id, bindings);
  for (NodeId id : f.checked_given) check_at_call(f.given, id, bindings);
  return bindings;
}

bool is_same_view(const View& a, const View& b) {
  return a.data() == b.data() && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides();
}

// Inputs that a reshape reads become row-major, if need be by a copy before each run.
void see_reshaped(Call::State& call, const Bindings& bindings) {
  Function::State& f = *call.function;
  for (const auto& [node, k] : f.reshaped) {
    Array& input = call.inputs[k];
    if (!input.is_contiguous()) {
      auto memory = f.pool.take(static_cast<std::size_t>(input.size()) * size_of(input.dtype()));
      const Array dense = Array::borrow(View(memory.get(), input.dtype(), input.shape()), memory);
      call.temporary_bytes += input.size() * static_cast<Index>(size_of(input.dtype()));
      call.gathered.emplace_back(std::exchange(input, dense), dense);
    }
    call.reshaped.push_back(input.reshape_view(evaluate(f.graph.node(node).shape(), bindings)));
  }
}

// Output k overlaps only inputs that it may lie upon, element for element.
bool shares_safely(const Call::State& call, const std::vector<Array>& given, std::size_t k) {
  const Graph& graph = call.function->graph;
  for (std::size_t other = 0; other < given.size(); ++other)
    if (other != k && given[k].overlaps(given[other])) return false;
  for (std::size_t m = 0; m < call.inputs.size(); ++m) {
    if (!given[k].overlaps(call.inputs[m])) continue;
    if (std::any_of(call.function->reshaped.begin(), call.function->reshaped.end(), [&](const auto& each) { return each.input == m; })) return false;
    if (!is_same_view(given[k], call.inputs[m]) || !may_share(call.variant->plan.programs, graph.inputs[m], graph.outputs[k])) return false;
  }
  return true;
}

// Results that share memory with an input or another output are computed elsewhere and copied at the end, in order: where
// outputs overlap, the last one is seen. True if any output moved.
bool separate_overlaps(Call::State& call, BufferPool& pool) {
  const std::vector<Array> given = call.outputs;
  for (std::size_t k = 0; k < given.size(); ++k) {
    bool overlaps = false;
    for (const Array& input : call.inputs) overlaps |= given[k].overlaps(input);
    for (std::size_t other = 0; other < given.size(); ++other) overlaps |= other != k && given[k].overlaps(given[other]);
    if (!overlaps || shares_safely(call, given, k)) continue;
    const Array& output = given[k];
    auto memory = pool.take(static_cast<std::size_t>(output.size()) * size_of(output.dtype()));
    Array separate = Array::borrow(View(memory.get(), output.dtype(), output.shape(), call.function->graph.node(call.function->graph.outputs[k]).order), memory);
    call.temporary_bytes += output.size() * static_cast<Index>(size_of(output.dtype()));
    call.copies.emplace_back(separate, output);
    call.outputs[k] = separate;
  }
  return !call.copies.empty();
}

Index size_value(const SizeSpec& spec, const std::vector<const View*>& arrays, const Bindings& bindings) {
  if (spec.slot >= 0) {
    const View& array = *arrays[static_cast<std::size_t>(spec.slot)];
    return array.strides()[static_cast<std::size_t>(spec.dim)] * static_cast<Index>(size_of(array.dtype()));
  }
  return std::max(spec.at_least, spec.extent.evaluate(bindings));
}

// The address of every array of the call; those between nests come later.
std::vector<const View*> arrays_of(const Call::State& call) {
  const Graph& graph = call.function->graph;
  std::unordered_map<NodeId, const View*> known;
  for (std::size_t k = 0; k < call.inputs.size(); ++k) known[graph.inputs[k]] = &call.inputs[k];
  for (std::size_t k = 0; k < call.outputs.size(); ++k) known[graph.outputs[k]] = &call.outputs[k];
  for (std::size_t k = 0; k < call.reshaped.size(); ++k) known[call.function->reshaped[k].node] = &call.reshaped[k];
  std::vector<const View*> arrays;
  for (const Slot& slot : call.variant->plan.slots) {
    const bool is_between = slot.place == Place::temporary || slot.place == Place::partial;
    const auto found = known.find(slot.node);
    arrays.push_back(is_between ? nullptr : found != known.end() ? found->second : &std::get<Array>(graph.node(slot.node).payload));
  }
  return arrays;
}

// Nests slide unless a result lies upon an input: a strip of it would be written before a later strip reads the input beside it.
std::shared_ptr<const SlidStages> slid_stages_of(const Call::State& call, const Bindings& bindings) {
  if (call.variant->slides.empty()) return nullptr;
  for (const Array& output : call.outputs)
    for (const Array& input : call.inputs) if (output.overlaps(input)) return nullptr;
  auto slid = slid_stages(*call.variant, bindings, call.sizes, call.function->executor->threads());
  return slid->stages.empty() ? nullptr : slid;
}

void fill_tables(Call::State& call, const Bindings& bindings) {
  const Plan& plan = call.variant->plan;
  const std::vector<const View*> arrays = arrays_of(call);
  for (const SizeSpec& spec : plan.sizes.specs()) call.sizes.push_back(size_value(spec, arrays, bindings));
  call.stages = {call.variant, &call.variant->kernel.stages};
  const auto slid = slid_stages_of(call, bindings);
  if (slid) {
    call.stages = {slid, &slid->stages};
    call.sizes.insert(call.sizes.end(), slid->sizes.begin(), slid->sizes.end());
  }
  for (std::size_t k = 0; k < plan.slots.size(); ++k) {
    if (arrays[k] || (slid && slid->is_buffer[k])) {
      call.slots.push_back(arrays[k] ? arrays[k]->data() : nullptr);
      continue;
    }
    const Index bytes = plan.slots[k].bytes.evaluate(bindings);
    call.memory.push_back(call.function->pool.take(static_cast<std::size_t>(bytes)));
    call.temporary_bytes += bytes;
    call.slots.push_back(call.memory.back().get());
  }
}

std::shared_ptr<Call::State> make_call(const std::shared_ptr<Function::State>& f, const Bindings& bindings, std::vector<Array> inputs, std::vector<Array> outputs) {
  auto call = std::make_shared<Call::State>();
  call->function = f;
  call->inputs = std::move(inputs);
  call->outputs = std::move(outputs);
  see_reshaped(*call, bindings);
  call->variant = f->variant_for(bindings, call->inputs, call->outputs);
  if (separate_overlaps(*call, f->pool)) call->variant = f->variant_for(bindings, call->inputs, call->outputs);
  fill_tables(*call, bindings);
  return call;
}

void run_call(const Call::State& call) {
  for (const auto& [from, to] : call.gathered) copy_elements(from, to);
  for (const Stage& stage : *call.stages) call.function->executor->run(stage, call.slots.data(), call.sizes.data());
  for (const auto& [from, to] : call.copies) copy_elements(from, to);
}

}  // namespace

Call::Call(std::shared_ptr<State> state) : state_(std::move(state)) {
  const auto& stages = *state_->stages;
  if (stages.size() != 1 || stages[0].slide || !state_->copies.empty() || !state_->gathered.empty() || !state_->function->executor->only_calls(stages[0], state_->sizes.data())) return;
  slots_ = state_->slots.data();
  sizes_ = state_->sizes.data();
  units_ = stages[0].units < 0 ? 1 : sizes_[stages[0].units];
  if (units_ > 0) kernel_ = stages[0].run;
}

void Call::run() const { run_call(*state_); }
Index Call::temporary_bytes() const { return state_->temporary_bytes; }
Index Call::scratch_bytes() const {
  Index most = 0;
  for (const Stage& stage : *state_->stages)
    if (stage.scratch >= 0) most = std::max(most, state_->sizes[static_cast<std::size_t>(stage.scratch)]);
  return most;
}
int Call::loop_nests() const {
  int count = 0;
  for (const Program& program : state_->variant->plan.programs) count += program.root.mark != Mark::once;
  return count;
}

namespace {

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
  Bindings bindings;
  const auto state = state_for(state_, inputs, bindings);
  std::vector<Array> outputs = state->make_outputs(bindings);
  run_call(*make_call(state, bindings, inputs, outputs));
  return outputs;
}

Call Function::bind(const std::vector<Array>& inputs, const std::vector<Array>& outputs) const {
  Bindings bindings;
  const auto state = state_for(state_, inputs, bindings);
  WEFT_REQUIRE(outputs.size() == state->graph.outputs.size(), usage, "expected ", state->graph.outputs.size(), " output arrays, got ", outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) check_output(state->graph, k, outputs[k], bindings);
  return Call(make_call(state, bindings, inputs, outputs));
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
  WEFT_REQUIRE(static_cast<bool>(outputs.front()), usage, "compile: an output is an empty Expr");
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
