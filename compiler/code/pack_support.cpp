#include "pack_support.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <weft/accumulator.h>

namespace weft {
namespace {

// Where element k of the leaf goes.
struct Rows {
  char* to;
  Index pitch, of_slot;
  char* row(Index k) const { return to + (k % fold_slots * of_slot + k / fold_slots) * pitch; }
  Index panel() const { return fold_slots * of_slot * pitch + bytes_between_panels; }
};

// copy(to, element, overlaps) slot after slot. overlaps: what is written behind a row is the next one of its slot, which follows.
template <class Copy> void each_row(const Rows& rows, const char* from, Index count, Index stride, Index bytes, Copy copy) {
  constexpr Index rows_ahead = 6;
  for (Index slot = 0; slot < std::min(fold_slots, count); ++slot)
    for (Index k = slot; k < count; k += fold_slots) {
      const char* element = from + k * stride;
      for (Index at = 0; at < bytes; at += 64) __builtin_prefetch(element + rows_ahead * fold_slots * stride + at);
      copy(rows.row(k), element, k + fold_slots < count);
    }
}

// Rows without gaps; every row is read as a whole, in pieces of `piece` bytes, whatever panels it goes to. Rows lie too far
// apart for a processor to guess the next: 512 bytes of each 2 KiB from beyond the second level took 6 ns for 16 bytes, six rows ahead .9 (Zen 5).
template <Index piece> void pack_pieces(const Rows& rows, const char* from, Index count, Index stride, Index bytes) {
  const Index next = rows.panel(), pitch = rows.pitch, pieces = (pitch + piece - 1) / piece * piece;
  each_row(rows, from, count, stride, bytes, [=](char* to, const char* element, bool overlaps) {
    const char* const end = element + bytes;
    for (; end - element >= pieces && (overlaps || pieces == pitch); to += next, element += pitch)
      for (Index at = 0; at < pieces; at += piece) std::memcpy(to + at, element + at, piece);
    for (; element < end; to += next, element += pitch) std::memcpy(to, element, static_cast<std::size_t>(pitch));
  });
}

void pack_panels(const Rows& rows, const char* from, Index count, Index stride, Index bytes) {
  if (bytes == 0) return;
  if (rows.pitch % 64 == 0) pack_pieces<64>(rows, from, count, stride, bytes);
  else if (rows.pitch % 16 == 0) pack_pieces<16>(rows, from, count, stride, bytes);
  else if (rows.pitch > 16) pack_pieces<32>(rows, from, count, stride, bytes);
  else if (rows.pitch >= 8) pack_pieces<16>(rows, from, count, stride, bytes);
  else pack_pieces<1>(rows, from, count, stride, bytes);
}

void copy_short_row(char* to, Index pitch, const char* element, Index bytes) {
  std::memcpy(to, element, static_cast<std::size_t>(bytes));
  std::memset(to + bytes, 0, static_cast<std::size_t>(pitch - bytes));
}

#if defined(__x86_64__)
[[gnu::target("avx")]] inline __m256 first_of(std::uint32_t, const char* from, __m256i mask) { return _mm256_maskload_ps(reinterpret_cast<const float*>(from), mask); }
[[gnu::target("avx")]] inline __m256 first_of(std::uint64_t, const char* from, __m256i mask) { return _mm256_castpd_ps(_mm256_maskload_pd(reinterpret_cast<const double*>(from), mask)); }

template <class T> [[gnu::target("avx")]] void pack_short_rows(const Rows& rows, const char* from, Index count, Index stride, Index bytes) {
  constexpr Index vector = 32;
  const Index whole = bytes / vector * vector, pitch = rows.pitch;
  T rest[vector / sizeof(T)] = {};
  std::fill_n(rest, (bytes - whole) / static_cast<Index>(sizeof(T)), static_cast<T>(-1));
  const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rest));
  each_row(rows, from, count, stride, bytes, [=](char* to, const char* element, bool overlaps) __attribute__((target("avx"))) {
    if (!overlaps && pitch % vector != 0) return copy_short_row(to, pitch, element, bytes);
    const auto put = [to](Index at, __m256 value) __attribute__((target("avx"))) { _mm256_storeu_ps(reinterpret_cast<float*>(to + at), value); };
    for (Index at = 0; at < whole; at += vector) put(at, _mm256_loadu_ps(reinterpret_cast<const float*>(element + at)));
    if (whole < bytes) put(whole, first_of(T(), element + whole, mask));
    for (Index at = whole < bytes ? whole + vector : whole; at < pitch; at += vector) put(at, _mm256_setzero_ps());
  });
}
#endif

// Rows of a panel that they do not fill, and zeros.
template <class T> void pack_rest(const Rows& rows, const char* from, Index count, Index stride, Index bytes) {
  if (bytes == 0) return;
#if defined(__x86_64__)
  if constexpr (sizeof(T) >= 4)
    if (rows.pitch >= 16 && __builtin_cpu_supports("avx")) return pack_short_rows<T>(rows, from, count, stride, bytes);
#endif
  each_row(rows, from, count, stride, bytes, [&](char* to, const char* element, bool) { copy_short_row(to, rows.pitch, element, bytes); });
}

template <class T> void pack_each(const Rows& rows, const char* from, Index count, Index stride, Index row, Index row_stride) {
  for (Index k = 0; k < count; ++k) {
    char* to = rows.row(k);
    const char* element = from + k * stride;
    for (Index column = 0; column < row; ++column) std::memcpy(to + column * static_cast<Index>(sizeof(T)), element + column * row_stride, sizeof(T));
  }
}

#if defined(__x86_64__)
// Squares, transposed: rows a stride apart become vectors that are `apart`.
template <class T> constexpr Index side = 32 / static_cast<Index>(sizeof(T));
[[gnu::target("avx")]] inline __m256d line(const char* from, Index stride, Index number) { return _mm256_loadu_pd(reinterpret_cast<const double*>(from + number * stride)); }
[[gnu::target("avx")]] inline void put(char* to, Index apart, Index number, __m256d value) { _mm256_storeu_pd(reinterpret_cast<double*>(to + number * apart), value); }

[[gnu::target("avx")]] inline void transpose(std::uint64_t, char* to, Index apart, const char* from, Index stride) {
  const __m256d a = line(from, stride, 0), b = line(from, stride, 1), c = line(from, stride, 2), d = line(from, stride, 3);
  const __m256d even = _mm256_unpacklo_pd(a, b), odd = _mm256_unpackhi_pd(a, b), even2 = _mm256_unpacklo_pd(c, d), odd2 = _mm256_unpackhi_pd(c, d);
  put(to, apart, 0, _mm256_permute2f128_pd(even, even2, 0x20));
  put(to, apart, 1, _mm256_permute2f128_pd(odd, odd2, 0x20));
  put(to, apart, 2, _mm256_permute2f128_pd(even, even2, 0x31));
  put(to, apart, 3, _mm256_permute2f128_pd(odd, odd2, 0x31));
}

[[gnu::target("avx")]] inline void transpose(std::uint32_t, char* to, Index apart, const char* from, Index stride) {
  __m256d pairs[8], quads[8];
  for (Index k = 0; k < 8; k += 2) {
    const __m256 a = _mm256_castpd_ps(line(from, stride, k)), b = _mm256_castpd_ps(line(from, stride, k + 1));
    pairs[k] = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)), pairs[k + 1] = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
  }
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < 2; ++k) {
      const __m256d a = pairs[4 * half + k], b = pairs[4 * half + 2 + k];
      quads[4 * half + 2 * k] = _mm256_unpacklo_pd(a, b), quads[4 * half + 2 * k + 1] = _mm256_unpackhi_pd(a, b);
    }
  for (int k = 0; k < 4; ++k) {
    put(to, apart, k, _mm256_permute2f128_pd(quads[k], quads[k + 4], 0x20));
    put(to, apart, k + 4, _mm256_permute2f128_pd(quads[k], quads[k + 4], 0x31));
  }
}

// Neighbours of the leaf lie side by side. Of sixteen columns at a time, so that the lines of few slots are written, and each as a whole.
template <class T> [[gnu::target("avx")]] void pack_across(const Rows& rows, const char* from, Index count, Index row, Index row_stride) {
  constexpr Index size = sizeof(T);
  const Index whole = count / fold_slots * fold_slots, whole_row = row / side<T> * side<T>, slot = rows.of_slot * rows.pitch;
  for (Index first = 0; first < whole_row; first += fold_slots)
    for (Index k = 0; k < whole; k += side<T>)
      for (Index column = first; column < std::min(first + fold_slots, whole_row); column += side<T>)
        transpose(T(), rows.row(k) + column * size, slot, from + column * row_stride + k * size, row_stride);
  if (whole_row < row) pack_each<T>({rows.to + whole_row * size, rows.pitch, rows.of_slot}, from + whole_row * row_stride, whole, size, row - whole_row, row_stride);
  for (Index k = whole; k < count; ++k)
    for (Index column = 0; column < row; ++column) std::memcpy(rows.row(k) + column * size, from + k * size + column * row_stride, sizeof(T));
}
#endif

template <class T> void pack_strided(const Rows& rows, const char* from, Index count, Index stride, Index row, Index row_stride) {
#if defined(__x86_64__)
  if constexpr (sizeof(T) >= 4)
    if (stride == sizeof(T) && __builtin_cpu_supports("avx")) return pack_across<T>(rows, from, count, row, row_stride);
#endif
  pack_each<T>(rows, from, count, stride, row, row_stride);
}

// Behind so many bytes. Rows of a slot follow each other; those behind the leaf's last element have nothing else.
void fill_behind(const Rows& rows, Index count, Index bytes, bool with_elements) {
  for (Index slot = 0; slot < fold_slots; ++slot) {
    const Index in_slot = std::max<Index>(0, (count - slot + fold_slots - 1) / fold_slots);
    if (with_elements) std::memset(rows.row(slot), 0, static_cast<std::size_t>(in_slot * rows.pitch));
    for (Index k = in_slot; k < rows.of_slot; ++k) std::memset(rows.row(slot + k * fold_slots) + bytes, 0, static_cast<std::size_t>(rows.pitch - bytes));
  }
}

template <class T> void pack(char* to, Index pitch, const char* from, Index count, Index stride, Index row, Index row_stride) {
  constexpr Index size = sizeof(T);
  const Index in_panel = pitch / size;
  Rows rows{to, pitch, (count + fold_slots - 1) / fold_slots};
  if (row_stride == size) {
    const Index panels = row / in_panel, filled = panels * pitch;
    pack_panels(rows, from, count, stride, filled);
    rows.to += panels * rows.panel();
    pack_rest<T>(rows, from + filled, count, stride, row * size - filled);
    if (filled < row * size) fill_behind(rows, count, row * size - filled, false);
    return;
  }
  for (Index first = 0; first < row; first += in_panel, rows.to += rows.panel()) {
    const Index elements = std::min(in_panel, row - first);
    if (elements < in_panel) fill_behind(rows, count, elements * size, true);        // elements go there next
    pack_strided<T>(rows, from + first * row_stride, count, stride, elements, row_stride);
  }
}

}  // namespace

std::string pack_symbol(std::size_t element_bytes) { return "weft_pack_" + std::to_string(element_bytes); }

std::vector<PackFunction> pack_functions() {
  return {{pack_symbol(1), &pack<std::uint8_t>}, {pack_symbol(2), &pack<std::uint16_t>}, {pack_symbol(4), &pack<std::uint32_t>}, {pack_symbol(8), &pack<std::uint64_t>}};
}

}  // namespace weft
