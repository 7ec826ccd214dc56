#include "near_memory.h"

#include <cerrno>

#include <sys/mman.h>

#include <llvm/Support/Process.h>

namespace weft {
namespace {

// Programs are below their heap, which grows upward: there is room below them, or, where they begin near zero, far above.
std::uintptr_t room_near() {
  constexpr std::uintptr_t apart = std::uintptr_t{1} << 30, low = 8 * apart;
  static const char here = 0;
  const auto address = reinterpret_cast<std::uintptr_t>(&here) / apart * apart;
  return address >= low ? address - apart : address + low;
}

}  // namespace

NearMemory::NearMemory(std::size_t page_size) : InProcessMemoryMapper(page_size), end_(room_near()) {}

llvm::Expected<std::unique_ptr<NearMemory>> NearMemory::Create() {
  auto page_size = llvm::sys::Process::getPageSize();
  if (!page_size) return page_size.takeError();
  return std::make_unique<NearMemory>(*page_size);
}

void NearMemory::reserve(std::size_t bytes, OnReservedFunction done) {
  constexpr int tries = 64, how = MAP_PRIVATE | MAP_ANONYMOUS;
  void* memory = MAP_FAILED;
  for (int k = 0; k < tries && memory == MAP_FAILED; ++k) {
    const std::uintptr_t wanted = end_.fetch_sub(bytes) - bytes;
    memory = mmap(reinterpret_cast<void*>(wanted), bytes, PROT_READ | PROT_WRITE, how | MAP_FIXED_NOREPLACE, -1, 0);
  }
  if (memory == MAP_FAILED) memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, how, -1, 0);
  if (memory == MAP_FAILED) return done(llvm::errorCodeToError(std::error_code(errno, std::generic_category())));
  done(llvm::orc::ExecutorAddrRange(llvm::orc::ExecutorAddr::fromPtr(memory), bytes));
}

}  // namespace weft
