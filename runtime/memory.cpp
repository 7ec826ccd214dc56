#include <weft/memory.h>

#include <bit>
#include <fstream>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <weft/error.h>

namespace weft {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t huge_from = std::size_t{4} << 20;

std::size_t alignment_of(std::size_t bytes) { return bytes >= huge_from ? huge_page : memory_alignment; }

// Beyond any address space: refused here, because rounding up would overflow and sanitizers abort instead of failing.
void check_size(std::size_t bytes) {
  WEFT_REQUIRE(bytes <= std::size_t{1} << 56, usage, "cannot allocate ", bytes, " bytes");
}

// Four classes per doubling: at most a quarter is wasted, and sizes that vary a little share blocks.
std::size_t size_class(std::size_t bytes) {
  if (bytes <= memory_alignment) return memory_alignment;
  check_size(bytes);
  const std::size_t step = std::bit_floor(bytes - 1) / 4;
  const std::size_t rounded = (bytes + step - 1) / step * step;
  const std::size_t unit = alignment_of(rounded);
  return (rounded + unit - 1) / unit * unit;
}

void* allocate_block(std::size_t bytes) {
  check_size(bytes);
  void* block = ::operator new(bytes, std::align_val_t(alignment_of(bytes)), std::nothrow);
  WEFT_REQUIRE(block != nullptr, usage, "cannot allocate ", bytes, " bytes");
#if defined(MADV_HUGEPAGE)
  // Advice only: without huge pages the block works, with more page faults.
  if (bytes >= huge_from) madvise(block, bytes, MADV_HUGEPAGE);
#endif
  return block;
}

void free_block(void* block, std::size_t bytes) { ::operator delete(block, std::align_val_t(alignment_of(bytes))); }

}  // namespace

std::size_t machine_cache_bytes() {
  static const std::size_t bytes = [] {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
    std::size_t kibibytes = 0;
    char unit = 0;
    return file >> kibibytes >> unit && unit == 'K' && kibibytes > 0 ? kibibytes << 10 : std::size_t{32} << 20;
  }();
  return bytes;
}

std::shared_ptr<void> allocate(std::size_t bytes) {
  const std::size_t size = bytes == 0 ? memory_alignment : bytes;
  return std::shared_ptr<void>(allocate_block(size), [size](void* block) { free_block(block, size); });
}

// Idle blocks in the order of their release. Few and large in practice: a bounded list is searched faster than a map.
struct BufferPool::State {
  struct Block {
    void* data;
    std::size_t bytes;
  };
  static constexpr std::size_t max_blocks = 64;

  explicit State(std::size_t byte_cap) : cap(byte_cap) { idle.reserve(max_blocks + 1); }
  ~State() { free_oldest(idle.size()); }

  void* take(std::size_t bytes) {
    {
      const std::lock_guard lock(mutex);
      // The youngest block is the likeliest to be in cache.
      for (std::size_t i = idle.size(); i-- > 0;) {
        if (idle[i].bytes != bytes) continue;
        void* data = idle[i].data;
        idle.erase(idle.begin() + static_cast<std::ptrdiff_t>(i));
        idle_bytes -= bytes;
        return data;
      }
    }
    return allocate_block(bytes);
  }

  void give_back(void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    idle.push_back({data, bytes});
    idle_bytes += bytes;
    std::size_t count = 0;
    for (std::size_t left = idle_bytes; left > cap || idle.size() - count > max_blocks; ++count)
      left -= idle[count].bytes;
    free_oldest(count);
  }

  void free_oldest(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      free_block(idle[i].data, idle[i].bytes);
      idle_bytes -= idle[i].bytes;
    }
    idle.erase(idle.begin(), idle.begin() + static_cast<std::ptrdiff_t>(count));
  }

  const std::size_t cap;
  mutable std::mutex mutex;
  std::vector<Block> idle;
  std::size_t idle_bytes = 0;
};

BufferPool::BufferPool(std::size_t cap) : state_(std::make_shared<State>(cap)) {}

std::shared_ptr<void> BufferPool::take(std::size_t bytes) {
  const std::size_t size = size_class(bytes);
  return std::shared_ptr<void>(state_->take(size),
                               [state = state_, size](void* block) { state->give_back(block, size); });
}

std::size_t BufferPool::idle_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->idle_bytes;
}

void BufferPool::clear() {
  const std::lock_guard lock(state_->mutex);
  state_->free_oldest(state_->idle.size());
}

}  // namespace weft
