// Quotients by one divisor for a whole loop, which are made without the divider (quotients.cpp): the same bits as IEEE division.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include <weft/function.h>

#include "bits.h"

using namespace weft;

namespace {

template <class T> Function quotient() {
  const std::string name = std::is_same_v<T, float> ? "f32" : "f64";
  return compile_text("graph g(%x: " + name + "[n], %y: " + name + "[]) -> (%0) {\n%0: " + name + "[i:n] = divide(%x[i], %y[])\n}");
}

// A number in [1, 2) times 2^exponent.
template <class T> T number(std::mt19937_64& random, int exponent) {
  return std::ldexp(1 + std::ldexp(static_cast<T>(random() >> 12), -52), exponent);
}

// Dividends whose quotients lie as close to the middle of two neighbours as there are: with integers of p bits, A 2^k = M B + e for an odd M of
// p + 1 bits, the middle, and a small odd e. Modulo 2^k, M is -e / B.
template <class T> std::vector<T> hardest(T divisor) {
  using Wide = unsigned __int128;
  constexpr int p = std::numeric_limits<T>::digits;
  int power = 0;
  const auto b = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(divisor), &power), p));
  std::vector<T> made;
  if (b % 2 == 0) return made;
  std::uint64_t inverse = b;                              // of b modulo 2^64: each step doubles the bits that are right, three at first
  for (int step = 0; step < 5; ++step) inverse *= 2 - b * inverse;
  for (int k : {p, p + 1})
    for (std::int64_t e : {-5, -3, -1, 1, 3, 5}) {
      const std::uint64_t modulus = std::uint64_t{1} << k, least = std::uint64_t{1} << p;
      std::uint64_t middle = (0 - static_cast<std::uint64_t>(e)) * inverse & (modulus - 1);
      if (k == p) middle += least;
      if (middle < least) continue;
      const auto dividend = static_cast<std::uint64_t>((static_cast<Wide>(middle) * b + static_cast<Wide>(static_cast<__int128>(e))) >> k);
      if (dividend >= least / 2 && dividend < least) made.push_back(static_cast<T>(dividend));
    }
  return made;
}

// Dividends whose quotients lie close to the middle of two neighbours, and any others.
template <class T> std::vector<T> dividends(std::mt19937_64& random, T divisor, int count, int range) {
  std::vector<T> made;
  while (static_cast<int>(made.size()) < count) {
    const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * range + 1)) - range;
    const T quotient = number<T>(random, exponent), next = std::nextafter(quotient, T(INFINITY));
    const auto middle = (static_cast<long double>(quotient) + next) / 2;
    const T near = static_cast<T>(middle * divisor);
    for (const T x : {near, std::nextafter(near, T(0)), std::nextafter(near, T(INFINITY)), -near, number<T>(random, exponent)}) made.push_back(x);
  }
  return made;
}

template <class T> void check_quotients(const Function& f, T divisor, const std::vector<T>& x) {
  CAPTURE(divisor);
  const Array got = f({Array::from<T>(x, {static_cast<Index>(x.size())}), Array::from<T>({divisor}, {})})[0];
  Index wrong = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const T expected = x[k] / divisor, found = got.data<T>()[k];
    wrong += std::isnan(expected) ? !std::isnan(found) : expected != found || std::signbit(expected) != std::signbit(found);
  }
  CHECK(wrong == 0);
}

template <class T> void check_divisors() {
  const Function f = quotient<T>();
  std::mt19937_64 random(7);
  const T least = std::nextafter(T(1), T(2)), most = std::nextafter(T(2), T(1));        // mantissas at the ends of [1, 2)
  for (int exponent : {-31, -30, -29, -1, 0, 1, 29, 30, 31})
    for (const T mantissa : {T(1), least, most, T(1.5), std::nextafter(T(1.5), T(0)), number<T>(random, 0), number<T>(random, 0)}) {
      const T divisor = std::ldexp(mantissa, exponent);
      check_quotients<T>(f, divisor, dividends<T>(random, divisor, 1003, 20));
      check_quotients<T>(f, -divisor, dividends<T>(random, divisor, 203, 95));
    }
  std::size_t hard = 0;
  for (int k = 0; k < 4000; ++k) {
    const T divisor = number<T>(random, 0);
    std::vector<T> x = hardest(divisor);
    if (x.empty()) continue;
    hard += x.size();
    for (std::size_t at = 0; x.size() < 64; ++at) x.push_back(x[at]);          // whole vectors: others hold zeros, and go to the divider
    check_quotients<T>(f, divisor, x);
  }
  CHECK(hard > 2000);
}

}  // namespace

TEST_CASE("quotients by one divisor have the bits of the divider: close to the middle of two numbers, and at the ends of its range") {
  check_divisors<float>();
  check_divisors<double>();
}

TEST_CASE("quotients by powers of two are products, with the same bits: subnormal ones round, others that are none stay quotients") {
  for (const DType dtype : {f16, bf16, f32, f64})
    for (const double divisor : {1.0, 4.0, -0.5, 1024.0, 0x1p-10, 0x1p100, 0x1p-130, 3.0, 6.0}) {
      CAPTURE(dtype);
      CAPTURE(divisor);
      Graph g;
      const Expr x = g.input("x", dtype, {"n"});
      std::vector<double> values{0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1.8p-149, 0x1.4p-126, 0x1.fffffep-125, 0x1.fffffep127, 0x1.8p-1070, 0x1.234p-1021, 1.0, 5.0, 0x1.ffcp-14};
      for (int k = 0; k < 300; ++k) values.push_back((k * 37 % 101 - 50) * std::ldexp(1.0, k % 290 - 150));
      Graph as_f64;
      const Expr y = as_f64.input("y", f64, {"n"});
      const Array converted = interpret({cast(y, dtype)}, {y}, {Array::from<double>(values, {static_cast<Index>(values.size())})})[0];
      same_bits(compile({x / g.constant(Scalar::of(dtype, divisor))}, {x}, {.threads = 1, .verify = true}), {converted});
    }
}

TEST_CASE("quotients by one divisor: zeros, infinities, NaN and subnormal numbers among others") {
  const Function f = quotient<float>();
  std::mt19937_64 random(8);
  for (const float divisor : {3.0f, 0.0f, -0.0f, INFINITY, NAN, 0x1p-149f, 0x1.fffffep127f, 0x1p-126f}) {
    auto x = dividends<float>(random, 3.0f, 301, 90);
    for (const float special : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, -0x1.8p-140f, 0x1.fffffep127f, 0x1p-90f, 0x1.fffffep-91f, 0x1p90f, 0x1.fffffep89f})
      x[random() % x.size()] = special;
    check_quotients<float>(f, divisor, x);
  }
}

TEST_CASE("quotients of whole numbers by a positive constant need no divider, zeros included") {
  std::mt19937_64 random(9);
  for (const DType from : {DType::bool_, DType::u8, DType::i16, DType::u16, DType::i32, DType::u64})
    for (const DType to : {f32, f64}) {
      std::vector<double> values{0, 1, 2, 127, 128, 254, 255};
      if (from == DType::bool_) values = {0, 1};
      if (from == DType::i16 || from == DType::i32) values.insert(values.end(), {-1, -2, -32768, 32767});
      if (from == DType::i32) values.insert(values.end(), {-2147483648.0, 2147483647.0});
      if (from == DType::u64) values.insert(values.end(), {0x1p53, 0x1p63, 18446744073709549568.0});
      while (values.size() < 320) values.push_back(values[random() % values.size()]);
      Graph g, as_given;
      const Expr x = g.input("x", from, {"n"}), y = as_given.input("y", f64, {"n"});
      const Array given = interpret({cast(y, from)}, {y}, {Array::from<double>(values, {320})})[0];
      for (const double divisor : {255.0, 3.0, 0.1, 49.0, 1e-7, 1e-12, -7.0}) {
        CAPTURE(from);
        CAPTURE(to);
        CAPTURE(divisor);
        const Expr whole = cast(x, to);
        const Function f = compile({whole / divisor, (whole + whole) / divisor, (whole - cast(x, to) * 0 - whole) / divisor}, {x}, {.threads = 1, .verify = true});
        same_bits(f, {given});
      }
    }
}

TEST_CASE("code for pixels divided by a constant has no division; of other numbers it does") {
  Graph g;
  const Expr p = g.input("p", u8, {"n"}), x = g.input("x", f32, {"n"});
  const auto divides = [](const Expr& result, const Expr& input) { return compile({result}, {input}, {.threads = 1}).llvm().find("fdiv") != std::string::npos; };
  CHECK_FALSE(divides(cast(p, f32) / 255, p));
  CHECK_FALSE(divides((cast(p, f32) + cast(p, f32) + 1) / 3, p));
  CHECK(divides(x / 255, x));
  CHECK(divides(cast(p, f32) / -255, p));
}
