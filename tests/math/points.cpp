#include "points.h"

#include <mpfr.h>

#include <bit>
#include <vector>

namespace weft::math_test {
namespace {

double uniform(Random& random, double low, double high) { return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53; }
double sign(Random& random) { return random() & 1 ? 1 : -1; }

// Doubles q * 2^e that come closest to multiples of pi/2, for every e: q are the denominators of the best rational approximations
// of 2^e / (pi/2).
std::vector<double> nearly_multiples() {
  std::vector<double> found;
  mpfr_t rest, whole;
  mpfr_init2(rest, 1400);
  mpfr_init2(whole, 1400);
  for (int e = -52; e < 971; ++e) {
    mpfr_const_pi(rest, MPFR_RNDN);
    mpfr_ui_div(rest, 2, rest, MPFR_RNDN);
    mpfr_mul_2si(rest, rest, e, MPFR_RNDN);
    uint64_t before = 0, q = 1;
    mpfr_frac(rest, rest, MPFR_RNDN);
    while (q < uint64_t{1} << 53 && !mpfr_zero_p(rest)) {
      if (q > uint64_t{1} << 32) found.push_back(std::ldexp(static_cast<double>(q), e));
      mpfr_ui_div(rest, 1, rest, MPFR_RNDN);
      mpfr_rint_floor(whole, rest, MPFR_RNDN);
      mpfr_sub(rest, rest, whole, MPFR_RNDN);
      if (mpfr_cmp_d(whole, 0x1p53) > 0) break;
      const uint64_t next = mpfr_get_ui(whole, MPFR_RNDN) * q + before;
      before = q, q = next;
    }
  }
  mpfr_clear(rest);
  mpfr_clear(whole);
  return found;
}

double special(Random& random) {
  static const double values[] = {0.0, INFINITY, NAN, 1.0, 2.0, 0.5, 0x1p-1074, 0x1p-1022, 0x0.fffffffffffffp-1022, 0x1.fffffffffffffp1023, 709.782712893384, 709.7827128933841,
                                  745.1332191019411, 745.1332191019412, 710.4758600739439, 1024.0, 1075.0, 36.7368005696771, 27.226017111108366, 26.543258454250982, 171.6243769563027};
  const double x = values[random() % std::size(values)];
  return sign(random) * std::nextafter(x, uniform(random, -3, 3) * x);
}

double near_half_turn(Random& random) {
  static const std::vector<double> worst = nearly_multiples();
  const auto r = random();
  if (r % 8 == 0) return sign(random) * worst[(r >> 8) % worst.size()];
  const double near = static_cast<double>(random() >> (11 + random() % 53)) * 1.5707963267948966;
  return sign(random) * (r & 16 ? near : std::nextafter(near, r & 32 ? INFINITY : 0));
}

double near_root(Random& random) {
  static const double roots[] = {1, 2, 1.4616321449683623, -1, 0.5, 3};
  const double root = roots[random() % 16 < 15 ? random() % 2 : random() % std::size(roots)];
  return root + sign(random) * std::exp2(uniform(random, -54, -1));
}

template <class T> T any_bits(Random& random) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<float>(static_cast<uint32_t>(random() >> 32));
  else return std::bit_cast<double>(random());
}

// Among the largest or the smallest sizes, subnormal ones included.
template <class T> T extreme(bool large, Random& random) {
  using Limits = std::numeric_limits<T>;
  const double inwards = uniform(random, 0, 2 * Limits::digits);
  return static_cast<T>(sign(random) * std::exp2(large ? Limits::max_exponent - inwards : Limits::min_exponent - Limits::digits + inwards));
}

}  // namespace

double point(uint64_t k, Random& random) {
  static const double ranges[] = {1, 4, 25, 750};
  switch (k % 16) {
    case 0: case 1: case 2: return uniform(random, -ranges[k / 16 % 4], ranges[k / 16 % 4]);
    case 3: case 4: return sign(random) * std::exp2(uniform(random, -30, 10));
    case 5: return uniform(random, 0, 4);
    case 6: case 7: return near_half_turn(random);
    case 8: case 9: return near_root(random);
    case 10: return sign(random) * std::bit_cast<double>(random() >> (12 + random() % 52));
    case 11: return k / 16 % 16 ? uniform(random, -150, 200) : special(random);
    default: return std::bit_cast<double>((random() & 0x800fffffffffffff) | (k / 4 % 2047) << 52);
  }
}

template <class T> std::array<T, 2> pair(uint64_t k, Random& random) {
  constexpr int range = std::numeric_limits<T>::max_exponent, digits = std::numeric_limits<T>::digits;
  const double near_one = 1 + sign(random) * std::exp2(uniform(random, -digits - 1, -1));
  switch (k % 8) {
    case 0: return {static_cast<T>(near_one), static_cast<T>(uniform(random, -1.05, 1.05) * range / std::log2(near_one))};
    case 1: return {static_cast<T>(sign(random) * std::exp2(uniform(random, -8, 8))), static_cast<T>(std::round(uniform(random, -range / 6., range / 6.)))};
    case 2: return {static_cast<T>(uniform(random, -10, 10)), static_cast<T>(k & 8 ? near_one : uniform(random, 0, 10))};
    case 3: return {static_cast<T>(uniform(random, 0, 20)), static_cast<T>(uniform(random, -20, 20))};
    case 4: return {extreme<T>(k & 8, random), extreme<T>(k & 8, random)};
    case 5: return {any_bits<T>(random), any_bits<T>(random)};
    default: return sample_pair<T>(static_cast<int>(k / 8 % 4), random);
  }
}
template std::array<float, 2> pair(uint64_t, Random&);
template std::array<double, 2> pair(uint64_t, Random&);

std::vector<float> special_floats() {
  std::vector<float> values;
  for (uint32_t top = 0; top < 512; ++top)
    for (const uint32_t low : {0u, 1u, 2u, 3u, 4u, 0x0fffffu, 0x1fffffu, 0x200000u, 0x3fffffu, 0x400000u, 0x400001u, 0x600000u, 0x7ffffcu, 0x7ffffdu, 0x7ffffeu, 0x7fffffu}) values.push_back(std::bit_cast<float>(top << 23 | low));
  return values;
}

}  // namespace weft::math_test
