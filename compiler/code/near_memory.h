// Memory for machine code, near the code that calls it.
#pragma once
#include <atomic>
#include <cstdint>

#include <llvm/ExecutionEngine/Orc/MemoryMapper.h>

namespace weft {

// Processors predict branches that go far more slowly: a call of sixteen floats takes 2.7 ns where its code is more than 128 GB away, as what
// the system maps by itself is from programs, and 2.1 ns within (Zen 4). Never destroyed, and gives nothing back.
class NearMemory final : public llvm::orc::InProcessMemoryMapper {
 public:
  static llvm::Expected<std::unique_ptr<NearMemory>> Create();                  // named as LLVM wants it
  explicit NearMemory(std::size_t page_size);
  void reserve(std::size_t bytes, OnReservedFunction done) override;            // elsewhere if there is no room near

 private:
  std::atomic<std::uintptr_t> end_;                                             // of what is asked for next: below all before
};

}  // namespace weft
