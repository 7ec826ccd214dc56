#include "call_state.h"

#include <algorithm>

namespace weft {
namespace {

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

// What short calls consist of: they take as long as an executor takes to find out.
std::vector<Call::State::Kernel> direct_calls(const Call::State& call) {
  std::vector<Call::State::Kernel> kernels;
  for (const Stage& stage : *call.stages) {
    const Index units = stage.units < 0 ? 1 : call.sizes[static_cast<std::size_t>(stage.units)];
    if (!stage.run || units <= 0 || !call.function->executor->only_calls(stage, call.sizes.data())) return {};
    kernels.push_back({stage.run, units});
  }
  return kernels;
}

}  // namespace

std::shared_ptr<Call::State> make_call(const std::shared_ptr<Function::State>& f, const Bindings& bindings, std::vector<Array> inputs, std::vector<Array> outputs) {
  auto call = std::make_shared<Call::State>();
  call->function = f;
  call->inputs = std::move(inputs);
  call->outputs = std::move(outputs);
  see_reshaped(*call, bindings);
  call->variant = f->variant_for(bindings, call->inputs, call->outputs);
  if (separate_overlaps(*call, f->pool)) call->variant = f->variant_for(bindings, call->inputs, call->outputs);
  fill_tables(*call, bindings);
  call->direct = direct_calls(*call);
  return call;
}

WEFT_CALLS_GENERATED_CODE void run_call(const Call::State& call) {
  for (const auto& [from, to] : call.gathered) copy_elements(from, to);
  for (const auto& [run, units] : call.direct) run(call.slots.data(), call.sizes.data(), 0, units, nullptr);
  if (call.direct.empty())
    for (const Stage& stage : *call.stages) call.function->executor->run(stage, call.slots.data(), call.sizes.data());
  for (const auto& [from, to] : call.copies) copy_elements(from, to);
}

Call::Call(std::shared_ptr<State> state) : state_(std::move(state)) {
  if (state_->direct.size() != 1 || !state_->copies.empty() || !state_->gathered.empty()) return;
  kernel_ = state_->direct[0].run;
  units_ = state_->direct[0].units;
  slots_ = state_->slots.data();
  sizes_ = state_->sizes.data();
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

}  // namespace weft
