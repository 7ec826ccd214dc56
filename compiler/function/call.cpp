#include "call_state.h"

#include <algorithm>

namespace weft {
namespace {

// A call while it is made: afterwards addresses are all that it needs of its arguments, and what owns them.
struct Draft {
  Call::State& state;
  CallLayout& layout;
  std::vector<Array> inputs, outputs;           // outputs in the shape in which they are written
  std::vector<Array> given;                     // outputs as they are given
  std::vector<Array> moved;                     // where they are made instead and copied from at the end, if they are
  std::vector<View> reshaped;                   // of Function::State::reshaped
};

bool is_same_view(const View& a, const View& b) {
  return a.data() == b.data() && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides();
}

// Inputs that a reshape reads become row-major, if need be by a copy before each run.
void see_reshaped(Draft& call, const Bindings& bindings) {
  Function::State& f = *call.state.function;
  for (const auto& [node, k] : f.reshaped) {
    Array& input = call.inputs[k];
    if (!input.is_contiguous()) {
      auto memory = f.pool.take(static_cast<std::size_t>(input.size()) * size_of(input.dtype()));
      const Array dense = Array::borrow(View(memory.get(), input.dtype(), input.shape()), memory);
      call.state.temporary_bytes += input.size() * item_bytes(input.dtype());
      call.state.gathered.emplace_back(std::exchange(input, dense), dense);
    }
    call.reshaped.push_back(input.reshape_view(evaluate(f.graph.node(node).shape(), bindings)));
  }
}

// The memory of an output, or what stands for it, in the shape in which it is written.
Array as_written(const Function::State& f, const Array& output, std::size_t k, const Bindings& bindings) {
  if (f.results[k] == f.graph.outputs[k]) return output;
  return Array::borrow(output.reshape_view(evaluate(f.graph.node(f.results[k]).shape(), bindings)), output.owner());
}

void make_elsewhere(Draft& call, std::size_t k, const Bindings& bindings) {
  Function::State& f = *call.state.function;
  const Array& output = call.given[k];
  auto memory = f.pool.take(static_cast<std::size_t>(output.size()) * size_of(output.dtype()));
  call.moved[k] = Array::borrow(View(memory.get(), output.dtype(), output.shape(), f.graph.node(f.graph.outputs[k]).order), memory);
  call.state.temporary_bytes += output.size() * item_bytes(output.dtype());
  call.outputs[k] = as_written(f, call.moved[k], k, bindings);
}

// Outputs that are reshapes are written in another shape, which those with gaps do not have.
void see_results(Draft& call, const Bindings& bindings) {
  const Function::State& f = *call.state.function;
  call.moved.resize(call.given.size());
  for (std::size_t k = 0; k < call.given.size(); ++k) {
    if (f.results[k] != f.graph.outputs[k] && !call.given[k].is_contiguous()) make_elsewhere(call, k, bindings);
    else call.outputs[k] = as_written(f, call.given[k], k, bindings);
  }
}

// Output k overlaps only inputs that it may lie upon, element for element.
bool shares_safely(const Draft& call, std::size_t k) {
  const Graph& graph = call.state.function->graph;
  const std::vector<Array>& given = call.given;
  for (std::size_t other = 0; other < given.size(); ++other)
    if (other != k && given[k].overlaps(given[other])) return false;
  for (std::size_t m = 0; m < call.inputs.size(); ++m) {
    if (!given[k].overlaps(call.inputs[m])) continue;
    if (std::any_of(call.state.function->reshaped.begin(), call.state.function->reshaped.end(), [&](const auto& each) { return each.input == m; })) return false;
    if (!is_same_view(call.outputs[k], call.inputs[m]) || !may_share(call.layout.variant->plan.programs, graph.inputs[m], call.state.function->results[k])) return false;
  }
  return true;
}

// Results that share memory with an input or another output are computed elsewhere and copied at the end, in order: where
// outputs overlap, the last one is seen. True if any output moved.
bool separate_overlaps(Draft& call, const Bindings& bindings) {
  const std::vector<Array>& given = call.given;
  for (std::size_t k = 0; k < given.size(); ++k) {
    bool overlaps = false;
    for (const Array& input : call.inputs) overlaps |= given[k].overlaps(input);
    for (std::size_t other = 0; other < given.size(); ++other) overlaps |= other != k && given[k].overlaps(given[other]);
    if (overlaps && !call.moved[k].data() && !shares_safely(call, k)) make_elsewhere(call, k, bindings);
    if (call.moved[k].data()) call.state.copies.emplace_back(call.moved[k], given[k]);
  }
  return !call.state.copies.empty();
}

Index size_value(const SizeSpec& spec, const std::vector<const View*>& arrays, const Bindings& bindings) {
  if (spec.slot >= 0) {
    const View& array = *arrays[static_cast<std::size_t>(spec.slot)];
    return array.strides()[static_cast<std::size_t>(spec.dim)] * item_bytes(array.dtype()) * spec.times;
  }
  return std::max(spec.at_least, spec.extent.evaluate(bindings));
}

// The address of every array of the call; those between nests come later.
std::vector<const View*> arrays_of(const Draft& call) {
  const Graph& graph = call.state.function->graph;
  std::unordered_map<NodeId, const View*> known;
  for (std::size_t k = 0; k < call.inputs.size(); ++k) known[graph.inputs[k]] = &call.inputs[k];
  for (std::size_t k = 0; k < call.outputs.size(); ++k) known[call.state.function->results[k]] = &call.outputs[k];
  for (std::size_t k = 0; k < call.reshaped.size(); ++k) known[call.state.function->reshaped[k].node] = &call.reshaped[k];
  std::vector<const View*> arrays;
  for (const Slot& slot : call.layout.variant->plan.slots) {
    const bool is_between = slot.place == Place::temporary || slot.place == Place::partial;
    const auto found = known.find(slot.node);
    arrays.push_back(is_between ? nullptr : found != known.end() ? found->second : &std::get<Array>(graph.node(slot.node).payload));
  }
  return arrays;
}

// Nests slide unless a result lies upon an input: a strip of it would be written before a later strip reads the input beside it.
std::shared_ptr<const SlidStages> slid_stages_of(const Draft& call, const Bindings& bindings) {
  if (call.layout.variant->slides.empty()) return nullptr;
  for (const Array& output : call.outputs)
    for (const Array& input : call.inputs) if (output.overlaps(input)) return nullptr;
  auto slid = slid_stages(*call.layout.variant, bindings, call.layout.sizes, call.state.function->executor->threads());
  return slid->stages.empty() ? nullptr : slid;
}

// Which slot each argument's address goes to, and how far from it its elements reach.
std::vector<CallLayout::Argument> arguments_of(const Draft& call, const std::vector<const View*>& arrays) {
  std::vector<CallLayout::Argument> arguments;
  const auto add = [&](const Array& array, const Array& as_used, int upon) {
    const auto slot = std::find(arrays.begin(), arrays.end(), &as_used);
    const auto* begin = static_cast<const std::byte*>(array.data());
    const auto [first, past] = array.byte_range();
    arguments.push_back({array.dtype(), array.shape(), array.strides(), first - begin, past - begin, slot == arrays.end() ? -1 : static_cast<int>(slot - arrays.begin()), upon});
  };
  for (const Array& input : call.inputs) add(input, input, -1);
  for (std::size_t k = 0; k < call.outputs.size(); ++k) {
    const auto same = std::find_if(call.inputs.begin(), call.inputs.end(), [&](const Array& input) { return is_same_view(input, call.outputs[k]); });
    add(call.given[k], call.outputs[k], same == call.inputs.end() ? -1 : static_cast<int>(same - call.inputs.begin()));
  }
  return arguments;
}

bool lie_as_new(const Draft& call) {
  const Graph& graph = call.state.function->graph;
  for (std::size_t k = 0; k < call.outputs.size(); ++k)
    if (call.layout.arguments[call.inputs.size() + k].upon >= 0 || call.given[k].strides() != contiguous_strides(call.given[k].shape(), graph.node(graph.outputs[k]).order)) return false;
  return true;
}

void fill_tables(Draft& call, const Bindings& bindings) {
  CallLayout& layout = call.layout;
  const Plan& plan = layout.variant->plan;
  const std::vector<const View*> arrays = arrays_of(call);
  layout.arguments = arguments_of(call, arrays);
  layout.inputs = call.inputs.size();
  for (std::size_t k = 0; k < call.reshaped.size(); ++k)
    if (const auto slot = std::find(arrays.begin(), arrays.end(), &call.reshaped[k]); slot != arrays.end())
      layout.aliases.push_back({static_cast<std::size_t>(slot - arrays.begin()), call.state.function->reshaped[k].input});
  layout.has_new_outputs = lie_as_new(call);
  for (const SizeSpec& spec : plan.sizes.specs()) layout.sizes.push_back(size_value(spec, arrays, bindings));
  layout.stages = {layout.variant, &layout.variant->kernel.stages};
  const auto slid = slid_stages_of(call, bindings);
  if (slid) {
    layout.stages = {slid, &slid->stages};
    layout.sizes.insert(layout.sizes.end(), slid->sizes.begin(), slid->sizes.end());
  }
  for (std::size_t k = 0; k < plan.slots.size(); ++k) {
    layout.slots.push_back(arrays[k] ? arrays[k]->data() : nullptr);
    if (!arrays[k] && !(slid && slid->is_buffer[k])) layout.memory.push_back({k, plan.slots[k].bytes.evaluate(bindings)});
  }
}

// What short calls consist of: they take as long as an executor takes to find out.
std::vector<CallLayout::Kernel> direct_calls(const CallLayout& layout, const Executor& executor) {
  std::vector<CallLayout::Kernel> kernels;
  for (const Stage& stage : *layout.stages) {
    const Index units = stage.units < 0 ? 1 : layout.sizes[static_cast<std::size_t>(stage.units)];
    if (!stage.run || stage.search || !stage.arrays.empty() || units <= 0 || !executor.only_calls(stage, layout.sizes.data())) return {};
    kernels.push_back({stage.run, units});
  }
  return kernels;
}

void keep_alive(Call::State& call, const std::vector<Array>& arrays) {
  for (const Array& array : arrays) call.kept.push_back(array.owner());
}

void take_memory(Call::State& call, const CallLayout& layout) {
  for (const auto& [slot, bytes] : layout.memory) {
    call.kept.push_back(call.function->pool.take(static_cast<std::size_t>(bytes)));
    call.temporary_bytes += bytes;
    call.slots[slot] = call.kept.back().get();
  }
}

}  // namespace

std::shared_ptr<Call::State> make_call(const std::shared_ptr<Function::State>& f, const Bindings& bindings, std::vector<Array> inputs, const std::vector<Array>& outputs) {
  auto call = std::make_shared<Call::State>();
  auto layout = std::make_shared<CallLayout>();
  call->function = f;
  Draft draft{*call, *layout, std::move(inputs), outputs, outputs, {}, {}};
  see_reshaped(draft, bindings);
  see_results(draft, bindings);
  layout->variant = f->variant_for(bindings, draft.inputs, draft.outputs);
  if (separate_overlaps(draft, bindings)) layout->variant = f->variant_for(bindings, draft.inputs, draft.outputs);
  fill_tables(draft, bindings);
  layout->direct = direct_calls(*layout, *f->executor);
  call->slots.assign(layout->slots.begin(), layout->slots.end());
  keep_alive(*call, draft.inputs);
  keep_alive(*call, draft.outputs);
  take_memory(*call, *layout);
  call->layout = std::move(layout);
  return call;
}

std::shared_ptr<Call::State> call_again(const std::shared_ptr<Function::State>& f, std::shared_ptr<const CallLayout> layout, const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
  auto call = std::make_shared<Call::State>();
  call->function = f;
  call->slots.assign(layout->slots.begin(), layout->slots.end());
  const auto* argument = layout->arguments.data();
  for (const auto* arrays : {&inputs, &outputs})
    for (const Array& array : *arrays)
      if (const int slot = argument++->slot; slot >= 0) call->slots[static_cast<std::size_t>(slot)] = array.data();
  for (const auto& [slot, input] : layout->aliases) call->slots[slot] = inputs[input].data();
  keep_alive(*call, inputs);
  keep_alive(*call, outputs);
  take_memory(*call, *layout);
  call->layout = std::move(layout);
  return call;
}

WEFT_CALLS_GENERATED_CODE void run_call(const Call::State& call) {
  const CallLayout& layout = *call.layout;
  for (const auto& [from, to] : call.gathered) copy_elements(from, to);
  for (const auto& [run, units] : layout.direct) run(call.slots.data(), layout.sizes.data(), 0, units, nullptr);
  if (layout.direct.empty())
    for (const Stage& stage : *layout.stages) call.function->executor->run(stage, call.slots.data(), layout.sizes.data());
  for (const auto& [from, to] : call.copies) copy_elements(from, to);
}

Call::Call(std::shared_ptr<State> state) : state_(std::move(state)) {
  const auto& direct = state_->layout->direct;
  if (direct.size() != 1 || !state_->copies.empty() || !state_->gathered.empty()) return;
  kernel_ = direct[0].run;
  units_ = direct[0].units;
  slots_ = state_->slots.data();
  sizes_ = state_->layout->sizes.data();
}

void Call::run() const { run_call(*state_); }
Index Call::temporary_bytes() const { return state_->temporary_bytes; }
Index Call::scratch_bytes() const {
  Index most = 0;
  for (const Stage& stage : *state_->layout->stages)
    if (stage.scratch >= 0) most = std::max(most, state_->layout->sizes[static_cast<std::size_t>(stage.scratch)]);
  return most;
}
int Call::loop_nests() const {
  int count = 0;
  for (const Program& program : state_->layout->variant->plan.programs) count += program.root.mark != Mark::once;
  return count;
}

}  // namespace weft
