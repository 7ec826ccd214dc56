// Machine code from LLVM modules: one process-wide ORC session, made on first use and never destroyed (destroying it
// while static objects die is a crash). Thread-safe.
#pragma once
#include <memory>
#include <string>

#include "owned_module.h"

namespace weft {

// Compiled code of one module; freed with the last owner.
class MachineCode {
 public:
  explicit MachineCode(bool is_from_cache) : is_from_cache_(is_from_cache) {}
  virtual ~MachineCode() = default;
  virtual void* address(const std::string& symbol) const = 0;
  bool is_from_cache() const { return is_from_cache_; }

 private:
  const bool is_from_cache_;
};

// With a directory, code that it holds is read, and code that it does not hold is kept there (code_cache.h).
std::shared_ptr<const MachineCode> compile_module(OwnedModule owned, const std::string& cache_dir = {});
std::string assembly_of(OwnedModule owned);             // the text a reader wants

}  // namespace weft
