// Prints the largest error of every vector function. f32: every N-th of the 2^32 inputs against double (N = 1 is all of them; an
// even N would see short significands only).
// f64: samples of every binade, of the usual ranges and of neighbourhoods of multiples of pi/2, against MPFR.
//
//   ulp_table [N = 61] [samples per binade = 200] [function]
#include "functions.h"

#include <mpfr.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>

namespace {

using namespace weft::math_test;
constexpr mpfr_prec_t precision = 160;

struct Real {
  mpfr_t v;
  Real() { mpfr_init2(v, precision); }
  ~Real() { mpfr_clear(v); }
  Real(const Real&) = delete;
};

using Exact = std::function<void(mpfr_ptr, mpfr_srcptr)>;

void sigmoid(mpfr_ptr y, mpfr_srcptr x) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

void softplus(mpfr_ptr y, mpfr_srcptr x) {
  mpfr_exp(y, x, MPFR_RNDN);
  if (mpfr_inf_p(y))
    mpfr_set(y, x, MPFR_RNDN);
  else
    mpfr_log1p(y, y, MPFR_RNDN);
}

void lgamma(mpfr_ptr y, mpfr_srcptr x) {
  int sign = 0;
  mpfr_lgamma(y, &sign, x, MPFR_RNDN);
}

// The recurrence up to 60, then the asymptotic series; left of zero by reflection.
void trigamma(mpfr_ptr y, mpfr_srcptr at) {
  Real x, term, square;
  mpfr_set(x.v, at, MPFR_RNDN);
  if (mpfr_nan_p(at) || (mpfr_inf_p(at) && mpfr_sgn(at) < 0)) return mpfr_set_nan(y);
  if (mpfr_sgn(at) <= 0) {
    if (mpfr_integer_p(at)) return mpfr_set_inf(y, 1);
    Real positive, angle;
    mpfr_ui_sub(x.v, 1, at, MPFR_RNDN);
    trigamma(positive.v, x.v);
    mpfr_rint(term.v, at, MPFR_RNDN);
    mpfr_sub(term.v, at, term.v, MPFR_RNDN);
    mpfr_const_pi(angle.v, MPFR_RNDN);
    mpfr_mul(term.v, term.v, angle.v, MPFR_RNDN);
    mpfr_sin(term.v, term.v, MPFR_RNDN);
    mpfr_div(term.v, angle.v, term.v, MPFR_RNDN);
    mpfr_sqr(term.v, term.v, MPFR_RNDN);
    mpfr_sub(y, term.v, positive.v, MPFR_RNDN);
    return;
  }
  mpfr_set_zero(y, 1);
  for (; mpfr_cmp_ui(x.v, 60) < 0; mpfr_add_ui(x.v, x.v, 1, MPFR_RNDN)) {
    mpfr_sqr(term.v, x.v, MPFR_RNDN);
    mpfr_ui_div(term.v, 1, term.v, MPFR_RNDN);
    mpfr_add(y, y, term.v, MPFR_RNDN);
  }
  mpfr_ui_div(term.v, 1, x.v, MPFR_RNDN);
  mpfr_add(y, y, term.v, MPFR_RNDN);
  mpfr_sqr(square.v, term.v, MPFR_RNDN);
  mpfr_div_ui(x.v, square.v, 2, MPFR_RNDN);
  mpfr_add(y, y, x.v, MPFR_RNDN);
  const long bernoulli[][2] = {{1, 6}, {-1, 30}, {1, 42}, {-1, 30}, {5, 66}, {-691, 2730}, {7, 6}, {-3617, 510}, {43867, 798}, {-174611, 330}};
  for (const auto& [n, d] : bernoulli) {
    mpfr_mul(term.v, term.v, square.v, MPFR_RNDN);
    mpfr_mul_si(x.v, term.v, n, MPFR_RNDN);
    mpfr_div_si(x.v, x.v, d, MPFR_RNDN);
    mpfr_add(y, y, x.v, MPFR_RNDN);
  }
}
void xlogy(mpfr_ptr z, mpfr_srcptr x, mpfr_srcptr y) {
  mpfr_log(z, y, MPFR_RNDN);
  if (mpfr_zero_p(x) && !mpfr_nan_p(y)) mpfr_set_zero(z, 1);
  else mpfr_mul(z, x, z, MPFR_RNDN);
}

#define WEFT_MPFR(name, function) \
  {                               \
    #name, [](mpfr_ptr y, mpfr_srcptr x) { function(y, x, MPFR_RNDN); } \
  }
const std::map<std::string, Exact> exact_functions = {
    WEFT_MPFR(exp, mpfr_exp), WEFT_MPFR(expm1, mpfr_expm1), WEFT_MPFR(log, mpfr_log),   WEFT_MPFR(log1p, mpfr_log1p),
    WEFT_MPFR(sin, mpfr_sin), WEFT_MPFR(cos, mpfr_cos),     WEFT_MPFR(tan, mpfr_tan),   WEFT_MPFR(tanh, mpfr_tanh),
    WEFT_MPFR(erf, mpfr_erf), {"sigmoid", sigmoid},         {"softplus", softplus},     WEFT_MPFR(exp2, mpfr_exp2),
    WEFT_MPFR(log2, mpfr_log2), WEFT_MPFR(log10, mpfr_log10), WEFT_MPFR(asin, mpfr_asin), WEFT_MPFR(acos, mpfr_acos),
    WEFT_MPFR(atan, mpfr_atan), WEFT_MPFR(sinh, mpfr_sinh),   WEFT_MPFR(cosh, mpfr_cosh), WEFT_MPFR(asinh, mpfr_asinh),
    WEFT_MPFR(acosh, mpfr_acosh), WEFT_MPFR(atanh, mpfr_atanh), WEFT_MPFR(cbrt, mpfr_cbrt),
    WEFT_MPFR(erfc, mpfr_erfc), {"lgamma", lgamma}, WEFT_MPFR(digamma, mpfr_digamma), {"trigamma", trigamma},
};
#undef WEFT_MPFR

struct Worst {
  double error = 0, x = 0;
  long count = 0;
  void add(double e, double at) {
    ++count;
    if (e > error) error = e, x = at;
  }
};

Worst worst_f32(const UnaryCase& c, uint64_t stride) {
  Worst worst;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += stride) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (x < c.from) continue;
    worst.add(ulp_error(c.f32(x), c.exact32(x)), x);
  }
  return worst;
}

double error_f64(double y, mpfr_srcptr exact) {
  const double nearest = mpfr_get_d(exact, MPFR_RNDN);
  if (std::isnan(nearest) || std::isinf(nearest) || nearest == 0 || std::isnan(y) || std::isinf(y)) {
    if (std::isnan(nearest) && std::isnan(y)) return 0;
    if (y == nearest && (y != 0 || std::signbit(y) == std::signbit(nearest))) return 0;
    if (std::fabs(y) <= 0x1p-1073 && std::fabs(nearest) <= 0x1p-1073) return 1;
    if (std::isinf(y) && std::fabs(nearest) == std::numeric_limits<double>::max()) return 1;
    if (std::isinf(nearest) && std::fabs(y) == std::numeric_limits<double>::max()) return 1;
    return INFINITY;
  }
  static Real difference;
  mpfr_sub_d(difference.v, exact, y, MPFR_RNDN);
  const int exponent = std::max(static_cast<int>(mpfr_get_exp(exact)) - 1, -1022);
  mpfr_mul_2si(difference.v, difference.v, 52 - exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference.v, MPFR_RNDN));
}

Worst worst_f64(const UnaryCase& c, const Exact& exact, int samples) {
  Worst worst;
  Real in, out;
  std::mt19937_64 random(1);
  const auto check = [&](double x) {
    if (x < c.from) return;
    mpfr_set_d(in.v, x, MPFR_RNDN);
    exact(out.v, in.v);
    worst.add(error_f64(c.f64(x), out.v), x);
  };
  for (uint64_t exponent = 0; exponent < 2047; ++exponent)
    for (int k = 0; k < samples; ++k) {
      const uint64_t r = random();
      check(std::bit_cast<double>((r & 0x800fffffffffffff) | exponent << 52));
    }
  for (const double range : {1.0, 4.0, 25.0, 750.0})
    for (int k = 0; k < 500 * samples; ++k) check(std::uniform_real_distribution<double>(-range, range)(random));
  for (int k = 0; k < 100 * samples; ++k) {
    const double near = static_cast<double>(random() >> (20 + random() % 44)) * 1.5707963267948966;
    check(std::nextafter(near, random() & 1 ? INFINITY : 0));
    check(near);
  }
  return worst;
}

// Pairs, f32 against long double, f64 against MPFR.
void print_binary(const BinaryCase& c, int pairs) {
  using Exact2 = std::function<void(mpfr_ptr, mpfr_srcptr, mpfr_srcptr)>;
  const auto rounded = [](auto function) { return [function](mpfr_ptr z, mpfr_srcptr x, mpfr_srcptr y) { function(z, x, y, MPFR_RNDN); }; };
  static const std::map<std::string, Exact2> exact = {{"pow", rounded(mpfr_pow)}, {"atan2", rounded(mpfr_atan2)}, {"hypot", rounded(mpfr_hypot)}, {"xlogy", xlogy}};
  double worst32 = 0, worst64 = 0;
  Real x, y, z;
  std::mt19937_64 random(5);
  for (int k = 0; k < pairs; ++k) {
    const auto a = sample_pair<float>(k, random);
    worst32 = std::max(worst32, ulp_error(c.f32(a[0], a[1]), c.exact(a[0], a[1])));
    const auto b = sample_pair<double>(k, random);
    mpfr_set_d(x.v, b[0], MPFR_RNDN);
    mpfr_set_d(y.v, b[1], MPFR_RNDN);
    exact.at(c.name)(z.v, x.v, y.v);
    worst64 = std::max(worst64, error_f64(c.f64(b[0], b[1]), z.v));
  }
  std::printf("%-10s %8.3f %-16s %8.3f\n", c.name, worst32, "(pairs)", worst64);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 61;
  const int samples = argc > 2 ? std::atoi(argv[2]) : 200;
  std::printf("%-10s %8s %-16s %8s %-24s\n", "function", "f32 ULP", "at", "f64 ULP", "at");
  for (const auto& c : unary_cases) {
    if (argc > 3 && c.name != std::string(argv[3])) continue;
    Worst f32, f64;
    if (stride) f32 = worst_f32(c, stride);
    if (samples) f64 = worst_f64(c, exact_functions.at(c.name), samples);
    std::printf("%-10s %8.3f %-16a %8.3f %-24a\n", c.name, f32.error, f32.x, f64.error, f64.x);
    std::fflush(stdout);
  }
  for (const auto& c : binary_cases)
    if (argc <= 3 || c.name == std::string(argv[3])) print_binary(c, 2000 * samples);
}
