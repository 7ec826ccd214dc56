// Square roots and quotients from estimates of reciprocals are correctly rounded, whatever the estimates are: all floats of two binades, and
// doubles whose roots or quotients lie so near to the middle of two others that the last step could miss.
#include <bit>
#include <random>

#include "bits.h"
#include "function/compile_for.h"
#include "vecmath/host_lane.h"
#include "vecmath/root.h"
#include "vecmath/vecmath.h"

using namespace weft;

namespace {

template <class T> T corrected(T x, T estimate) { return vecmath::sqrt_from_estimate(HostLane<T>{x}, HostLane<T>{estimate}).v; }

constexpr double errors[] = {-1, -0.71, -0.3, 0, 0.3, 0.71, 1};        // of estimates, in units of 2^-14

// The doubles x in [1, 4) for which m^2 = x + c in units of the last place of m^2, m the middle of two doubles: x is c mod a power of two.
std::vector<double> near_middles(std::int64_t c) {
  std::vector<double> found;
  for (const int bits : {54, 55}) {                                    // x in [1, 2), in [2, 4)
    std::uint64_t root = 1;                                            // of c modulo 2^b, from 8 on: c is 1 modulo 8
    for (int b = 3; b < bits; ++b)
      if (((static_cast<__int128>(root) * root - c) >> b) & 1) root += std::uint64_t{1} << (b - 1);
    const std::uint64_t modulus = std::uint64_t{1} << bits, half = modulus / 2;
    for (const std::uint64_t m : {root % modulus, (modulus - root) % modulus, (root + half) % modulus, (modulus - root + half) % modulus}) {
      if (m < std::uint64_t{1} << 53 || m >= std::uint64_t{1} << 54) continue;
      const auto x = std::ldexp(static_cast<double>(static_cast<std::uint64_t>((static_cast<__int128>(m) * m - c) >> bits)), bits - 106);
      if ((x < 2) == (bits == 54)) found.push_back(x);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("floats: the root from an estimate is the correctly rounded one, all mantissas, odd and even exponents") {
  std::size_t wrong = 0;
  for (std::uint32_t bits = std::bit_cast<std::uint32_t>(1.0f); bits < std::bit_cast<std::uint32_t>(4.0f); ++bits) {
    const float x = std::bit_cast<float>(bits), root = std::sqrt(x);
    const double exact = 1 / std::sqrt(static_cast<double>(x));
    for (double error : errors) wrong += corrected(x, static_cast<float>(exact * (1 + error * 0x1p-14))) != root;
  }
  CHECK(wrong == 0);
  for (const float x : {0x1p-80f, 0x1.fffffep-80f, 0x1.fffffep119f, 0x1.8p-79f, 0x1.000002p100f})
    CHECK(corrected(x, static_cast<float>(1.00005 / std::sqrt(static_cast<double>(x)))) == std::sqrt(x));
}

TEST_CASE("doubles: the hardest roots, and others") {
  std::size_t wrong = 0, count = 0;
  const auto check = [&](double x) {
    ++count;
    for (double error : errors) wrong += corrected(x, static_cast<double>((1 + error * 0x1p-14L) / std::sqrt(static_cast<long double>(x)))) != std::sqrt(x);
  };
  for (std::int64_t c = -4095; c < 4096; c += 8) std::ranges::for_each(near_middles(c), check);
  CHECK(count > 1000);
  std::mt19937_64 random(7);
  for (int k = 0; k < 200000; ++k) check(1 + 3 * static_cast<double>(random() >> 11) * 0x1p-53);
  for (const double x : {0x1p-900, 0x1.fffffffffffffp-900, 0x1.fffffffffffffp999, 0x1.0000000000001p-899}) check(x);
  CHECK(wrong == 0);
}

TEST_CASE("doubles: quotients next to the middle of two others, and any; but of divisors all of whose bits are set") {
  std::mt19937_64 random(11);
  std::size_t wrong = 0, hard = 0;
  const auto check = [&](double a, double b) {
    for (double error : errors) {
      const auto estimate = static_cast<double>((1 + error * 0x1p-14L) / b);
      wrong += vecmath::quotient_from_estimate(HostLane<double>{a}, HostLane<double>{b}, HostLane<double>{estimate}).v != a / b;
    }
  };
  for (int k = 0; k < 40000; ++k) {
    const std::uint64_t b = k < 4000 ? (std::uint64_t{1} << 53) - 3 - 2 * static_cast<std::uint64_t>(k) : (random() >> 12) | std::uint64_t{1} << 52 | 1;
    std::uint64_t inverse = b;                                         // modulo 2^64
    for (int step = 0; step < 6; ++step) inverse *= 2 - b * inverse;
    for (const std::int64_t c : {-3, -1, 1, 3})                        // a 2^bits = middle b + c
      for (const int bits : {53, 54}) {                                // a quotient in [1, 2), in [1/2, 1)
        const std::uint64_t middle = ((static_cast<std::uint64_t>(-c) * inverse) & ((std::uint64_t{1} << bits) - 1)) | std::uint64_t{1} << 53;
        const __int128 product = static_cast<__int128>(middle) * b + c;
        if ((product & ((static_cast<__int128>(1) << bits) - 1)) != 0) continue;
        const auto a = static_cast<std::uint64_t>(product >> bits);
        if (a < std::uint64_t{1} << 52 || a >= std::uint64_t{1} << 53) continue;
        ++hard;
        check(static_cast<double>(a), static_cast<double>(b));
      }
    check(std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 999) - 499), -static_cast<double>(b));
  }
  CHECK(hard > 10000);
  CHECK(wrong == 0);
}

TEST_CASE("compiled quotients have the bits of the instruction: zeros, subnormals, infinities, NaN, large and small ones beside others") {
  Machine machine;
  const double special[] = {0.0, -0.0, -1.0, 1e-310, 1e-160, 1e160, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 3.0, 1.0, 0x1.fffffffffffffp0, 0x1p-500, 0x1.fffffffffffffp499, 0x1p500};
  constexpr std::size_t count = std::size(special);
  // Estimates pay, where there are instructions for them: always, or until the rest takes as long, in the second quotient for every second vector.
  for (const auto& [cost, dtype] : {std::pair(1000.0, f32), {1000.0, f64}, {20.0, f32}, {20.0, f64}}) {
    machine.quotient = cost;
    Graph g;
    const Expr x = g.input("x", dtype, {"n"}), y = g.input("y", dtype, {"n"});
    const Function f = compile_for(machine, {x / y, 1 / (x * x + 1) - y / x, x / 3}, {x, y}, checked());
    std::mt19937_64 random(3);
    for (const Index n : {1, 16, 33, 5000}) {
      Array a(dtype, {n}), b(dtype, {n});
      for (Index k = 0; k < n; ++k) {
        const auto any = [&] { return std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 140) - 70); };
        const bool is_special = n < 5000 || k > 4700;
        Scalar::of(dtype, is_special ? special[static_cast<std::size_t>(k) % count] : any()).store(element_address(a, {k}));
        Scalar::of(dtype, is_special ? special[static_cast<std::size_t>(k) / count % count] : any()).store(element_address(b, {k}));
      }
      check_call(f, {a, b});
    }
    if (dtype == f64 && f.assembly().find("zmm") != std::string::npos) CHECK(f.assembly().find("vrcp14pd") != std::string::npos);
  }
}

TEST_CASE("compiled roots have the bits of the instruction: zeros, subnormals, negatives, infinities, NaN beside others") {
  Machine machine;
  // Estimates pay, likewise.
  for (const auto& [cost, dtype] : {std::pair(1000.0, f32), {1000.0, f64}, {26.0, f32}, {26.0, f64}}) {
    machine.square_root = cost;
    Graph g;
    const Expr x = g.input("x", dtype, {"n"});
    const Function f = compile_for(machine, {sqrt(x), sqrt(x * x + 1) - x}, {x}, checked());
    std::mt19937_64 random(3);
    for (const Index n : {1, 16, 33, 5000}) {
      Array a(dtype, {n});
      for (Index k = 0; k < n; ++k) {
        const double special[] = {0.0, -0.0, -1.0, 1e-310, 1e-42, 1e-30, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(), 1e37, 1e300};
        const bool is_special = n < 5000 || k > 4900;
        const double value = is_special ? special[k % 10] : std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 140) - 70);
        Scalar::of(dtype, value).store(element_address(a, {k}));
      }
      check_call(f, {a});
    }
    if (f.assembly().find("zmm") == std::string::npos) continue;
    CHECK(f.assembly().find(dtype == f32 ? "vrsqrt14ps" : "vrsqrt14pd") != std::string::npos);
  }
}

TEST_CASE("tiles have one vector of each element: their roots come from estimates, all of them") {
  Machine machine;
  machine.square_root = 26;
  Graph g;
  const Expr x = g.input("x", f32, {"n", "m"});
  const Function f = compile_for(machine, {sqrt(x + 1.0f)}, {x}, checked());
  const Array a = Array(f32, {200, 136}, Order::f), result(f32, {200, 136});
  for (Index k = 0; k < a.size(); ++k) static_cast<float*>(a.data())[k] = static_cast<float>(k % 1000);
  f.run({a}, {result});
  CHECK(difference(result, expected_of(f, {a})[0]) == "");
  if (f.assembly().find("zmm") != std::string::npos) CHECK(f.assembly().find("vrsqrt14ps") != std::string::npos);
}
