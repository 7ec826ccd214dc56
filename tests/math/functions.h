#pragma once
// The vector functions as host functions, with a reference and the error they promise: shared by vecmath_test and ulp_table.
#include "host_lane.h"
#include "vecmath.h"

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

struct UnaryCase {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  double (*exact32)(double);
  long double (*exact64)(long double);
  double limit32, limit64;  // ULP
};

#define WEFT_UNARY_CASE(name, reference, limit32, limit64)                                                       \
  UnaryCase {                                                                                                    \
    #name, [](float x) { return vecmath::name(HostLane<float>{x}).v; },                                          \
        [](double x) { return vecmath::name(HostLane<double>{x}).v; }, [](double x) { return double{reference(x)}; }, \
        [](long double x) { return static_cast<long double>(reference(x)); }, limit32, limit64                   \
  }

inline const UnaryCase unary_cases[] = {
    WEFT_UNARY_CASE(exp, std::exp, 1.0, 1.0),
    WEFT_UNARY_CASE(expm1, std::expm1, 1.0, 1.2),
    WEFT_UNARY_CASE(log, std::log, 1.1, 1.0),
    WEFT_UNARY_CASE(log1p, std::log1p, 1.1, 1.0),
    WEFT_UNARY_CASE(tanh, std::tanh, 1.0, 1.5),
    WEFT_UNARY_CASE(sigmoid, reference_sigmoid, 1.5, 1.5),
    WEFT_UNARY_CASE(softplus, reference_softplus, 1.8, 1.8),
    WEFT_UNARY_CASE(sin, std::sin, 1.1, 1.0),
    WEFT_UNARY_CASE(cos, std::cos, 1.1, 1.0),
    WEFT_UNARY_CASE(tan, std::tan, 1.5, 1.5),
    WEFT_UNARY_CASE(erf, std::erf, 1.2, 1.3),
};

#undef WEFT_UNARY_CASE

}  // namespace weft::math_test
