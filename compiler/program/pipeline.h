// The passes over the programs of a variant in order: one array of {name, function, purpose}, as passes/pipeline.h has them for graphs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include <weft/options.h>

#include "loop_choices.h"

namespace weft {

// What passes know of the call that compiles, and what they rely on of later ones.
struct ProgramContext {
  const Graph& graph;
  const StrideClasses& classes;
  const Hints& hints;
  const std::string& features;          // of the processor
  ReliedFacts& relied;
};

struct ProgramPass {
  const char* name;
  void (*run)(std::vector<Program>&, const ProgramContext&);
  const char* purpose;
};
std::span<const ProgramPass> program_passes();

// Runs all of them; verifies after each if asked to; prints what `options.trace` (or WEFT_TRACE) names.
void run_program_passes(std::vector<Program>& programs, const ProgramContext& context, const Options& options);

std::string program_text(const Graph& graph, const std::vector<Program>& programs);

}  // namespace weft
