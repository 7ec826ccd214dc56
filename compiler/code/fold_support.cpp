#include "fold_support.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace weft {
namespace {

constexpr bool is_max(AccumulatorId acc) { return acc == AccumulatorId::max || acc == AccumulatorId::supremum; }

// Several slots each: what is called for every row of column sums.
template <AccumulatorId acc, class T> constexpr bool is_ordered = std::is_floating_point_v<T> && (acc == AccumulatorId::sum || acc == AccumulatorId::prod);

template <AccumulatorId acc, class T> [[gnu::always_inline]] inline T combine_values(T a, T b) {
  if constexpr (acc == AccumulatorId::any || acc == AccumulatorId::bitwise_or) return static_cast<T>(a | b);
  else if constexpr (acc == AccumulatorId::all || acc == AccumulatorId::bitwise_and) return static_cast<T>(a & b);
  else if constexpr (acc == AccumulatorId::bitwise_xor) return static_cast<T>(a ^ b);
  else if constexpr (std::is_floating_point_v<T>) {
    if constexpr (acc == AccumulatorId::sum) return a + b;
    else if constexpr (acc == AccumulatorId::prod) return a * b;
    else {
      if (a != a || b != b) return a + b;
      if (a == b) return std::signbit(a) == is_max(acc) ? b : a;
      return is_max(acc) == (a > b) ? a : b;
    }
  } else {
    using U = std::make_unsigned_t<T>;
    using W = std::conditional_t<sizeof(T) < sizeof(unsigned), unsigned, U>;
    if constexpr (acc == AccumulatorId::sum) return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    else if constexpr (acc == AccumulatorId::prod) return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    else if constexpr (is_max(acc)) return std::max(a, b);
    else return std::min(a, b);
  }
}

// to = left (+) right, element by element.
template <AccumulatorId acc, class T> [[gnu::always_inline]] inline void combine_rows(T* to, const T* left, const T* right, Index count) {
  for (Index k = 0; k < count; ++k) to[k] = combine_values<acc, T>(left[k], right[k]);
}

template <class T> [[gnu::always_inline]] inline void fill_rows(T* rows, Index count, Index pitch, Index slots, const T* value) {
  const T start = *value;
  if (pitch == count) count *= slots, slots = 1;
  for (Index slot = 0; slot < slots; ++slot)
    for (Index k = 0; k < count; ++k) rows[slot * pitch + k] = start;
}

template <class T> void fill(T* rows, Index count, Index pitch, Index slots, const T* value) { fill_rows(rows, count, pitch, slots, value); }

#if defined(__x86_64__)
template <class T> [[gnu::target("avx2")]] void fill_avx2(T* rows, Index count, Index pitch, Index slots, const T* value) { fill_rows(rows, count, pitch, slots, value); }
#endif

template <class T> auto* fill_on_host() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &fill_avx2<T>;
#endif
  return &fill<T>;
}

// Element `at` of row `slot` with those `half`, 2 * half, .. rows after it: s with s+8, then s+4, s+2, s+1.
template <AccumulatorId acc, Index half, class T> [[gnu::always_inline]] inline T across_slots(const T* at, Index pitch, Index slot) {
  if constexpr (half == fold_slots) return at[slot * pitch];
  else return combine_values<acc>(across_slots<acc, 2 * half>(at, pitch, slot), across_slots<acc, 2 * half>(at, pitch, slot + half));
}

template <AccumulatorId acc, class T> [[gnu::always_inline]] inline void reduce_rows(T* rows, Index count, Index pitch, Index slots) {
  if constexpr (is_ordered<acc, T>)
    if (slots == fold_slots) {                                 // in one pass; rows are whole vectors (row_elements)
      constexpr Index vector = 16;
      for (Index first = 0; first < count; first += vector) {
        std::array<T, vector> sums;
        for (Index k = 0; k < vector; ++k) sums[static_cast<std::size_t>(k)] = across_slots<acc, 1>(rows + first + k, pitch, 0);
        std::copy(sums.begin(), sums.end(), rows + first);
      }
      return;
    }
  for (Index half = slots / 2; half >= 1; half /= 2)
    for (Index slot = 0; slot < half; ++slot) combine_rows<acc>(rows + slot * pitch, rows + slot * pitch, rows + (slot + half) * pitch, count);
}

template <AccumulatorId acc, class T> void reduce(T* rows, Index count, Index pitch, Index slots) { reduce_rows<acc>(rows, count, pitch, slots); }

#if defined(__x86_64__)
template <AccumulatorId acc, class T> [[gnu::target("avx2")]] void reduce_avx2(T* rows, Index count, Index pitch, Index slots) { reduce_rows<acc>(rows, count, pitch, slots); }
#endif

template <AccumulatorId acc, class T> auto* reduce_on_host() {
#if defined(__x86_64__)
  if constexpr (is_ordered<acc, T>)
    if (__builtin_cpu_supports("avx2")) return &reduce_avx2<acc, T>;
#endif
  return &reduce<acc, T>;
}

template <AccumulatorId acc, class T> void push(T* stack, T* row, Index count, Index leaf) {
  Index level = 0;
  for (; (leaf >> level) & 1; ++level) combine_rows<acc>(row, stack + level * count, row, count);
  std::copy(row, row + count, stack + level * count);
}

template <AccumulatorId acc, class T> void finish(T* stack, T* row, Index count, Index leaves) {
  bool first = true;
  for (Index level = 0; (leaves >> level) != 0; ++level) {
    if (!((leaves >> level) & 1)) continue;
    T* subtree = stack + level * count;
    if (first) std::copy(subtree, subtree + count, row);
    else combine_rows<acc>(row, subtree, row, count);
    first = false;
  }
}

// In any order, with the others kept: a search asks them which units have what came out.
template <AccumulatorId acc, class T> void merge_into_first(T* rows, Index count, Index pitch, Index units) {
  constexpr Index vector = 16;
  for (Index first = 0; first < count; first += vector) {
    const Index some = std::min(vector, count - first);
    std::array<T, vector> all;
    std::copy(rows + first, rows + first + some, all.begin());
    for (Index unit = 1; unit < units; ++unit) combine_rows<acc>(all.data(), all.data(), rows + unit * pitch + first, some);
    std::copy(all.begin(), all.begin() + some, rows + first);
  }
}

template <AccumulatorId acc, class T> void merge(void* memory, Index count, Index pitch, Index units) {
  T* rows = static_cast<T*>(memory);
  if constexpr (!is_ordered<acc, T>) return merge_into_first<acc>(rows, count, pitch, units);
  for (Index step = 1; step < units; step *= 2)
    for (Index unit = 0; unit + step < units; unit += 2 * step)
      combine_rows<acc>(rows + unit * pitch, rows + unit * pitch, rows + (unit + step) * pitch, count);
}

struct Functions {
  std::vector<FoldFunction> called;
  std::map<std::pair<AccumulatorId, DType>, MergeFn> merges;
};

template <AccumulatorId acc, class T> void list(DType dtype, Functions& out) {
  out.called.push_back({fold_symbol(FoldSupport::reduce, acc, dtype), reinterpret_cast<void*>(reduce_on_host<acc, T>())});
  out.called.push_back({fold_symbol(FoldSupport::push, acc, dtype), reinterpret_cast<void*>(&push<acc, T>)});
  out.called.push_back({fold_symbol(FoldSupport::finish, acc, dtype), reinterpret_cast<void*>(&finish<acc, T>)});
  out.merges[{acc, dtype}] = &merge<acc, T>;
}

template <class T> void list_extremes(DType dtype, Functions& out) {
  list<AccumulatorId::max, T>(dtype, out);
  list<AccumulatorId::min, T>(dtype, out);
  list<AccumulatorId::supremum, T>(dtype, out);
  list<AccumulatorId::infimum, T>(dtype, out);
}
template <class T> void list_bitwise(DType dtype, Functions& out) {
  list<AccumulatorId::bitwise_or, T>(dtype, out);
  list<AccumulatorId::bitwise_and, T>(dtype, out);
  list<AccumulatorId::bitwise_xor, T>(dtype, out);
}
template <class T> void list_arithmetic(DType dtype, Functions& out) {
  list<AccumulatorId::sum, T>(dtype, out);
  list<AccumulatorId::prod, T>(dtype, out);
  list_extremes<T>(dtype, out);
  if constexpr (std::is_integral_v<T>) list_bitwise<T>(dtype, out);
  out.called.push_back({fold_symbol(FoldSupport::fill, AccumulatorId::none, dtype), reinterpret_cast<void*>(fill_on_host<T>())});
}

Functions list_all() {
  Functions out;
  list_arithmetic<float>(f32, out);
  list_arithmetic<double>(f64, out);
  list_arithmetic<std::int8_t>(i8, out);
  list_arithmetic<std::int16_t>(i16, out);
  list_arithmetic<std::int32_t>(i32, out);
  list_arithmetic<std::int64_t>(i64, out);
  list_arithmetic<std::uint8_t>(u8, out);
  list_arithmetic<std::uint16_t>(u16, out);
  list_arithmetic<std::uint32_t>(u32, out);
  list_arithmetic<std::uint64_t>(u64, out);
  list<AccumulatorId::any, std::uint8_t>(bool_, out);
  list<AccumulatorId::all, std::uint8_t>(bool_, out);
  list_extremes<std::uint8_t>(bool_, out);
  list_bitwise<std::uint8_t>(bool_, out);
  out.called.push_back({fold_symbol(FoldSupport::fill, AccumulatorId::none, bool_), reinterpret_cast<void*>(fill_on_host<std::uint8_t>())});
  for (DType dtype : {f16, bf16})                              // states of recurrences; the accumulators above fold in f32
    out.called.push_back({fold_symbol(FoldSupport::fill, AccumulatorId::none, dtype), reinterpret_cast<void*>(fill_on_host<std::uint16_t>())});
  return out;
}

const Functions& all_functions() {
  static const Functions all = list_all();
  return all;
}

}  // namespace

std::string fold_symbol(FoldSupport what, AccumulatorId accumulator, DType dtype) {
  constexpr const char* names[] = {"fill", "reduce", "push", "finish"};
  std::string symbol = std::string("weft_") + names[static_cast<int>(what)];
  if (what != FoldSupport::fill) symbol += "_" + std::string(name_of(accumulator));
  return symbol + "_" + to_text(dtype);
}

const std::vector<FoldFunction>& fold_functions() { return all_functions().called; }

MergeFn merge_function(AccumulatorId accumulator, DType dtype) { return all_functions().merges.at({accumulator, dtype}); }

}  // namespace weft
