// lgamma, digamma, trigamma and logaddexp of plain floating numbers, in a type wider than the one they are wanted in: what
// ops.def means by them on numbers, where the C++ library has no function, or one that is off by several units in the last
// place. Pure functions; tested in tests/graph/op_test.cpp. Source: recurrence and asymptotic series, Abramowitz and Stegun 6.3, 6.4.
#pragma once
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

namespace weft::number {

template <class T> using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// std::lgamma writes a global sign: these do not.
inline double log_gamma(double x) { int sign; return ::lgamma_r(x, &sign); }
inline long double log_gamma(long double x) { int sign; return ::lgammal_r(x, &sign); }

// inf at +-0 with the sign that the limit has there; NaN at the negative integers and -inf.
template <class R> R digamma_of(R x) {
  if (x == 0) return std::copysign(std::numeric_limits<R>::infinity(), -x);
  if (x < 0) {
    const R r = x - std::nearbyint(x);
    if (r == 0 || r != r) return std::numeric_limits<R>::quiet_NaN();
    return digamma_of(1 - x) - std::numbers::pi_v<R> / std::tan(std::numbers::pi_v<R> * r);
  }
  const R distance = (x - static_cast<R>(0x1.762d86356be3fp0)) - static_cast<R>(0x1.b86a722197829p-54);   // from the zero
  if (std::abs(distance) < R(0.125)) {   // the sum below cancels there
    constexpr long double taylor[] = {
        0.9676722454476211704274L,   -0.4427631689835921060929L,   0.2584997609556510106244L,   -0.1639427054424065275043L,
        0.1078240506912623657572L,   -0.07219956125645471092612L,  0.04880428816414310722509L,  -0.03316112647484735929226L,
        0.02259764823221810465962L,  -0.0154247659049489591388L,   0.01053879161661217538812L,  -0.00720453438635686824097L,
        0.004926781395729853446354L, -0.003369801655439328082793L, 0.002305126326734927836938L, -0.001576936771430197259271L,
        0.001078825201916296580692L, -0.000738070938996005129566L};
    R y = 0;
    for (int k = 17; k >= 0; --k) y = (y + static_cast<R>(taylor[k])) * distance;
    return y;
  }
  R sum = 0;
  for (; x < 30; x += 1) sum -= 1 / x;
  const R z = 1 / (x * x);
  const R series = z * (R(1) / 12 - z * (R(1) / 120 - z * (R(1) / 252 - z * (R(1) / 240 - z * (R(1) / 132 - z * (R(691) / 32760))))));
  return sum + (std::log(x) - 1 / (2 * x) - series);
}

// The derivative of digamma: the sum of 1 / (x + k)^2. inf at 0, -1, -2, ..; 0 at inf; NaN at -inf.
template <class R> R trigamma_of(R x) {
  if (x != x || x == -std::numeric_limits<R>::infinity()) return std::numeric_limits<R>::quiet_NaN();
  if (x <= 0) {
    const R r = x - std::nearbyint(x), ratio = std::numbers::pi_v<R> / std::sin(std::numbers::pi_v<R> * r);
    return r == 0 ? std::numeric_limits<R>::infinity() : ratio * ratio - trigamma_of(1 - x);
  }
  R sum = 0;
  for (; x < 30; x += 1) sum += 1 / x / x;
  const R i = 1 / x, z = i * i;
  const R series = z * (R(1) / 6 - z * (R(1) / 30 - z * (R(1) / 42 - z * (R(1) / 30 - z * (R(5) / 66 - z * (R(691) / 2730))))));
  return sum + (i + (z / 2 + i * series));
}

// log(exp(a) + exp(b)) without overflow.
template <class R> R log_add_exp(R a, R b) {
  if (a == b) return a + std::numbers::ln2_v<R>;
  return a != a || b != b ? a + b : std::fmax(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

}  // namespace weft::number
