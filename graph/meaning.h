// The meaning column of ops.def on numbers: Number<T> gives the names used there their value in the C++ type T.
//
// T is float (also for f16 and bf16: one rounding, at the end of the op), double, an integer or bool. Laws that C++ does
// not give for free, each tested in tests/graph/op_test.cpp (source: the Array API's special cases):
//   integers wrap; x // 0 = 0, x % 0 = 0, lowest // -1 = lowest, lowest % -1 = 0; // and % follow the divisor's sign
//   a shift by the width or more, or by a negative amount, gives 0 (arithmetic right shift: the sign)
//   integer power by squaring; a negative exponent gives 0, or +-1 for base +-1; 0^0 = 1
//   truncated_divide and fmod are C division, guarded like // and %; for floats the quotient is that of the exact fmod
//   fmax and fmin ignore NaN; xlogy(0, b) = 0 unless b is NaN; logaddexp of equal infinities is that infinity
//   nextafter of f16 and bf16 steps in that dtype (Stored), everything else of theirs is computed in float
//   float a // b is the floor of the exact quotient, rounded (1 // 0.1 = 9, as in Python); finite // +-inf is a signed zero
//   max and min propagate NaN; max(-0, +0) = +0, min(-0, +0) = -0; sign(+-0) = +0, sign(NaN) = NaN; round half to even
//   float to integer saturates and NaN gives 0; f64 and integers round once to f16 and bf16
// libm is underneath, so results differ in the last bits from the polynomials of compiled code: that is what makes the
// interpreter an independent reference. Pure functions.
#pragma once
#include <cmath>
#include <limits>
#include <type_traits>

#include <weft/dtype.h>

#include "gamma.h"

namespace weft::number {

template <class T> inline constexpr bool is_half = std::is_same_v<T, Eigen::half> || std::is_same_v<T, Eigen::bfloat16>;
// What a dtype's numbers are computed in.
template <class T> using Compute = std::conditional_t<is_half<T>, float, T>;

// Integer arithmetic is done in unsigned words at least as wide as int, where it wraps and nothing is promoted back.
template <class T> struct WordOf { using type = T; };
template <class T> requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct WordOf<T> {
  using type = std::conditional_t<sizeof(T) < sizeof(unsigned), unsigned, std::make_unsigned_t<T>>;
};
template <class T> using Word = typename WordOf<T>::type;

template <class T> T floor_quotient(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (b == 0 || !std::isfinite(a) || !std::isfinite(b)) return std::isinf(a) && std::isinf(b) ? a - a : a / b;
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && std::signbit(rest) != std::signbit(b)) quotient -= 1;
    if (quotient == 0) return std::copysign(T(0), a / b);
    const T below = std::floor(quotient);
    return quotient - below > T(0.5) ? below + 1 : below;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(Word<T>(0) - static_cast<Word<T>>(a));
      return static_cast<T>(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
    } else {
      return static_cast<T>(a / b);
    }
  }
}

template <class T> T floor_rest(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    const T rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(T(0), b);
    return rest != rest || std::signbit(rest) == std::signbit(b) ? rest : rest + b;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      return static_cast<T>(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
    } else {
      return static_cast<T>(a % b);
    }
  }
}

template <class T> T truncated_quotient(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {   // of the exact quotient, so that it fits fmod
    if (b == 0 || !std::isfinite(a) || !std::isfinite(b)) return a / b;
    const T quotient = std::abs((a - std::fmod(a, b)) / b), below = std::floor(quotient);
    return std::copysign(quotient - below > T(0.5) ? below + 1 : below, a / b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return static_cast<T>(Word<T>(0) - static_cast<Word<T>>(a));
    return static_cast<T>(a / b);
  }
}

template <class T> T truncated_rest(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
}

template <class T> T integer_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>)
    if (exponent < 0) return static_cast<T>(base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0);
  Word<T> result = 1, square = static_cast<Word<T>>(base);
  for (; exponent != 0; exponent = static_cast<T>(exponent / 2), square *= square)
    if (exponent % 2 != 0) result *= square;
  return static_cast<T>(result);
}

template <class T> struct Number {
  T value;
  Number(T number) : value(number) {}

  using W = Word<T>;
  friend Number operator-(Number a) {
    if constexpr (std::is_floating_point_v<T>) return -a.value;
    else return static_cast<T>(W(0) - static_cast<W>(a.value));
  }
  friend Number operator+(Number a, Number b) { return static_cast<T>(static_cast<W>(a.value) + static_cast<W>(b.value)); }
  friend Number operator-(Number a, Number b) { return static_cast<T>(static_cast<W>(a.value) - static_cast<W>(b.value)); }
  friend Number operator*(Number a, Number b) { return static_cast<T>(static_cast<W>(a.value) * static_cast<W>(b.value)); }
  friend Number operator/(Number a, Number b) { return a.value / b.value; }
  friend Number fma(Number a, Number b, Number c) {
    if constexpr (std::is_floating_point_v<T>) return std::fma(a.value, b.value, c.value);
    else return a * b + c;
  }

  friend bool operator<(Number a, Number b) { return a.value < b.value; }
  friend bool operator<=(Number a, Number b) { return a.value <= b.value; }
  friend bool operator>(Number a, Number b) { return a.value > b.value; }
  friend bool operator>=(Number a, Number b) { return a.value >= b.value; }
  friend bool operator==(Number a, Number b) { return a.value == b.value; }
  friend bool operator!=(Number a, Number b) { return a.value != b.value; }

  friend Number operator!(Number a) { return !a.value; }
  friend Number operator~(Number a) {
    if constexpr (std::is_same_v<T, bool>) return !a.value;
    else return static_cast<T>(~a.value);
  }
  friend Number operator&(Number a, Number b) { return static_cast<T>(a.value & b.value); }
  friend Number operator|(Number a, Number b) { return static_cast<T>(a.value | b.value); }
  friend Number operator^(Number a, Number b) { return static_cast<T>(a.value ^ b.value); }
  friend Number shift_left(Number a, Number b) {
    if constexpr (std::is_same_v<T, bool>) return a.value && !b.value;
    else return in_width(b.value) ? static_cast<T>(static_cast<W>(a.value) << b.value) : T(0);
  }
  friend Number shift_right(Number a, Number b) {
    if constexpr (std::is_same_v<T, bool>) return a.value && !b.value;
    else return in_width(b.value) ? static_cast<T>(a.value >> b.value) : static_cast<T>(a.value < T(0) ? -1 : 0);
  }

  friend Number max(Number a, Number b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (a.value != a.value || b.value != b.value) return a.value + b.value;
      if (a.value == b.value) return std::signbit(a.value) ? b : a;
    }
    return a.value < b.value ? b : a;
  }
  friend Number min(Number a, Number b) {
    if constexpr (std::is_floating_point_v<T>) {
      if (a.value != a.value || b.value != b.value) return a.value + b.value;
      if (a.value == b.value) return std::signbit(a.value) ? a : b;
    }
    return b.value < a.value ? b : a;
  }
  friend Number fmax(Number a, Number b) { return is_nan(a) ? b : is_nan(b) ? a : max(a, b); }
  friend Number fmin(Number a, Number b) { return is_nan(a) ? b : is_nan(b) ? a : min(a, b); }
  friend Number abs(Number a) {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(a.value);
    else return a.value < T(0) ? -a : a;
  }
  friend Number sign(Number a) {
    if constexpr (std::is_floating_point_v<T>) if (a.value != a.value) return a;
    return static_cast<T>((a.value > T(0)) - (a.value < T(0)));
  }

  // Integers are their own floor, ceil, round and trunc.
  friend Number floor(Number a) { return whole(a, [](auto x) { return std::floor(x); }); }
  friend Number ceil(Number a) { return whole(a, [](auto x) { return std::ceil(x); }); }
  friend Number round_even(Number a) { return whole(a, [](auto x) { return std::nearbyint(x); }); }
  friend Number trunc(Number a) { return whole(a, [](auto x) { return std::trunc(x); }); }
  friend bool is_nan(Number a) { return a.value != a.value; }
  friend bool is_inf(Number a) {
    if constexpr (std::is_floating_point_v<T>) return std::isinf(a.value);
    else return false;
  }
  friend bool is_finite(Number a) { return !is_nan(a) && !is_inf(a); }
  friend bool signbit(Number a) {
    if constexpr (std::is_floating_point_v<T>) return std::signbit(a.value);
    else return a.value < T(0);
  }

  friend Number floor_divide(Number a, Number b) { return floor_quotient(a.value, b.value); }
  friend Number remainder(Number a, Number b) { return floor_rest(a.value, b.value); }
  friend Number truncated_divide(Number a, Number b) { return truncated_quotient(a.value, b.value); }
  friend Number fmod(Number a, Number b) { return truncated_rest(a.value, b.value); }
  friend Number power(Number a, Number b) {
    if constexpr (std::is_floating_point_v<T>)   // 2 and -1 are rounded once: simplify relies on it
      return b.value == 2 ? a.value * a.value : b.value == -1 ? 1 / a.value : std::pow(a.value, b.value);
    else return integer_power(a.value, b.value);
  }

  friend Number sqrt(Number a) { return std::sqrt(a.value); }
  friend Number exp(Number a) { return std::exp(a.value); }
  friend Number expm1(Number a) { return std::expm1(a.value); }
  friend Number log(Number a) { return std::log(a.value); }
  friend Number log1p(Number a) { return std::log1p(a.value); }
  friend Number sin(Number a) { return std::sin(a.value); }
  friend Number cos(Number a) { return std::cos(a.value); }
  friend Number tan(Number a) { return std::tan(a.value); }
  friend Number tanh(Number a) { return std::tanh(a.value); }
  friend Number erf(Number a) { return std::erf(a.value); }
  friend Number exp2(Number a) { return std::exp2(a.value); }
  friend Number log2(Number a) { return std::log2(a.value); }
  friend Number log10(Number a) { return std::log10(a.value); }
  friend Number asin(Number a) { return std::asin(a.value); }
  friend Number acos(Number a) { return std::acos(a.value); }
  friend Number atan(Number a) { return std::atan(a.value); }
  friend Number sinh(Number a) { return std::sinh(a.value); }
  friend Number cosh(Number a) { return std::cosh(a.value); }
  friend Number asinh(Number a) { return std::asinh(a.value); }
  friend Number acosh(Number a) { return std::acosh(a.value); }
  friend Number atanh(Number a) { return std::atanh(a.value); }
  friend Number cbrt(Number a) { return std::cbrt(a.value); }
  friend Number rsqrt(Number a) { return static_cast<T>(1 / std::sqrt(Wide<T>{a.value})); }
  friend Number erfc(Number a) { return static_cast<T>(std::erfc(Wide<T>{a.value})); }
  friend Number lgamma(Number a) { return static_cast<T>(log_gamma(Wide<T>{a.value})); }
  friend Number digamma(Number a) { return static_cast<T>(digamma_of(Wide<T>{a.value})); }
  friend Number trigamma(Number a) { return static_cast<T>(trigamma_of(Wide<T>{a.value})); }
  friend Number hypot(Number a, Number b) { return std::hypot(a.value, b.value); }
  friend Number atan2(Number a, Number b) { return std::atan2(a.value, b.value); }
  friend Number copysign(Number a, Number b) { return std::copysign(a.value, b.value); }
  friend Number nextafter(Number a, Number b) { return std::nextafter(a.value, b.value); }
  friend Number logaddexp(Number a, Number b) { return static_cast<T>(log_add_exp(Wide<T>{a.value}, Wide<T>{b.value})); }
  friend Number xlogy(Number a, Number b) { return a.value == 0 && b.value == b.value ? T(0) : a.value * std::log(b.value); }
  // Neither overflows: the exponential is of a number that is not positive.
  friend Number sigmoid(Number a) {
    if (a.value >= 0) return 1 / (1 + exp(-a));
    const Number e = exp(a);
    return e / (1 + e);
  }
  friend Number softplus(Number a) { return max(a, T(0)) + log1p(exp(-abs(a))); }

 private:
  static bool in_width(T amount) { return amount >= T(0) && static_cast<W>(amount) < sizeof(T) * 8; }
  template <class F> static Number whole(Number a, F f) {
    if constexpr (std::is_floating_point_v<T>) return f(a.value);
    else return a;
  }
};

// A number of f16 or bf16 that is not widened first: for the op that depends on the neighbours in the dtype.
template <class T> struct Stored {
  T value;
  friend Stored nextafter(Stored a, Stored b) {
    const float from = static_cast<float>(a.value), to = static_cast<float>(b.value);
    if (from != from || to != to) return {static_cast<T>(from + to)};
    if (from == to) return b;
    auto bits = Eigen::numext::bit_cast<std::uint16_t>(a.value);
    if (from == 0) bits = std::signbit(to) ? 0x8001 : 1;
    else bits = static_cast<std::uint16_t>((from < to) == (from > 0) ? bits + 1 : bits - 1);
    return {Eigen::numext::bit_cast<T>(bits)};
  }
};

template <class T> Number<T> select(Number<bool> condition, Number<T> yes, Number<T> no) { return condition.value ? yes : no; }

// The operand of a cast knows where it goes.
template <class From, class To> struct Source {
  From value;
  friend To convert(Source from) {
    if constexpr (std::is_same_v<From, To>) return from.value;
    else if constexpr (is_half<From>) return convert(Source<float, To>{static_cast<float>(from.value)});
    else if constexpr (is_half<To>) {   // through Scalar, which rounds once
      To result;
      Scalar::of(dtype_of<To>(), from.value).store(&result);
      return result;
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
      if (from.value != from.value) return To(0);
      if (from.value >= std::ldexp(From(1), std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
      if (from.value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
      return static_cast<To>(from.value);
    } else {
      return static_cast<To>(from.value);
    }
  }
};

}  // namespace weft::number
