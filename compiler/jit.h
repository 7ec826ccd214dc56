// Machine code from LLVM modules: one process-wide ORC session, made on first use and never destroyed (destroying it
// while static objects die is a crash). Thread-safe.
#pragma once
#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

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

// Takes the module with its context. Symbols must be unique in the process: ask unique_name().
std::shared_ptr<const MachineCode> compile_module(std::unique_ptr<llvm::LLVMContext> context, std::unique_ptr<llvm::Module> module);
std::string unique_name(const std::string& stem);
std::string assembly_of(llvm::Module& module);          // the text a reader wants; compiles again

}  // namespace weft
