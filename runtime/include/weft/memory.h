// Memory for arrays and kernel temporaries.
//
// allocate() gives 64-byte aligned memory; blocks of 4 MiB and more are 2 MiB aligned and ask for huge pages.
// A BufferPool reuses released blocks, because fresh pages are dear: the page faults of a fresh 64 MB output cost
// more than 9 ms, several times what a memory-bound kernel takes.
//
//   BufferPool pool;                                // owned by whoever needs it: there is no global one
//   std::shared_ptr<void> block = pool.take(bytes); // goes back to the pool when the last copy is released
//
// Blocks may outlive the pool object: the last of them frees the pool's storage. Contents are undefined.
// Thread-safe: take, release and clear from any threads. Cost: one short lock, O(64) at worst.
#pragma once
#include <cstddef>
#include <memory>

namespace weft {

inline constexpr std::size_t memory_alignment = 64;

// At least `bytes` bytes (0 is allowed), uninitialised; throws Error(usage) if the system has no more.
std::shared_ptr<void> allocate(std::size_t bytes);

// The bytes of the processor's largest cache, as the system tells, read once; 32 MiB where it does not.
std::size_t machine_cache_bytes();

class BufferPool {
 public:
  // Keeps at most `cap` bytes of idle blocks; the ones idle for longest are freed first.
  explicit BufferPool(std::size_t cap = std::size_t{1} << 30);
  std::shared_ptr<void> take(std::size_t bytes);
  std::size_t idle_bytes() const;
  void clear();  // frees the idle blocks

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weft
