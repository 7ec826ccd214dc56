#pragma once
// The vector functions as host functions, with a reference and the error they promise: shared by vecmath_test and ulp_table.
#include "host_lane.h"
#include "vecmath.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weft::math_test {

// The distance of y from the exact value, in units of the last place of the exact value in T. Infinite when the kinds differ.
template <class T, class Exact>
double ulp_error(T y, Exact exact) {
  if (std::isnan(exact)) return std::isnan(y) ? 0 : INFINITY;
  if (std::isnan(y)) return INFINITY;
  using Limits = std::numeric_limits<T>;
  const T nearest = static_cast<T>(exact);
  if (std::isinf(nearest) || exact == 0) {
    if (y == nearest) return exact == 0 && std::signbit(y) != std::signbit(exact) ? INFINITY : 0;
    if (exact == 0 || std::isinf(exact)) return INFINITY;
  }
  int exponent = std::max(std::ilogb(exact), Limits::min_exponent - 1);
  exponent = std::min(exponent, Limits::max_exponent - 1);
  // Infinity stands for the first value past the largest.
  const Exact got = std::isinf(y) ? std::copysign(std::ldexp(Exact{1}, Limits::max_exponent), Exact{y}) : Exact{y};
  return static_cast<double>(std::ldexp(std::fabs(got - exact), Limits::digits - 1 - exponent));
}

template <class R>
R reference_sigmoid(R x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
template <class R>
R reference_softplus(R x) {
  return std::isnan(x) ? x : std::fmax(x, R{0}) + std::log1p(std::exp(-std::fabs(x)));
}

// The recurrence up to 30, then the asymptotic series; near the zero its Taylor series. For x > 0.
template <class R>
R reference_digamma(R x) {
  if (!(x > 0)) return x == 0 ? std::copysign(R{INFINITY}, -x) : R{NAN};
  const R d = x - static_cast<R>(1.46163214496836234126266L);
  if (std::fabs(d) < R{1e-3}) {
    const long double c[] = {0.9676722454476211704274L, -0.4427631689835921060929L, 0.2584997609556510106244L, -0.1639427054424065275043L, 0.1078240506912623657572L, -0.07219956125645471092612L, 0.04880428816414310722509L};
    R y = 0;
    for (int k = 6; k >= 0; --k) y = (y + static_cast<R>(c[k])) * d;
    return y;
  }
  R sum = 0;
  for (; x < 30; x += 1) sum -= 1 / x;
  const R z = 1 / (x * x);
  const R series = z * (R{1} / 12 - z * (R{1} / 120 - z * (R{1} / 252 - z * (R{1} / 240 - z * (R{1} / 132 - z * (R{691} / 32760))))));
  return sum + (std::log(x) - 1 / (2 * x) - series);
}

// The derivative of digamma: the recurrence up to 30, then the asymptotic series; left of zero by reflection.
template <class R>
R reference_trigamma(R x) {
  constexpr auto pi = static_cast<R>(3.14159265358979323846264L);
  if (std::isnan(x) || x == -R{INFINITY}) return R{NAN};
  if (x <= 0) {
    const R r = x - std::nearbyint(x), ratio = pi / std::sin(pi * r);
    return r == 0 ? R{INFINITY} : ratio * ratio - reference_trigamma(1 - x);
  }
  R sum = 0;
  for (; x < 30; x += 1) sum += 1 / x / x;
  const R i = 1 / x, z = i * i;
  const R series = z * (R{1} / 6 - z * (R{1} / 30 - z * (R{1} / 42 - z * (R{1} / 30 - z * (R{5} / 66 - z * (R{691} / 2730))))));
  return sum + (i + (z / 2 + i * series));
}

inline long double reference_xlogy(long double x, long double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }
inline long double reference_logaddexp(long double x, long double y) {
  if (x == y) return x + std::log(2.0L);
  return std::isnan(x) || std::isnan(y) ? x + y : std::fmax(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
}

struct UnaryCase {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  double (*exact32)(double);
  long double (*exact64)(long double);
  double limit32, limit64;     // ULP
  double from = -INFINITY;     // the limits hold for x >= from
};

#define WEFT_UNARY_CASE(name, reference, limit32, limit64, ...)                                                       \
  UnaryCase {                                                                                                    \
    #name, [](float x) { return vecmath::name(HostLane<float>{x}).v; },                                          \
        [](double x) { return vecmath::name(HostLane<double>{x}).v; }, [](double x) { return double{reference(x)}; }, \
        [](long double x) { return static_cast<long double>(reference(x)); }, limit32, limit64 __VA_OPT__(, ) __VA_ARGS__ \
  }

inline const UnaryCase unary_cases[] = {
    WEFT_UNARY_CASE(exp, std::exp, 0.9, 0.9),
    WEFT_UNARY_CASE(expm1, std::expm1, 1.0, 1.3),
    WEFT_UNARY_CASE(log, std::log, 0.9, 0.9),
    WEFT_UNARY_CASE(log1p, std::log1p, 0.9, 0.9),
    WEFT_UNARY_CASE(tanh, std::tanh, 1.0, 1.1),
    WEFT_UNARY_CASE(sigmoid, reference_sigmoid, 0.9, 0.9),
    WEFT_UNARY_CASE(softplus, reference_softplus, 1.1, 1.0),
    WEFT_UNARY_CASE(sin, std::sin, 0.9, 0.9),
    WEFT_UNARY_CASE(cos, std::cos, 0.9, 0.9),
    WEFT_UNARY_CASE(tan, std::tan, 1.1, 1.1),
    WEFT_UNARY_CASE(exp2, std::exp2, 0.9, 1.0),
    WEFT_UNARY_CASE(log2, std::log2, 1.2, 1.2),
    WEFT_UNARY_CASE(log10, std::log10, 1.1, 0.9),
    WEFT_UNARY_CASE(asin, std::asin, 0.8, 0.8),
    WEFT_UNARY_CASE(acos, std::acos, 0.8, 0.8),
    WEFT_UNARY_CASE(atan, std::atan, 1.1, 1.0),
    WEFT_UNARY_CASE(sinh, std::sinh, 1.0, 0.9),
    WEFT_UNARY_CASE(cosh, std::cosh, 0.9, 0.9),
    WEFT_UNARY_CASE(asinh, std::asinh, 1.0, 1.0),
    WEFT_UNARY_CASE(acosh, std::acosh, 1.0, 1.0),
    WEFT_UNARY_CASE(atanh, std::atanh, 1.1, 1.0),
    WEFT_UNARY_CASE(cbrt, std::cbrt, 0.6, 0.6),
    WEFT_UNARY_CASE(erfc, std::erfc, 1.3, 1.3),
    WEFT_UNARY_CASE(lgamma, std::lgamma, 2.0, 2.0, 0.0),
    WEFT_UNARY_CASE(digamma, reference_digamma, 4.0, 4.5, 0.0),
    WEFT_UNARY_CASE(trigamma, reference_trigamma, 1.2, 1.1),
    WEFT_UNARY_CASE(erf, std::erf, 1.0, 1.0),
};

#undef WEFT_UNARY_CASE

struct BinaryCase {
  const char* name;
  float (*f32)(float, float);
  double (*f64)(double, double);
  long double (*exact)(long double, long double);
  double limit32, limit64;
};

#define WEFT_BINARY_CASE(name, reference, limit32, limit64)                                                          \
  BinaryCase {                                                                                                       \
    #name, [](float x, float y) { return vecmath::name(HostLane<float>{x}, HostLane<float>{y}).v; },                 \
        [](double x, double y) { return vecmath::name(HostLane<double>{x}, HostLane<double>{y}).v; },                \
        [](long double x, long double y) { return reference(x, y); }, limit32, limit64                               \
  }

inline const BinaryCase binary_cases[] = {
    WEFT_BINARY_CASE(pow, std::pow, 1.0, 1.8),
    WEFT_BINARY_CASE(atan2, std::atan2, 1.0, 1.5),
    WEFT_BINARY_CASE(hypot, std::hypot, 1.0, 1.0),
    WEFT_BINARY_CASE(xlogy, reference_xlogy, 1.5, 1.5),
};

#undef WEFT_BINARY_CASE

// The k-th pair of arguments for a binary function: any bits, like sizes, and for pow a result in range or just beyond.
template <class T, class Random>
std::array<T, 2> sample_pair(int k, Random& random) {
  const auto uniform = [&](double a, double b) { return a + (b - a) * static_cast<double>(random() >> 11) * 0x1p-53; };
  const double range = std::numeric_limits<T>::max_exponent, sign = random() & 1 ? 1 : -1;
  const double x = std::exp2(k % 2 ? uniform(-range, range) : uniform(-0.3, 0.3));
  if (k % 4 < 2) return {static_cast<T>(x), static_cast<T>(uniform(-1.2, 1.1) * range / std::log2(x))};
  return {static_cast<T>(sign * x), static_cast<T>((random() & 1 ? 1 : -1) * x * std::exp2(uniform(-30, 30)))};
}

}  // namespace weft::math_test
