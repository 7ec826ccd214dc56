#include "write_combining.h"

#include <cstdint>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace weft {
namespace {

constexpr Index line_bytes = 64;

using Stream = void(char* to, const char* from, const char* end);

void stream(char* to, const char* from, const char* end) {
#ifdef __x86_64__
  for (; from != end; to += 16, from += 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm_load_si128(reinterpret_cast<const __m128i*>(from)));
#else
  std::memcpy(to, from, static_cast<std::size_t>(end - from));
#endif
}

#ifdef __x86_64__
// A line at once does not wait for the rest of it.
[[gnu::target("avx512f")]] void stream_lines(char* to, const char* from, const char* end) {
  for (; from != end; to += line_bytes, from += line_bytes) _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_load_si512(from));
}
[[gnu::target("avx2")]] void stream_halves(char* to, const char* from, const char* end) {
  for (; from != end; to += 32, from += 32) _mm256_stream_si256(reinterpret_cast<__m256i*>(to), _mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
}
#endif

Stream* stream_on_host() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return &stream_lines;
  if (__builtin_cpu_supports("avx2")) return &stream_halves;
#endif
  return &stream;
}

}  // namespace

void flush_lines(WriteCombiner* combiner, char* memory) {
  static Stream* const stream_on_this = stream_on_host();
  const Index whole = combiner->end / line_bytes * line_bytes;
  if (whole == 0) return;
  Index first = 0;
  if (combiner->begin > 0) {
    std::memcpy(combiner->line + combiner->begin, memory + combiner->begin, static_cast<std::size_t>(line_bytes - combiner->begin));
    first = line_bytes;
  }
  stream_on_this(combiner->line + first, memory + first, memory + whole);
  std::memcpy(memory, memory + whole, line_bytes);
  *combiner = {combiner->line + whole, 0, combiner->end - whole};
}

void combine_at(WriteCombiner* combiner, char* memory, char* to) {
  if (combiner->end > combiner->begin) {
    flush_lines(combiner, memory);
    std::memcpy(combiner->line + combiner->begin, memory + combiner->begin, static_cast<std::size_t>(combiner->end - combiner->begin));
  }
  const auto within = static_cast<Index>(reinterpret_cast<std::uintptr_t>(to) % line_bytes);
  *combiner = {to - within, within, within};
}

}  // namespace weft
