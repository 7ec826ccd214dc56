#pragma once
// The vector functions as host functions, those of Options::fast_math too, with a reference and the error they promise: shared by
// vecmath_test and ulp_table.
#include "reference.h"

#include "vecmath/fast.h"
#include "vecmath/host_lane.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weft::math_test {

struct UnaryCase {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  double (*exact32)(double);
  long double (*exact64)(long double);
  double limit32, limit64;     // ULP
  double from = -INFINITY;     // the limits hold for x >= from
  bool fast = false;           // with Options::fast_math
};

#define WEFT_UNARY_OF(space, fast, name, reference, limit32, limit64, from)                                                      \
  UnaryCase {                                                                                                    \
    #name, [](float x) { return space::name(HostLane<float>{x}).v; },                                            \
        [](double x) { return space::name(HostLane<double>{x}).v; }, [](double x) { return double{reference(x)}; }, \
        [](long double x) { return static_cast<long double>(reference(x)); }, limit32, limit64, from, fast       \
  }
#define WEFT_UNARY_CASE(name, reference, limit32, limit64) WEFT_UNARY_OF(vecmath, false, name, reference, limit32, limit64, -INFINITY)
#define WEFT_POSITIVE_CASE(name, reference, limit32, limit64) WEFT_UNARY_OF(vecmath, false, name, reference, limit32, limit64, 0.0)
#define WEFT_FAST_UNARY(name, reference, limit32, limit64) WEFT_UNARY_OF(vecmath::fast, true, name, reference, limit32, limit64, -INFINITY)

inline const UnaryCase unary_cases[] = {
    WEFT_UNARY_CASE(exp, std::exp, 0.9, 0.9),
    WEFT_UNARY_CASE(expm1, std::expm1, 1.0, 1.3),
    WEFT_UNARY_CASE(log, std::log, 0.8, 0.9),
    WEFT_UNARY_CASE(log1p, std::log1p, 0.8, 0.9),
    WEFT_UNARY_CASE(tanh, std::tanh, 1.0, 1.1),
    WEFT_UNARY_CASE(sigmoid, reference_sigmoid, 1.0, 1.0),
    WEFT_UNARY_CASE(softplus, reference_softplus, 1.0, 1.1),
    WEFT_UNARY_CASE(sin, std::sin, 0.9, 1.1),
    WEFT_UNARY_CASE(cos, std::cos, 0.9, 1.2),
    WEFT_UNARY_CASE(tan, std::tan, 1.0, 1.2),
    WEFT_UNARY_CASE(exp2, std::exp2, 0.9, 1.1),
    WEFT_UNARY_CASE(log2, std::log2, 0.9, 0.9),
    WEFT_UNARY_CASE(log10, std::log10, 1.0, 1.0),
    WEFT_UNARY_CASE(asin, std::asin, 0.8, 0.8),
    WEFT_UNARY_CASE(acos, std::acos, 0.8, 0.8),
    WEFT_UNARY_CASE(atan, std::atan, 0.9, 1.1),
    WEFT_UNARY_CASE(sinh, std::sinh, 1.0, 0.9),
    WEFT_UNARY_CASE(cosh, std::cosh, 0.9, 0.9),
    WEFT_UNARY_CASE(asinh, std::asinh, 0.9, 1.0),
    WEFT_UNARY_CASE(acosh, std::acosh, 1.0, 1.0),
    WEFT_UNARY_CASE(atanh, std::atanh, 0.9, 1.0),
    WEFT_UNARY_CASE(cbrt, std::cbrt, 1.0, 0.6),
    WEFT_UNARY_CASE(rsqrt, reference_rsqrt, 0.6, 0.6),
    WEFT_UNARY_CASE(erfc, std::erfc, 1.0, 1.1),
    WEFT_POSITIVE_CASE(lgamma, std::lgamma, 1.0, 1.2),
    WEFT_POSITIVE_CASE(digamma, reference_digamma, 0.9, 1.0),
    WEFT_UNARY_CASE(trigamma, reference_trigamma, 0.8, 0.8),
    WEFT_UNARY_CASE(erf, std::erf, 1.0, 1.0),
    WEFT_FAST_UNARY(expm1, std::expm1, 2.0, 2.0),
    WEFT_FAST_UNARY(tanh, std::tanh, 1.0, 3.0),
    WEFT_FAST_UNARY(sigmoid, reference_sigmoid, 3.0, 3.0),
    WEFT_FAST_UNARY(softplus, reference_softplus, 3.5, 3.5),
    WEFT_FAST_UNARY(log, std::log, 0.8, 2.0),
    WEFT_FAST_UNARY(log2, std::log2, 0.9, 2.0),
    WEFT_FAST_UNARY(log10, std::log10, 1.0, 2.0),
    WEFT_FAST_UNARY(log1p, std::log1p, 2.0, 2.0),
    WEFT_FAST_UNARY(sin, std::sin, 2.5, 2.5),
    WEFT_FAST_UNARY(cos, std::cos, 2.5, 2.5),
    WEFT_FAST_UNARY(tan, std::tan, 3.5, 3.5),
    WEFT_FAST_UNARY(asin, std::asin, 2.5, 2.5),
    WEFT_FAST_UNARY(acos, std::acos, 1.5, 1.5),
    WEFT_FAST_UNARY(atan, std::atan, 3.0, 3.0),
    WEFT_FAST_UNARY(sinh, std::sinh, 2.5, 3.0),
    WEFT_FAST_UNARY(cosh, std::cosh, 3.0, 3.0),
    WEFT_FAST_UNARY(asinh, std::asinh, 3.0, 3.0),
    WEFT_FAST_UNARY(acosh, std::acosh, 2.5, 2.5),
    WEFT_FAST_UNARY(atanh, std::atanh, 0.9, 2.0),
};

#undef WEFT_UNARY_CASE
#undef WEFT_POSITIVE_CASE
#undef WEFT_FAST_UNARY
#undef WEFT_UNARY_OF

struct BinaryCase {
  const char* name;
  float (*f32)(float, float);
  double (*f64)(double, double);
  long double (*exact)(long double, long double);
  double limit32, limit64;
  bool fast = false;
};

#define WEFT_BINARY_OF(space, fast, name, reference, limit32, limit64)                                               \
  BinaryCase {                                                                                                       \
    #name, [](float x, float y) { return space::name(HostLane<float>{x}, HostLane<float>{y}).v; },                   \
        [](double x, double y) { return space::name(HostLane<double>{x}, HostLane<double>{y}).v; },                  \
        [](long double x, long double y) { return reference(x, y); }, limit32, limit64, fast                         \
  }
#define WEFT_BINARY_CASE(name, reference, limit32, limit64) WEFT_BINARY_OF(vecmath, false, name, reference, limit32, limit64)
#define WEFT_FAST_BINARY(name, reference, limit32, limit64) WEFT_BINARY_OF(vecmath::fast, true, name, reference, limit32, limit64)

inline const BinaryCase binary_cases[] = {
    WEFT_BINARY_CASE(pow, std::pow, 1.0, 1.0),
    WEFT_BINARY_CASE(atan2, std::atan2, 1.0, 1.5),
    WEFT_BINARY_CASE(hypot, std::hypot, 1.0, 1.0),
    WEFT_BINARY_CASE(xlogy, reference_xlogy, 1.0, 1.0),
    WEFT_FAST_BINARY(pow, std::pow, 1.0, 3.0),
    WEFT_FAST_BINARY(atan2, std::atan2, 3.5, 3.5),
};

#undef WEFT_BINARY_CASE
#undef WEFT_FAST_BINARY
#undef WEFT_BINARY_OF

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
