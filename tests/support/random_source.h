// Where random decisions come from: a seed, or bytes (a fuzzer's input). The same generator runs on both.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual std::uint64_t bits() = 0;                          // 64 of them
  virtual std::uint64_t small(std::uint64_t count) = 0;      // in [0, count), count <= 2^16

  std::int64_t between(std::int64_t first, std::int64_t last) {
    const auto count = static_cast<std::uint64_t>(last - first) + 1;
    return first + static_cast<std::int64_t>(count <= 65536 ? small(count) : bits() % count);
  }
  bool chance(int percent) { return static_cast<int>(small(100)) < percent; }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  template <class T> const T& pick(const std::vector<T>& values) { return values[small(values.size())]; }
  template <class T> T pick(std::initializer_list<T> values) { return values.begin()[small(values.size())]; }
  template <class T> void shuffle(std::vector<T>& values) {
    for (std::size_t k = values.size(); k > 1; --k) std::swap(values[k - 1], values[small(k)]);
  }
};

// splitmix64: the same numbers on every machine.
class SeededSource final : public RandomSource {
 public:
  explicit SeededSource(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  std::uint64_t bits() override {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::uint64_t small(std::uint64_t count) override { return (bits() >> 16) % count; }

 private:
  std::uint64_t state_;
};

// Bytes in order, then zeros: every input is a graph, and a longer one never changes what came before.
class ByteSource final : public RandomSource {
 public:
  explicit ByteSource(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  std::uint64_t bits() override { return take(8); }
  std::uint64_t small(std::uint64_t count) override { return take(count <= 256 ? 1 : 2) % count; }
  bool is_empty() const { return at_ >= bytes_.size(); }

 private:
  std::uint64_t take(int count) {
    std::uint64_t value = 0;
    for (int k = 0; k < count; ++k) value = value << 8 | (at_ < bytes_.size() ? bytes_[at_++] : 0u);
    return value;
  }
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};
