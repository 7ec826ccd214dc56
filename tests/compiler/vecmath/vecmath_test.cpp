#include "../math/functions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>

#include <weft/op.h>

namespace weft::math_test {
namespace {

constexpr double inf = INFINITY;
constexpr double subnormal = 0x1p-1074;

// Equal with the sign of zero; NaN equals NaN.
bool same(double a, double b) { return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b); }

Power<HostLane<double>> power(double n) { return {{n}, {n + 0x1.8p52}}; }
double scale(double p, double n) { return scale_by_power(HostLane<double>{p}, power(n)).v; }
double scale_down(double p, double n) { return scale_down(HostLane<double>{p}, power(n)).v; }

}  // namespace

TEST_CASE("vector functions keep their promised error on a sample of all f32 values") {
  for (const auto& c : unary_cases) {
    CAPTURE(std::string(c.name));
    double worst = 0;
    float at = 0;
    for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 65521) {
      const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
      if (x < c.from) continue;
      const double error = ulp_error(c.f32(x), c.exact32(x));
      if (error > worst) worst = error, at = x;
    }
    CAPTURE(at);
    CHECK(worst <= c.limit32);
  }
}

TEST_CASE("vector functions keep their promised error on a sample of f64 values of every binade") {
  for (const auto& c : unary_cases) {
    CAPTURE(std::string(c.name));
    double worst = 0, at = 0;
    std::mt19937_64 random(7);
    for (int k = 0; k < 60000; ++k) {
      double x = std::bit_cast<double>(random());
      if (k % 2) x = std::uniform_real_distribution<double>(-30, 30)(random);
      if (x < c.from) continue;
      const double error = ulp_error(c.f64(x), c.exact64(x));
      if (error > worst) worst = error, at = x;
    }
    CAPTURE(at);
    CHECK(worst <= c.limit64 + 0.01);  // the reference itself is not exact
  }
}

TEST_CASE("tables of floats have as few bits as their lookups count on, and points that leave less than the value there") {
  const auto bits_of = [](const double (&row)[16]) {
    std::uint32_t used = 0;
    for (const double number : row) {
      CHECK(static_cast<double>(static_cast<float>(number)) == number);
      used |= std::bit_cast<std::uint32_t>(static_cast<float>(number));
    }
    return 32 - std::countr_zero(used);
  };
  for (const int row : {0, 5, 6}) {
    CAPTURE(row);
    CHECK(bits_of(vecmath::erf_f32[row]) <= 16);
    CHECK(bits_of(vecmath::tanh_pieces[row]) <= 16);
  }
  for (const int row : {3, 4}) CHECK(bits_of(vecmath::erf_f32[row]) <= 24);
  CHECK(bits_of(vecmath::tanh_pieces[4]) <= 24);
  // Intervals are those of numbers scale * x + first with the same upper bits.
  const auto leave_less = [](const double (&points)[16], const double (&values)[16], float first, double scale, int shift, double last) {
    for (std::uint32_t column = std::bit_cast<std::uint32_t>(first) >> shift, k = 0; k < 16; ++k, ++column) {
      CAPTURE(column);
      const double end = (std::bit_cast<float>((column + 1) << shift) - first) / scale;
      if (k > 0) CHECK(std::min(end, last) - points[column % 16] < values[column % 16]);
      if (k == 15) CHECK(end > last);
    }
  };
  leave_less(vecmath::erf_f32[0], vecmath::erf_f32[1], 1.25f, 0.953125, 20, 3.9296875);
  leave_less(vecmath::tanh_pieces[0], vecmath::tanh_pieces[1], 1.0f, 1.65625, 21, 9.05);
}

TEST_CASE("vector functions agree with the library on special values") {
  const double values[] = {0.0,  -0.0, inf,  -inf, NAN,     1.0,     -1.0,    subnormal, -subnormal, 0x1p-1022,
                           0.5,  -0.5, 2.0,  -2.0, 1e308,   -1e308,  0x1p-60, -0x1p-60,  1000.0,     -1000.0};
  for (const auto& c : unary_cases)
    for (const double x : values) {
      CAPTURE(std::string(c.name));
      CAPTURE(x);
      if (x < c.from && std::isfinite(x)) continue;
      CHECK(ulp_error(c.f64(x), c.exact64(x)) <= c.limit64 + 0.01);
      CHECK(ulp_error(c.f32(static_cast<float>(x)), c.exact32(static_cast<float>(x))) <= c.limit32);
    }
}

TEST_CASE("functions of two arguments agree with the library on special values") {
  const double values[] = {0.0, -0.0, inf,  -inf, NAN,   1.0,    -1.0,      2.0,   -2.0,
                           3.0, -3.0, 0.5, -0.5, 2.5, 1e300, -1e300, 0x1p-1030, 1e-300, 4503599627370497.0};
  for (const auto& c : binary_cases)
    for (const double x : values)
      for (const double y : values) {
        CAPTURE(std::string(c.name));
        CAPTURE(x);
        CAPTURE(y);
        const long double exact = c.exact(x, y);
        const double nearest = static_cast<double>(exact), got = c.f64(x, y);
        const bool special = nearest == 0 || std::isinf(nearest) || std::isnan(nearest);
        CHECK((special ? same(got, nearest) : ulp_error(got, exact) <= c.limit64));
        const auto x32 = static_cast<float>(x), y32 = static_cast<float>(y);
        const long double exact32 = c.exact(x32, y32);
        const auto nearest32 = static_cast<float>(exact32);
        const bool special32 = nearest32 == 0 || std::isinf(nearest32) || std::isnan(nearest32);
        CHECK((special32 ? same(c.f32(x32, y32), nearest32) : ulp_error(c.f32(x32, y32), exact32) <= c.limit32));
      }
}

TEST_CASE("functions of two arguments keep their promised error") {
  std::mt19937_64 random(11);
  for (const auto& c : binary_cases) {
    CAPTURE(std::string(c.name));
    double worst32 = 0, worst64 = 0;
    for (int k = 0; k < 100000; ++k) {
      const auto a = sample_pair<float>(k, random);
      worst32 = std::max(worst32, ulp_error(c.f32(a[0], a[1]), c.exact(a[0], a[1])));
      const auto b = sample_pair<double>(k, random);
      worst64 = std::max(worst64, ulp_error(c.f64(b[0], b[1]), c.exact(b[0], b[1])));
    }
    CHECK(worst32 <= c.limit32);
    CHECK(worst64 <= c.limit64 + 0.01);
  }
}

TEST_CASE("lgamma and digamma left of zero are right to a few roundings of their largest term") {
  constexpr double eps = std::numeric_limits<double>::epsilon(), pi = 3.141592653589793;
  std::mt19937_64 random(13);
  const auto lgamma = [](double x) { return vecmath::lgamma(HostLane<double>{x}).v; };
  const auto digamma = [](double x) { return vecmath::digamma(HostLane<double>{x}).v; };
  for (int k = 0; k < 20000; ++k) {
    const double x = std::uniform_real_distribution<double>(-40, 0)(random);
    CAPTURE(x);
    const auto exact = static_cast<double>(std::lgamma(static_cast<long double>(x)));
    CHECK(std::fabs(lgamma(x) - exact) <= 4 * eps * (1 + std::fabs(exact) + std::lgamma(1 - x)));
    const long double cotangent = pi / std::tan(3.14159265358979323846264L * (x - std::nearbyint(static_cast<long double>(x))));
    const auto exact_digamma = static_cast<double>(reference_digamma(1 - static_cast<long double>(x)) - cotangent);
    CHECK(std::fabs(digamma(x) - exact_digamma) <= 8 * eps * (1 + std::log(1 - x) + std::fabs(static_cast<double>(cotangent))));
  }
  CHECK(lgamma(-3) == inf);
  CHECK(lgamma(-inf) == inf);
  CHECK(lgamma(-0.0) == inf);
  CHECK(digamma(0.0) == -inf);
  CHECK(digamma(-0.0) == inf);
  CHECK(std::isnan(digamma(-3)));
}

namespace {

// In roundings of the largest of the terms and the result.
template <class F> void check_logaddexp(const F& logaddexp, double allowed) {
  std::mt19937_64 random(17);
  double worst32 = 0, worst64 = 0;
  const auto measure = [&](auto x, auto y) {
    using T = decltype(x);
    const long double exact = reference_logaddexp(x, y), size = std::fmax(std::fabs(exact), std::fmax(std::fabs(x), std::fabs(y)));
    const T got = logaddexp(HostLane<T>{x}, HostLane<T>{y}).v;
    return static_cast<double>(std::fabs(got - exact) / size / std::numeric_limits<T>::epsilon());
  };
  for (int k = 0; k < 100000; ++k) {
    const double range = k % 3 == 0 ? 1 : k % 3 == 1 ? 30 : 1000;
    const double x = std::uniform_real_distribution<double>(-range, range)(random), y = k % 2 ? std::uniform_real_distribution<double>(-range, range)(random) : x + 1e-3 * range;
    worst64 = std::max(worst64, measure(x, y));
    worst32 = std::max(worst32, measure(static_cast<float>(x), static_cast<float>(y)));
  }
  CAPTURE(worst32);
  CAPTURE(worst64);
  CHECK(worst32 <= allowed);
  CHECK(worst64 <= allowed);
  const auto at = [&](double x, double y) { return logaddexp(HostLane<double>{x}, HostLane<double>{y}).v; };
  CHECK(at(-inf, -inf) == -inf);
  CHECK(at(inf, inf) == inf);
  CHECK(at(-inf, inf) == inf);
  CHECK(at(1e308, -1.7e308) == 1e308);
  CHECK(at(0, -744) == subnormal * 2);
  CHECK(at(-0x1p-1070, -1000) == -0x1p-1070);
  CHECK(std::isnan(at(NAN, inf)));
  CHECK(std::isnan(at(-inf, NAN)));
}

}  // namespace

TEST_CASE("logaddexp is right to two roundings of its largest term, or of the result if that is larger; to five with fast_math") {
  check_logaddexp([](auto a, auto b) { return vecmath::logaddexp(a, b); }, 1);
  check_logaddexp([](auto a, auto b) { return vecmath::fast::logaddexp(a, b); }, 2.5);
}

TEST_CASE("nextafter has the bits of the library's, in f16 and bf16 those of the neighbours in the dtype") {
  std::mt19937_64 random(19);
  const double values[] = {0.0, -0.0, inf, -inf, NAN, 1.0, -1.0, subnormal, -subnormal, 0x1p-1022, -0x1.fffffffffffffp1023};
  const auto pick = [&](int k) { return k % 3 ? values[random() % std::size(values)] : std::bit_cast<double>(random()); };
  for (int k = 0; k < 20000; ++k) {
    const double x = pick(k), y = pick(k / 3);
    CHECK(same(vecmath::nextafter(HostLane<double>{x}, HostLane<double>{y}).v, std::nextafter(x, y)));
    const auto u = static_cast<float>(x), v = static_cast<float>(y);
    CHECK(same(vecmath::nextafter(HostLane<float>{u}, HostLane<float>{v}).v, std::nextafter(u, v)));
  }
  for (std::uint32_t bits = 0; bits < 0x10000; bits += 3)
    for (const float toward : {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, 1.0f, -3.0f}) {
      const float half = Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(static_cast<std::uint16_t>(bits)));
      const auto expected = evaluate(Op::nextafter, std::vector{Scalar::of(f16, half), Scalar::of(f16, toward)}, f16).real();
      CHECK(same(vecmath::nextafter_f16(HostLane<float>{half}, HostLane<float>{toward}).v, expected));
      const float brain = std::bit_cast<float>(bits << 16);
      const auto expected_brain = evaluate(Op::nextafter, std::vector{Scalar::of(bf16, brain), Scalar::of(bf16, toward)}, bf16).real();
      CHECK(same(vecmath::nextafter_bf16(HostLane<float>{brain}, HostLane<float>{toward}).v, expected_brain));
    }
}

TEST_CASE("scale_by_power rounds once into the subnormal range") {
  CHECK(scale(1.5, -1073) == 3 * subnormal);
  CHECK(scale(0x1.0000000000001p0, -1074) == subnormal);
  CHECK(scale(0x1.8p0, -1074) == 2 * subnormal);
  CHECK(scale(0x1.7ffffffffffffp0, -1074) == subnormal);
  CHECK(scale(0.75, -1075) == 0);
  CHECK(scale(1, 1024) == inf);
  CHECK(scale(0.75, 1024) == 0x1.8p1023);
  CHECK(scale(0.5, 0) == 0.5);
  CHECK(scale(0.5, -2000) == 0);
  CHECK(scale(1, 2000) == inf);
}

TEST_CASE("scale_down takes any number, and rounds once into the subnormal range") {
  CHECK(scale_down(1.5, -1073) == 3 * subnormal);
  CHECK(scale_down(0x1.7ffffffffffffp0, -1074) == subnormal);
  CHECK(scale_down(-0x1p-60, -1014) == -subnormal);
  CHECK(scale_down(0x1.8p-54, 0) == 0x1.8p-54);
  CHECK(scale_down(0, -1000) == 0);
  CHECK(scale_down(1.5, -1100) == 0);
}

TEST_CASE("split_power gives a mantissa from 3/4 to 3/2, and the special values") {
  const auto split = [](double x) { return split_power(HostLane<double>{x}, 0.75); };
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
