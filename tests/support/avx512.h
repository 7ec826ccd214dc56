// What the instructions of AVX-512 that weft uses do, lane by lane, from their description in the processor's manual: for machines that lack them.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace avx512 {

template <class T> using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T> inline constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
template <class T> inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T> inline constexpr Bits<T> quiet_bit = Bits<T>(1) << (fraction_bits<T> - 1);

template <class T> T quiet(T x) { return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(x) | quiet_bit<T>)); }
template <class T> bool is_signaling(T x) { return std::isnan(x) && (std::bit_cast<Bits<T>>(x) & quiet_bit<T>) == 0; }
template <class T> T indefinite() { return std::copysign(std::numeric_limits<T>::quiet_NaN(), T(-1)); }

// The exponent of |x|.
template <class T> T getexp(T x) {
  if (std::isnan(x)) return quiet(x);
  if (x == 0) return -infinity<T>;
  return std::isinf(x) ? infinity<T> : static_cast<T>(std::ilogb(x));
}

// The fraction of x, in [1, 2), [1/2, 2), [1/2, 1) or [3/4, 3/2) by bits 0 and 1; bit 2: of |x|, bit 3: NaN below zero.
template <class T> T getmant(T x, int control) {
  if (std::isnan(x)) return quiet(x);
  const T sign = (control & 4) == 0 && std::signbit(x) ? T(-1) : T(1);
  if (x == 0) return sign;
  if (x < 0 && (control & 8) != 0) return indefinite<T>();
  if (std::isinf(x)) return sign;
  const int exponent = std::ilogb(x);
  const T fraction = std::fabs(std::scalbn(x, -exponent));
  const int shifts[] = {0, exponent % 2 != 0 ? -1 : 0, -1, fraction >= T(1.5) ? -1 : 0};
  return sign * std::scalbn(fraction, shifts[control & 3]);
}

// x * 2^floor(power)
template <class T> T scalef(T x, T power) {
  if (std::isnan(x)) return quiet(x);
  if (std::isnan(power)) return quiet(power);
  if (std::isinf(power)) {
    if (power > 0 ? x == 0 : std::isinf(x)) return indefinite<T>();
    return std::copysign(power > 0 ? infinity<T> : T(0), x);
  }
  return std::scalbn(x, static_cast<int>(std::fmin(std::fmax(std::floor(power), T(-20000)), T(20000))));
}

// `otherwise`, or what the table has four bits for, by the kind of number that x is.
template <class T> T fixupimm(T otherwise, T x, Bits<T> table) {
  const int kind = std::isnan(x) ? (is_signaling(x) ? 1 : 0) : x == 0 ? 2 : x == 1 ? 3 : std::isinf(x) ? (x < 0 ? 4 : 5) : x < 0 ? 6 : 7;
  const T most = std::numeric_limits<T>::max();
  const T choices[] = {otherwise, x, quiet(x), indefinite<T>(), -infinity<T>, infinity<T>, std::copysign(infinity<T>, x), T(-0.0),
                       T(0), T(-1), T(1), T(0.5), T(90), T(1.57079632679489661923), most, -most};
  return choices[table >> (4 * kind) & 15];
}

// The smaller or larger of a and b, or in magnitude, by bits 0 and 1; its sign that of a, its own, none or minus by bits 2 and 3.
template <class T> T range(T a, T b, int control) {
  if (is_signaling(a)) return quiet(a);
  if (is_signaling(b)) return quiet(b);
  if (std::isnan(a) && std::isnan(b)) return a;
  const auto chosen = [&] {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    const T x = (control & 2) != 0 ? std::fabs(a) : a, y = (control & 2) != 0 ? std::fabs(b) : b;
    const bool a_is_less = x < y || (x == y && std::signbit(a));
    return a_is_less == ((control & 1) == 0) ? a : b;
  };
  const T result = chosen();
  switch (control >> 2 & 3) {
    case 0: return std::isnan(a) ? result : std::copysign(result, a);
    case 1: return result;
    case 2: return std::fabs(result);
    default: return -std::fabs(result);
  }
}

// To fourteen bits and some: processors differ in those that follow.
template <class T> T estimate(T x) {
  constexpr int dropped = fraction_bits<T> - 15;
  if (!std::isfinite(x)) return x;
  const Bits<T> unit = Bits<T>(1) << dropped;
  return std::bit_cast<T>(static_cast<Bits<T>>((std::bit_cast<Bits<T>>(x) + unit / 2) & ~(unit - 1)));
}
template <class T> T rcp14(T x) { return std::isnan(x) ? quiet(x) : estimate(T(1) / x); }
template <class T> T rsqrt14(T x) {
  if (std::isnan(x)) return quiet(x);
  return x < 0 ? indefinite<T>() : x == 0 ? std::copysign(infinity<T>, x) : estimate(T(1) / std::sqrt(x));
}

}  // namespace avx512
