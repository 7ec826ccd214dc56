// What a bound call holds: the addresses and sizes that its loops are given, and what it keeps alive for them.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "function_state.h"

namespace weft {

// What calls with arguments of the same dtypes, shapes and strides have in common: all but addresses.
struct CallLayout {
  struct Kernel {                                                  // all units of a stage
    StageFn run;
    Index units;
  };
  struct Memory {                                                  // a temporary, or partial results
    std::size_t slot;
    Index bytes;
  };
  struct Argument {
    DType dtype;
    Dims shape, strides;
    Index first, past;                                             // the bytes of its elements, from its address
    int slot;
    int upon;                                                      // a result: the input that it is, element for element, or -1
  };

  struct Alias {                                                   // an input under another shape
    std::size_t slot, input;
  };

  std::shared_ptr<const Variant> variant;
  std::vector<Argument> arguments;                                 // inputs, then outputs
  std::vector<Alias> aliases;
  std::size_t inputs = 0;                                          // of those
  bool has_new_outputs = false;                                    // they lie as those do that a function makes for a call
  std::vector<Index> sizes;
  std::shared_ptr<const std::vector<Stage>> stages;                // the variant's, or its own with some that slide
  std::vector<Kernel> direct;                                      // of the stages, if the executor would do no more than call them; else none
  std::vector<void*> slots;                                        // of the call that made it; of constants in all calls
  std::vector<Memory> memory;
};

struct Call::State {
  std::shared_ptr<Function::State> function;
  std::shared_ptr<const CallLayout> layout;
  boost::container::small_vector<void*, 8> slots;
  boost::container::small_vector<std::shared_ptr<void>, 8> kept;   // alive: arguments, temporaries and partial results
  std::vector<std::pair<Array, Array>> gathered;                   // inputs with gaps that a reshape reads: from, to
  std::vector<std::pair<Array, Array>> copies;                     // results that overlap something, or have gaps where they are reshaped: from, to
  Index temporary_bytes = 0;
};

// Of arguments that were checked. Compiles a variant for their layouts if there is none yet.
std::shared_ptr<Call::State> make_call(const std::shared_ptr<Function::State>& f, const Bindings& bindings, std::vector<Array> inputs, const std::vector<Array>& outputs);
// Of arguments for which the function has made one like it: see recent_calls.h.
std::shared_ptr<Call::State> call_again(const std::shared_ptr<Function::State>& f, std::shared_ptr<const CallLayout> layout, const std::vector<Array>& inputs, const std::vector<Array>& outputs);
void run_call(const Call::State& call);

}  // namespace weft
