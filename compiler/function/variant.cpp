#include "variant.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Support/raw_ostream.h>

#include <weft/thread_pool.h>

#include "code/jit.h"
#include "code/features.h"
#include "code/split_module.h"
#include "code/verify_code.h"
#include "program/pipeline.h"

namespace weft {
namespace {

OwnedModule emit_code(const std::vector<Program>& programs, const StrideClasses& classes, Plan& plan, const CodeOptions& options) {
  OwnedModule code;
  code.module = std::make_unique<llvm::Module>("weft", *code.context);
  emit_programs(*code.module, programs, classes, plan, options);
  return code;
}

// Emits the programs of a variant again, to look at them.
OwnedModule code_of(const Variant& variant) {
  Plan plan;
  return emit_code(variant.plan.programs, variant.classes, plan, variant.code_options);
}

std::string bitcode_of(const llvm::Module& module) {
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  llvm::WriteBitcodeToFile(module, out);
  return bytes;
}

// Of the variant whose module is the same; null: none. The module of one with the same loops is made again, which takes a tenth of what its machine
// code took.
std::shared_ptr<const MachineCode> same_code(const Graph& graph, const std::vector<Program>& programs, const llvm::Module& module, const std::vector<std::shared_ptr<const Variant>>& variants) {
  if (variants.empty()) return nullptr;
  const std::string loops = program_text(graph, programs), code = bitcode_of(module);
  const auto same = std::find_if(variants.begin(), variants.end(), [&](const auto& variant) {
    return program_text(graph, variant->plan.programs) == loops && bitcode_of(*code_of(*variant).module) == code;
  });
  return same == variants.end() ? nullptr : std::static_pointer_cast<const MachineCode>((*same)->kernel.code);
}

// Seconds since the last look.
class Stopwatch {
 public:
  double lap() {
    const auto before = std::exchange(last_, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(last_ - before).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Large functions are called, and large code is generated in parts by several threads.
void choose_code_options(const std::vector<Program>& programs, const std::string& features, CodeOptions& options) {
  int instructions = 0, with_loops = 0;
  for (const Program& program : programs) instructions += instructions_of(program.root), with_loops += code_of(program.root);
  options.calls = instructions > functions_inline;
  const auto registers = lane_count * size_of(f32) / register_bytes(features);     // of a vector of floats, each of which takes instructions of its own
  options.code_per_piece = code_per_piece(with_loops, parts_worth_threads(registers * static_cast<std::size_t>(with_loops), hardware_threads()));
}

Kernel kernel_of(const std::string& name, const Plan& plan, std::shared_ptr<const MachineCode> code) {
  Kernel kernel;
  kernel.name = name;
  for (const StagePlan& stage : plan.stages) {
    const StageFn run = stage.merge ? nullptr : reinterpret_cast<StageFn>(code->address(stage.symbol));
    kernel.stages.push_back({run, stage.units, stage.work, stage.scratch, stage.name, stage.together, stage.merge, nullptr, stage.slice_work, stage.arrays, stage.search});
  }
  kernel.code = std::move(code);
  return kernel;
}

}  // namespace

std::shared_ptr<const Variant> compile_variant(const Graph& graph, const Hints& hints, const Options& options, const std::vector<std::shared_ptr<const Variant>>& others) {
  Stopwatch watch;
  auto variant = std::make_shared<Variant>();
  variant->code_options = {.lanes = options.lanes, .fast_math = options.fast_math, .stream = hints.stream, .machine = hints.machine};
  variant->bindings = hints.bindings;
  variant->schedule = make_schedule(graph, hints);
  if (options.verify) verify(graph, variant->schedule);
  variant->seconds.schedule = watch.lap();
  for (const auto& [node, layout] : hints.arrays)
    variant->classes[node] = stride_classes(layout.strides, evaluate(graph.node(node).shape(), hints.bindings));
  Plan& plan = variant->plan;
  for (NodeId id : graph.inputs) plan.slot_of(Place::argument, id);
  for (NodeId id : results_of(graph)) plan.slot_of(Place::result, id);
  std::vector<Program> programs;
  for (const Nest& nest : variant->schedule.nests) programs.push_back(lower(graph, variant->schedule, nest, graph.name + "_" + std::to_string(programs.size())));
  const std::string features = host_features(options.lanes);
  run_program_passes(programs, {graph, variant->classes, hints, features, plan.relied}, options);
  choose_code_options(programs, features, variant->code_options);
  variant->seconds.lower = watch.lap();
  OwnedModule code = emit_code(programs, variant->classes, plan, variant->code_options);
  if (options.verify) verify(*code.module);
  variant->facts = plan.relied.of(hints.facts);
  variant->seconds.emit = watch.lap();
  auto machine_code = same_code(graph, programs, *code.module, others);
  if (machine_code) {
    variant->code = Variant::Code::shared;
  } else {
    machine_code = compile_module(std::move(code), options.cache_dir);
    if (machine_code->is_from_cache()) variant->code = Variant::Code::read;
  }
  variant->seconds.llvm = watch.lap();
  variant->kernel = kernel_of(graph.name, plan, std::move(machine_code));
  plan.programs = std::move(programs);
  variant->slides = plan_slides(plan);
  variant->seconds.link = watch.lap();        // on the first look at an address
  return variant;
}

std::string llvm_text(const Variant& variant) {
  OwnedModule code = code_of(variant);
  std::string text;
  llvm::raw_string_ostream out(text);
  code.module->print(out, nullptr);
  return text;
}

std::string assembly_text(const Variant& variant) {
  return assembly_of(code_of(variant));
}

}  // namespace weft
