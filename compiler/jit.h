// Machine code from LLVM modules: one process-wide ORC session, made on first use and never destroyed (destroying it
// while static objects die is a crash). Thread-safe.
#pragma once
#include <memory>
#include <string>

#include "owned_module.h"

namespace weft {

// The features of this CPU as LLVM writes them: "+avx2,+fma,..". Those of registers with more f32 lanes than these, if not 0,
// are switched off.
const std::string& host_features(int lanes = 0);

// Compiled code of one module; freed with the last owner.
class MachineCode {
 public:
  virtual ~MachineCode() = default;
  virtual void* address(const std::string& symbol) const = 0;
};

// Symbols must be unique in the process: ask unique_name().
std::shared_ptr<const MachineCode> compile_module(OwnedModule owned);
std::string unique_name(const std::string& stem);
std::string assembly_of(OwnedModule owned);             // the text a reader wants

}  // namespace weft
