#include "math/functions.h"

#include <doctest/doctest.h>

#include <bit>
#include <random>
#include <string>

namespace weft::math_test {
namespace {

constexpr double inf = INFINITY;
constexpr double subnormal = 0x1p-1074;

template <class T>
T pow(T x, T y) {
  return vecmath::pow(HostLane<T>{x}, HostLane<T>{y}).v;
}

// Equal with the sign of zero; NaN equals NaN.
bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

double scale(double p, double n) { return scale_by_power(HostLane<double>{p}, HostLane<double>{n}).v; }

}  // namespace

TEST_CASE("vector functions keep their promised error on a sample of all f32 values") {
  for (const auto& c : unary_cases) {
    CAPTURE(c.name);
    double worst = 0;
    float at = 0;
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 65521) {
      const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
      const double error = ulp_error(c.f32(x), c.exact32(x));
      if (error > worst) worst = error, at = x;
    }
    CAPTURE(at);
    CHECK(worst <= c.limit32);
  }
}

TEST_CASE("vector functions keep their promised error on a sample of f64 values of every binade") {
  for (const auto& c : unary_cases) {
    CAPTURE(c.name);
    double worst = 0, at = 0;
    std::mt19937_64 random(7);
    for (int k = 0; k < 60000; ++k) {
      double x = std::bit_cast<double>(random());
      if (k % 2) x = std::uniform_real_distribution<double>(-30, 30)(random);
      const double error = ulp_error(c.f64(x), c.exact64(x));
      if (error > worst) worst = error, at = x;
    }
    CAPTURE(at);
    CHECK(worst <= c.limit64 + 0.01);  // the reference itself is not exact
  }
}

TEST_CASE("vector functions agree with the library on special values") {
  const double values[] = {0.0,  -0.0, inf,  -inf, NAN,     1.0,     -1.0,    subnormal, -subnormal, 0x1p-1022,
                           0.5,  -0.5, 2.0,  -2.0, 1e308,   -1e308,  0x1p-60, -0x1p-60,  1000.0,     -1000.0};
  for (const auto& c : unary_cases)
    for (const double x : values) {
      CAPTURE(c.name);
      CAPTURE(x);
      CHECK(ulp_error(c.f64(x), c.exact64(x)) <= c.limit64 + 0.01);
      CHECK(ulp_error(c.f32(static_cast<float>(x)), c.exact32(static_cast<float>(x))) <= c.limit32);
    }
}

TEST_CASE("pow agrees with the library on special values") {
  const double values[] = {0.0, -0.0, inf, -inf, NAN, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 2.5, 1e300, -1e300, 0x1p-1030, 4503599627370497.0};
  for (const double x : values)
    for (const double y : values) {
      CAPTURE(x);
      CAPTURE(y);
      const double exact = std::pow(x, y), got = pow(x, y);
      const bool special = exact == 0 || std::isinf(exact) || std::isnan(exact);
      CHECK((special ? same(got, exact) : ulp_error(got, std::pow(static_cast<long double>(x), static_cast<long double>(y))) <= 2));
    }
}

TEST_CASE("pow keeps its promised error") {
  std::mt19937_64 random(11);
  const auto uniform = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
  double worst32 = 0, worst64 = 0;
  for (int k = 0; k < 200000; ++k) {
    // A base of any size or near one, and an exponent that keeps the result in range or a little beyond.
    const double x = k % 2 ? std::exp2(uniform(-1000, 1000)) : std::exp2(uniform(-0.3, 0.3)), y = uniform(-1080, 1080) / std::log2(x);
    worst64 = std::max(worst64, ulp_error(pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y))));
    const auto x32 = static_cast<float>(k % 2 ? std::exp2(uniform(-126, 126)) : x), y32 = static_cast<float>(uniform(-150, 130) / std::log2(x32));
    worst32 = std::max(worst32, ulp_error(pow(x32, y32), std::pow(double{x32}, double{y32})));
  }
  CHECK(worst32 <= 1.3);
  CHECK(worst64 <= 1.8);
}

TEST_CASE("scale_by_power rounds once into the subnormal range") {
  CHECK(scale(1.5, -1073) == 3 * subnormal);
  CHECK(scale(0x1.0000000000001p0, -1074) == subnormal);
  CHECK(scale(0x1.8p0, -1074) == 2 * subnormal);
  CHECK(scale(0x1.7ffffffffffffp0, -1074) == subnormal);
  CHECK(scale(0.75, -1075) == 0);
  CHECK(scale(1, 1024) == inf);
  CHECK(scale(0.75, 1024) == 0x1.8p1023);
}

TEST_CASE("split_power gives a mantissa from 3/4 to 3/2, and the special values") {
  const auto split = [](double x) { return split_power(HostLane<double>{x}); };
  for (const double x : {1.0, 0.75, 1.5, 3.0, 1e300, 0x1p-1022, subnormal, 0x1.fffffffffffffp1023, 5 * subnormal}) {
    const auto s = split(x);
    CAPTURE(x);
    CHECK(s.mantissa.v >= 0.75);
    CHECK(s.mantissa.v < 1.5);
    CHECK(std::ldexp(s.mantissa.v, static_cast<int>(s.exponent.v)) == x);
  }
  CHECK(split(0).exponent.v == -inf);
  CHECK(split(-0.0).exponent.v == -inf);
  CHECK(split(inf).exponent.v == inf);
  CHECK(split(inf).mantissa.v == 1);
  CHECK(std::isnan(split(-1).mantissa.v));
  CHECK(std::isnan(split(NAN).exponent.v));
}

}  // namespace weft::math_test
