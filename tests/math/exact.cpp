#include "exact.h"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace weft::math_test {
namespace {

constexpr mpfr_prec_t precision = 160;

struct Real {
  mpfr_t v;
  Real() { mpfr_init2(v, precision); }
  ~Real() { mpfr_clear(v); }
  Real(const Real&) = delete;
};

using Unary = void (*)(mpfr_ptr, mpfr_srcptr);
using Binary = void (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr);

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

void rsqrt(mpfr_ptr y, mpfr_srcptr x) { mpfr_rec_sqrt(y, x, MPFR_RNDN); }

void xlogy(mpfr_ptr z, mpfr_srcptr x, mpfr_srcptr y) {
  mpfr_log(z, y, MPFR_RNDN);
  mpfr_mul(z, x, z, MPFR_RNDN);
}

#define WEFT_UNARY(name) {#name, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_##name(y, x, MPFR_RNDN); }}
const std::map<std::string, Unary> unary_functions = {
    WEFT_UNARY(exp),   WEFT_UNARY(expm1), WEFT_UNARY(exp2),  WEFT_UNARY(log),  WEFT_UNARY(log1p), WEFT_UNARY(log2),  WEFT_UNARY(log10),
    WEFT_UNARY(sin),   WEFT_UNARY(cos),   WEFT_UNARY(tan),   WEFT_UNARY(asin), WEFT_UNARY(acos),  WEFT_UNARY(atan),  WEFT_UNARY(sinh),
    WEFT_UNARY(cosh),  WEFT_UNARY(tanh),  WEFT_UNARY(asinh), WEFT_UNARY(acosh), WEFT_UNARY(atanh), WEFT_UNARY(cbrt), WEFT_UNARY(erf),
    WEFT_UNARY(erfc),  WEFT_UNARY(digamma), {"sigmoid", sigmoid}, {"softplus", softplus}, {"lgamma", lgamma}, {"trigamma", trigamma}, {"rsqrt", rsqrt},
};
#undef WEFT_UNARY

#define WEFT_BINARY(name) {#name, [](mpfr_ptr z, mpfr_srcptr x, mpfr_srcptr y) { mpfr_##name(z, x, y, MPFR_RNDN); }}
const std::map<std::string, Binary> binary_functions = {WEFT_BINARY(pow), WEFT_BINARY(atan2), WEFT_BINARY(hypot), {"xlogy", xlogy}};
#undef WEFT_BINARY

// Infinity stands for the first value past the largest.
double error_of(double y, mpfr_srcptr exact) {
  Real difference;
  if (std::isinf(y)) mpfr_set_si_2exp(difference.v, y > 0 ? 1 : -1, 1024, MPFR_RNDN);
  else mpfr_set_d(difference.v, y, MPFR_RNDN);
  mpfr_sub(difference.v, difference.v, exact, MPFR_RNDN);
  const bool is_power = mpfr_min_prec(exact) == 1;           // then the smaller unit counts, as in ulp_error
  const long exponent = std::clamp<long>(mpfr_get_exp(exact) - (is_power ? 2 : 1), -1022, 1023);
  mpfr_mul_2si(difference.v, difference.v, 52 - exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference.v, MPFR_RNDN));
}

}  // namespace

double mpfr_error(const char* function, double y, double x) {
  Real in, out;
  mpfr_set_d(in.v, x, MPFR_RNDN);
  unary_functions.at(function)(out.v, in.v);
  return error_of(y, out.v);
}

double mpfr_error(const char* function, double z, double x, double y) {
  Real first, second, out;
  mpfr_set_d(first.v, x, MPFR_RNDN);
  mpfr_set_d(second.v, y, MPFR_RNDN);
  binary_functions.at(function)(out.v, first.v, second.v);
  return error_of(z, out.v);
}

}  // namespace weft::math_test
