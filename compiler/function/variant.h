// One compiled variant of a Function: a schedule chosen for the strides and sizes of the call that needed it.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weft/kernel.h>
#include <weft/options.h>

#include "slide_plan.h"
#include "emit/emit.h"

namespace weft {

struct Variant {
  Schedule schedule;
  Plan plan;
  std::vector<SlidePlan> slides;
  mutable std::mutex slid_mutex;
  mutable std::shared_ptr<const SlidStages> slid;         // of the last sizes
  StrideClasses classes;
  CodeOptions code_options;
  Kernel kernel;
  Bindings bindings;                    // of the call that compiled it
  Facts facts;                          // hold in all its calls
  enum class Code { generated, read, shared } code = Code::generated;   // read from Options::cache_dir; another variant's
  struct Seconds {
    double schedule = 0, lower = 0, emit = 0, llvm = 0, link = 0;
    double total() const { return schedule + lower + emit + llvm + link; }
  } seconds;
};

// Compiles the final graph for these hints. Where that gives the same machine code as one of the others, it is theirs. Throws Error.
std::shared_ptr<const Variant> compile_variant(const Graph& graph, const Hints& hints, const Options& options, const std::vector<std::shared_ptr<const Variant>>& others);

// Whether the output may lie exactly where the input lies.
bool may_share(const std::vector<Program>& programs, NodeId input, NodeId output);   // in_place.cpp

std::string llvm_text(const Variant& variant);
std::string assembly_text(const Variant& variant);

}  // namespace weft
