// Nests that differ by their arrays alone, as the steps of an unrolled network do, run the same machine code, each with arrays of its own. A network of 32
// steps with its gradient has 109 nests: the first call took 755 ms, and takes 190 to 250 (Zen 5).
#include "emit_kernel.h"
#include "program/common_form.h"
#include "program/fixed_indices.h"

namespace weft {
namespace {

// Code for any arrays, and what it is given of them.
struct CommonCode {
  StagePlan stage;
  std::vector<ArrayEntry> entries;
};

CommonCode emit_common(llvm::Module& module, Program program, const StrideClasses& classes, Plan& plan, const CodeOptions& options) {
  take_fixed_indices(program, classes);
  CommonCode code;
  code.entries = KernelEmitter(module, program, classes, plan, options).emit_for_any_arrays("weft_" + program.name, code.stage);
  return code;
}

// What the code is given for this program.
std::vector<StageArray> arrays_of(Program program, const std::vector<ArrayEntry>& entries, const StrideClasses& classes, Plan& plan) {
  const std::vector<int> slots = slots_of(program, plan);
  const std::vector<FixedIndex> fixed = take_fixed_indices(program, classes);
  std::vector<StageArray> arrays;
  for (const auto& [buffer, dim] : entries) {
    const Buffer& array = program.buffer(buffer);
    const int slot = slots[static_cast<std::size_t>(buffer)];
    if (dim >= 0) {
      arrays.push_back({-1, {plan.stride(array, slot, static_cast<std::size_t>(dim))}});
      continue;
    }
    arrays.push_back({slot, {}});
    for (const FixedIndex& index : fixed)
      if (index.buffer == buffer) arrays.back().offsets.push_back(plan.stride(array, slot, index.dim, index.at));
  }
  return arrays;
}

}  // namespace

void emit_programs(llvm::Module& module, const std::vector<Program>& programs, const StrideClasses& classes, Plan& plan, const CodeOptions& options) {
  const auto firsts = firsts_of_forms(programs, classes);
  std::map<std::size_t, CommonCode> common;                          // by the first program
  for (std::size_t k = 0; k < programs.size(); ++k) {
    const Program& program = programs[k];
    StagePlan stage;
    if (firsts[k]) {
      if (*firsts[k] == k) common[k] = emit_common(module, program, classes, plan, options);
      const CommonCode& code = common[*firsts[k]];
      stage = code.stage;
      stage.name = program.name;
      stage.arrays = arrays_of(program, code.entries, classes, plan);
    } else {
      stage = KernelEmitter(module, program, classes, plan, options).emit("weft_" + program.name);
    }
    const std::vector<int> slots = slots_of(program, plan);
    stage.search = plan_search(program, slots, plan);
    plan.stages.push_back(std::move(stage));
    const bool merges = std::any_of(program.folds.begin(), program.folds.end(), [](const Fold& fold) { return fold.partial >= 0; });
    if (merges) plan.stages.push_back(plan_merge(program, slots, plan));
  }
}

}  // namespace weft
