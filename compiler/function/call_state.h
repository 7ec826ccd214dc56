// What a bound call holds: the addresses and sizes that its loops are given, and what it keeps alive for them.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "function_state.h"

namespace weft {

struct Call::State {
  struct Kernel {                                                  // all units of a stage
    StageFn run;
    Index units;
  };
  std::shared_ptr<Function::State> function;
  std::shared_ptr<const Variant> variant;
  std::vector<void*> slots;
  std::vector<Index> sizes;
  std::shared_ptr<const std::vector<Stage>> stages;                // the variant's, or its own with some that slide
  std::vector<Kernel> direct;                                      // of the stages, if the executor would do no more than call them; else none
  std::vector<std::shared_ptr<void>> memory;                       // temporaries and partial results
  std::vector<Array> inputs, outputs;                              // kept alive
  std::vector<View> reshaped;                                      // of State::reshaped
  std::vector<std::pair<Array, Array>> gathered;                   // inputs with gaps that a reshape reads: from, to
  std::vector<std::pair<Array, Array>> copies;                     // results that overlap something: from, to
  Index temporary_bytes = 0;
};

// Of arguments that were checked. Compiles a variant for their layouts if there is none yet.
std::shared_ptr<Call::State> make_call(const std::shared_ptr<Function::State>& f, const Bindings& bindings, std::vector<Array> inputs, std::vector<Array> outputs);
void run_call(const Call::State& call);

}  // namespace weft
