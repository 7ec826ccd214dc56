// Memory next to a page that cannot be read or written: a byte too far is a crash.
#pragma once
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include <doctest/doctest.h>

#include <weft/array.h>

// A copy of an array next to a page without access.
inline weft::Array guarded(const weft::Array& array, bool at_end) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), bytes = static_cast<std::size_t>(array.size()) * size_of(array.dtype());
  const std::size_t inside = (bytes + page - 1) / page * page, whole = inside + 2 * page;
  void* const memory = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  auto* const first = static_cast<std::byte*>(memory) + page;
  REQUIRE(mprotect(memory, page, PROT_NONE) == 0);
  REQUIRE(mprotect(first + inside, page, PROT_NONE) == 0);
  std::byte* const data = at_end ? first + (inside - bytes) : first;
  std::memcpy(data, array.data(), bytes);
  return weft::Array::borrow(weft::View(data, array.dtype(), array.shape(), weft::Order::c), std::shared_ptr<void>(memory, [whole](void* block) { munmap(block, whole); }));
}
#endif
