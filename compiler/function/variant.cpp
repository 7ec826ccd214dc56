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
#include "program/join_results.h"
#include "program/keep_transposed.h"
#include "program/narrow_folds.h"
#include "program/one_unit.h"
#include "program/partition.h"
#include "program/rows_in_place.h"
#include "program/stage_across.h"
#include "program/work.h"

namespace weft {
namespace {

OwnedModule emit_code(const std::vector<Program>& programs, const StrideClasses& classes, Plan& plan, const CodeOptions& options) {
  OwnedModule code;
  code.module = std::make_unique<llvm::Module>("weft", *code.context);
  for (const Program& program : programs) emit_program(*code.module, program, classes, plan, options);
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
  for (Program& program : programs) narrow_folds(program, plan.relied);
  mark_run_times(programs, hints.bindings, hints.machine);
  for (Program& program : programs) {
    run_as_one_unit(program);
    use_rows_in_place(program, variant->classes, host_features(options.lanes), hints.machine);
    join_results(program, variant->classes, host_features(options.lanes), hints.machine);
    stage_across(program, variant->classes, host_features(options.lanes), hints.machine, begin_lines(hints.stream));
    keep_transposed(program, variant->classes, host_features(options.lanes), hints.machine);
    partition_loops(program, hints.bindings);
    if (options.verify) verify(program);
  }
  int instructions = 0, with_loops = 0;
  for (const Program& program : programs) instructions += instructions_of(program.root), with_loops += code_of(program.root);
  variant->code_options.calls = instructions > functions_inline;
  const auto registers = lane_count * size_of(f32) / register_bytes(host_features(options.lanes));     // of a vector of floats, each of which takes instructions of its own
  variant->code_options.code_per_piece = code_per_piece(with_loops, parts_worth_threads(registers * static_cast<std::size_t>(with_loops), hardware_threads()));
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
  variant->kernel.name = graph.name;
  for (const StagePlan& stage : plan.stages) {
    const StageFn run = stage.merge ? nullptr : reinterpret_cast<StageFn>(machine_code->address(stage.symbol));
    variant->kernel.stages.push_back({run, stage.units, stage.work, stage.scratch, stage.name, stage.together, stage.merge, nullptr, stage.slice_work});
  }
  variant->kernel.code = std::move(machine_code);
  plan.programs = std::move(programs);
  variant->slides = plan_slides(plan);
  variant->seconds.link = watch.lap();        // on the first look at an address
  return variant;
}

std::string program_text(const Graph& graph, const std::vector<Program>& programs) {
  std::string text;
  for (const Program& program : programs) text += to_text(graph, program);
  return text;
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
