// Powers whose exponent is known are computed by products and roots: as exact as any power, and with its special values.
#include <weft/function.h>

#include <cmath>
#include <limits>
#include <vector>

#include "compiled.h"

using namespace weft;

namespace {

constexpr double exponents[] = {3, 4, 2, -1, -2, 0.5, -0.5, 1.5};

template <class T> std::vector<T> bases() {
  using limits = std::numeric_limits<T>;
  std::vector<T> values{T(0), T(-0.0), T(1), T(-1), limits::infinity(), -limits::infinity(), limits::quiet_NaN(), limits::denorm_min(), -limits::denorm_min(), limits::min(), limits::max(), limits::lowest()};
  const int most = limits::max_exponent - 1;
  for (int exponent = -most; exponent < most; exponent += 3)
    for (int k = 0; k < 7; ++k) values.insert(values.end(), {std::ldexp(T(1) + T(k) / T(7.3), exponent), -std::ldexp(T(1) + T(k) / T(6.1), exponent)});
  return values;
}

// In units of the last place of the exact result.
template <class T> double error_of(T got, long double exact) {
  using limits = std::numeric_limits<T>;
  const auto rounded = static_cast<T>(exact);
  if (std::isnan(rounded) || std::isinf(rounded) || rounded == 0) return std::isnan(rounded) ? !std::isnan(got) : got == rounded && std::signbit(got) == std::signbit(rounded) ? 0 : std::abs(static_cast<double>(got)) <= limits::denorm_min() || std::abs(got) == limits::max() ? 1 : 100;
  const long double ulp = std::ldexp(1.0L, std::max(std::ilogb(rounded), limits::min_exponent - 1) - (limits::digits - 1));
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / ulp);
}

template <class T> void check_powers(DType dtype) {
  const std::vector<T> x = bases<T>();
  for (const double exponent : exponents) {
    CAPTURE(exponent);
    Graph g;
    const Expr a = g.input("a", dtype, {"n"});
    const Function f = compile({pow(a, exponent)}, {a}, {.threads = 1});
    CHECK(f.graph().find("power(") == std::string::npos);
    const std::vector<T> got = f({Array::from<T>(x)})[0].template to_vector<T>();
    for (std::size_t k = 0; k < x.size(); ++k) {
      CAPTURE(x[k]);
      CAPTURE(got[k]);
      CHECK(error_of(got[k], std::pow(static_cast<long double>(x[k]), static_cast<long double>(exponent))) <= 2);
    }
  }
}

}  // namespace

TEST_CASE("powers with a known exponent are exact to two units in the last place, with the special values of pow") {
  check_powers<float>(f32);
  check_powers<double>(f64);
}
