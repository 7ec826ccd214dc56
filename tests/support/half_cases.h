// What rounds to which f16 or bf16, by definition: each number, the middle between two neighbours, and what lies next to
// the middle on either side. Numbers are decoded here from their bits, not by the library under test.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <weft/dtype.h>

// A finite f16 or bf16 from its bits; one step beyond the largest gives the power of two that would follow.
inline double decode_half(weft::DType dtype, std::uint16_t bits) {
  const int fraction = dtype == weft::f16 ? 10 : 7, bias = dtype == weft::f16 ? 15 : 127;
  const int exponent = (bits & 0x7fff) >> fraction, rest = bits & ((1 << fraction) - 1);
  const double size = exponent == 0 ? std::ldexp(rest, 1 - bias - fraction) : std::ldexp(rest + (1 << fraction), exponent - bias - fraction);
  return bits & 0x8000 ? -size : size;
}
inline std::uint16_t largest_half_bits(weft::DType dtype) { return dtype == weft::f16 ? 0x7bff : 0x7f7f; }

template <class T> struct HalfCase {
  T value;
  std::uint16_t bits;                   // of the half that it rounds to
};

// f32 or f64: all halves, all middles, and the neighbours of the middles.
template <class T> std::vector<HalfCase<T>> real_half_cases(weft::DType dtype) {
  std::vector<HalfCase<T>> cases;
  const auto add = [&](T value, unsigned bits) {
    cases.push_back({value, static_cast<std::uint16_t>(bits)});
    cases.push_back({-value, static_cast<std::uint16_t>(bits | 0x8000)});
  };
  const T infinity = std::numeric_limits<T>::infinity();
  for (unsigned bits = 0; bits <= largest_half_bits(dtype); ++bits) {
    const double low = decode_half(dtype, static_cast<std::uint16_t>(bits)), high = decode_half(dtype, static_cast<std::uint16_t>(bits + 1));
    const T middle = static_cast<T>(low + (high - low) / 2);              // exact: 12 bits
    add(static_cast<T>(low), bits);
    add(middle, bits + bits % 2);
    add(std::nextafter(middle, T(0)), bits);
    add(std::nextafter(middle, infinity), bits + 1);
    if constexpr (std::is_same_v<T, double>) {                            // gone in f32
      add(middle * (1 - 0x1p-30), bits);
      add(middle * (1 + 0x1p-30), bits + 1);
    }
  }
  add(infinity, largest_half_bits(dtype) + 1u);
  add(std::numeric_limits<T>::max(), largest_half_bits(dtype) + 1u);
  add(std::numeric_limits<T>::denorm_min(), 0);
  return cases;
}

// Integers: middles that are whole numbers, and the integers next to them.
template <class T> std::vector<HalfCase<T>> integer_half_cases(weft::DType dtype) {
  std::vector<HalfCase<T>> cases;
  const auto add = [&](T value, unsigned bits) {
    cases.push_back({value, static_cast<std::uint16_t>(bits)});
    if constexpr (std::is_signed_v<T>) cases.push_back({static_cast<T>(-value), static_cast<std::uint16_t>(bits | (value != 0 ? 0x8000 : 0))});
  };
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  for (unsigned bits = 0; bits <= largest_half_bits(dtype); ++bits) {
    const double low = decode_half(dtype, static_cast<std::uint16_t>(bits)), high = decode_half(dtype, static_cast<std::uint16_t>(bits + 1));
    const double middle = low + (high - low) / 2;
    if (middle >= end || middle != std::trunc(middle)) continue;
    const T whole = static_cast<T>(middle);
    if (low == std::trunc(low)) add(static_cast<T>(low), bits);
    add(whole, bits + bits % 2);
    if (middle - low >= 1) add(static_cast<T>(whole - 1), bits);
    if (high - middle >= 1 && whole < std::numeric_limits<T>::max()) add(static_cast<T>(whole + 1), bits + 1);
  }
  return cases;
}
