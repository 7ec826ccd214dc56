// Remainders of floats: every bit of the library's, near multiples of the divisor, for quotients of all sizes, and at the ends of both ranges.
#include <cmath>
#include <limits>
#include <random>

#include "bits.h"

using namespace weft;

namespace {

// Pairs whose quotients lie near whole numbers of all sizes, of either sign; then pairs of any bits.
template <class T> std::pair<Array, Array> divisions(Index count) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit(1, 2);
  Array x(dtype_of<T>(), {count}), y(dtype_of<T>(), {count});
  const int digits = std::numeric_limits<T>::digits;
  for (Index k = 0; k < count; ++k) {
    T &a = x.data<T>()[k], &b = y.data<T>()[k];
    if (k % 4 == 3) {
      std::uint64_t bits[] = {random(), random()};
      std::memcpy(&a, &bits[0], sizeof(T)), std::memcpy(&b, &bits[1], sizeof(T));
      continue;
    }
    b = static_cast<T>(std::ldexp(unit(random), static_cast<int>(random() % 60) - 30));
    const T quotient = static_cast<T>(std::floor(std::ldexp(unit(random), static_cast<int>(random() % static_cast<unsigned>(digits + 4)))));
    a = quotient * b;
    for (auto steps = static_cast<int>(random() % 5) - 2; steps != 0; steps += steps < 0 ? 1 : -1) a = std::nextafter(a, steps < 0 ? T(0) : std::numeric_limits<T>::max());
    if (random() % 2) a = -a;
    if (random() % 2) b = -b;
    if (k % 16 == 1) a = std::ldexp(a, -140 * (sizeof(T) == 8 ? 7 : 1)), b = std::ldexp(b, -140 * (sizeof(T) == 8 ? 7 : 1));       // subnormal
  }
  return {x, y};
}

template <class T> void check_remainders() {
  Graph g;
  const Expr x = g.input("x", dtype_of<T>(), {"n"}), y = g.input("y", dtype_of<T>(), {"n"});
  const std::vector<Expr> outputs{fmod(x, y), remainder(x, y), floor_divide(x, y), truncated_divide(x, y), remainder(x, 6.25), fmod(x, 0x1p-3)};
  for (const int lanes : {0, 4, 8}) {
    CAPTURE(lanes);
    for (const Index count : {1, 15, 16, 20000}) {
      const auto [a, b] = divisions<T>(count);
      check_bits(outputs, {x, y}, {a, b}, 1, lanes);
    }
    std::vector<T> left, right;
    constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min(), infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    for (const T p : {T(0), -T(0), T(1), T(-7.5), least, -least, most, -most, infinity, -infinity, nan, std::numeric_limits<T>::min(), T(16777216), T(16777217)})
      for (const T q : {T(0), -T(0), T(1), T(-2), T(3), least, -least, most, infinity, -infinity, nan, std::numeric_limits<T>::min()}) left.push_back(p), right.push_back(q);
    const auto count = static_cast<Index>(left.size());
    const Function f = check_bits(outputs, {x, y}, {Array::from<T>(left, {count}), Array::from<T>(right, {count})}, 1, lanes);
    const Array rest = f({Array::from<T>(left, {count}), Array::from<T>(right, {count})})[0];
    for (Index k = 0; k < count; ++k) {
      const T expected = std::fmod(left[static_cast<std::size_t>(k)], right[static_cast<std::size_t>(k)]), got = rest.data<T>()[k];
      CHECK((std::isnan(expected) ? std::isnan(got) : got == expected && std::signbit(got) == std::signbit(expected)));
    }
  }
}

}  // namespace

TEST_CASE("remainders of f32 are exact") { check_remainders<float>(); }

TEST_CASE("remainders of f64 are exact") { check_remainders<double>(); }

TEST_CASE("remainders of f16 and bf16 are those of f32, rounded") {
  for (const DType half : {f16, bf16}) {
    Graph g;
    const Expr x = g.input("x", half, {"n"}), y = g.input("y", half, {"n"});
    check_bits({fmod(x, y), remainder(x, y), floor_divide(x, y)}, {x, y}, {uneven(half, {1000}), near_one(half, {1000})});
  }
}
