#include <weft/memory.h>

#include <cstdint>
#include <cstring>
#include <atomic>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "error_text.h"

using namespace weft;

namespace {

bool is_aligned(const std::shared_ptr<void>& block, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(block.get()) % alignment == 0;
}

}  // namespace

TEST_CASE("memory is aligned to 64 bytes, large blocks to 2 MiB") {
  for (const std::size_t bytes : {0, 1, 63, 64, 4096, (4 << 20) - 1}) {
    CHECK(is_aligned(allocate(bytes), 64));
    CHECK(is_aligned(BufferPool().take(bytes), 64));
  }
  CHECK(is_aligned(allocate(4 << 20), 2 << 20));
  CHECK(is_aligned(BufferPool().take((5 << 20) + 1), 2 << 20));
}

TEST_CASE("a size that cannot be had is an error") {
  CHECK(error_text([] { allocate(std::size_t{1} << 60); }) == "usage: cannot allocate 1152921504606846976 bytes");
  CHECK(error_text([] { BufferPool().take(~std::size_t{0}); }) == "usage: cannot allocate 18446744073709551615 bytes");
}

TEST_CASE("a released block is used again for sizes of its class") {
  BufferPool pool;
  std::shared_ptr<void> block = pool.take(1000);
  void* const address = block.get();
  CHECK(pool.idle_bytes() == 0);
  block.reset();
  CHECK(pool.idle_bytes() == 1024);
  CHECK(pool.take(2000).get() != address);
  block = pool.take(900);
  CHECK(block.get() == address);
  const std::shared_ptr<void> other = pool.take(900);
  CHECK(other.get() != address);
}

TEST_CASE("a block is at least as large as asked for") {
  BufferPool pool;
  for (std::size_t bytes = 1; bytes < (9 << 20); bytes = bytes * 3 / 2 + 1)
    std::memset(pool.take(bytes).get(), 1, bytes);  // the sanitizer objects if not
}

TEST_CASE("idle blocks stay below the cap, the oldest go first") {
  BufferPool pool(3 * 1024);
  void* youngest = nullptr;
  {
    std::vector<std::shared_ptr<void>> blocks;
    for (int i = 0; i < 5; ++i) blocks.push_back(pool.take(1024));
    youngest = blocks.back().get();
    for (auto& block : blocks) block.reset();
  }
  CHECK(pool.idle_bytes() == 3 * 1024);
  CHECK(pool.take(1024).get() == youngest);
  pool.take(4096).reset();  // larger than the cap: not kept, and the others are gone before it
  CHECK(pool.idle_bytes() == 0);
  pool.take(1024).reset();
  pool.clear();
  CHECK(pool.idle_bytes() == 0);
}

TEST_CASE("many small blocks do not pile up") {
  BufferPool pool;
  std::vector<std::shared_ptr<void>> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(pool.take(64));
  blocks.clear();
  CHECK(pool.idle_bytes() == 64 * 64);
}

TEST_CASE("blocks may outlive the pool") {
  std::shared_ptr<void> block;
  {
    BufferPool pool;
    block = pool.take(5000);
  }
  std::memset(block.get(), 1, 5000);
}

TEST_CASE("threads share a pool, no block is given out twice") {
  BufferPool pool;
  std::vector<std::thread> threads;
  std::atomic<int> errors{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 1000; ++i) {
        const std::shared_ptr<void> block = pool.take(256);
        std::memset(block.get(), t, 256);
        std::this_thread::yield();
        const auto* bytes = static_cast<const unsigned char*>(block.get());
        for (int k = 0; k < 256; ++k) errors += bytes[k] != t;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(errors == 0);
}
