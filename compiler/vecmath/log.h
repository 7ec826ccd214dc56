#pragma once
// log and its relatives: log, log2, log10, log1p, softplus, logaddexp, xlogy.
#include "exp.h"

namespace weft::vecmath {

// log(1 + f) - f + more, for f in [-1/4, 1/2].
template <LaneType V>
V log_tail(const V& f, const V& more) {
  if (f.bits() == 32) {
    const V q = poly(f, {-0.5, 0x1.555558p-2, -0x1.00007p-2, 0x1.9998aep-3, -0x1.551afap-3, 0x1.244558p-3, -0x1.046c08p-3,
                         0x1.e08da6p-4, -0x1.7a6c8cp-4, 0x1.3cf364p-5});
    return fma(f * f, q, more);
  }
  // log(1 + f) = 2 atanh(s) = f - s * (f - z q(z))
  const V s = f / (f + f.like(2)), z = s * s;
  const V q = poly(z, {0x1.555555555554fp-1, 0x1.999999999c187p-2, 0x1.24924921e32dcp-2, 0x1.c71c7490dc5dap-3, 0x1.745c4a9550931p-3,
                       0x1.3b35ca073b0ddp-3, 0x1.0dcaf7bdbe74fp-3, 0x1.1b85cdaa668e7p-3});
  return fma(s, fma(z, q, -f), more);
}

// e * ln2 + log(1 + f + f_low) = high + rest, for e integral or infinite (high is then e too); high is NaN if e or f is.
template <LaneType V>
V log_sum(const V& e, const V& f, const V& f_low, V& rest) {
  // high + low = e * ln2 + f exactly but for the last term of ln2.
  const V ln2 = constant(f, 0x1.62e4p-1, 0x1.62e42fefa4p-1);
  const V high = fma(e, ln2, f);
  const V low = fma(e, constant(f, 0x1.7f7d1cp-20, -0x1.8432a1b0e2634p-43), (fma(e, ln2, -high) + f) + f_low);
  rest = log_tail(f, low);
  return high;
}

template <LaneType V>
V log_finish(const V& e, const V& high, const V& rest) {
  return select(abs(e) < e.like(infinity), high + rest, high);
}

// log(x). f32 0.85 ULP, f64 0.80 ULP, x > 0, subnormals included. log(+-0) = -inf, log(x < 0) = NaN, log(inf) = inf.
template <LaneType V>
V log(const V& x) {
  const auto split = split_power(x);
  V rest = x;
  const V high = log_sum(split.exponent, split.mantissa - x.like(1), x.like(0), rest);
  return log_finish(split.exponent, high, rest);
}

// (e * unit + log(1 + f)) * scale, where unit * scale is the logarithm of 2 in the wanted base. All constants in two parts.
template <LaneType V>
V log_scaled(const V& x, const V& unit, const V& unit_low, const V& scale, const V& scale_low) {
  const auto split = split_power(x);
  const V e = split.exponent, f = split.mantissa - x.like(1);
  const V linear = f * scale;
  V sum_error = x;
  const V sum = fast_two_sum(e * unit, linear, sum_error);
  const V low = fma(f, scale_low, fma(f, scale, -linear)) + fma(e, unit_low, sum_error);
  return log_finish(e, sum, fma(log_tail(f, x.like(0)), scale, low));
}

// log2(x). f32 1.15 ULP, f64 1.11 ULP; exact for powers of two. Special values as log.
template <LaneType V>
V log2(const V& x) {
  return log_scaled(x, x.like(1), x.like(0), constant(x, 0x1.715476p0, 0x1.71547652b82fep0),
                    constant(x, 0x1.4ae0cp-26, 0x1.777d0ffda0d24p-56));
}

// log10(x). f32 1.08 ULP, f64 0.85 ULP. Special values as log.
template <LaneType V>
V log10(const V& x) {
  // The upper part of the unit is short, so that its product with e is exact.
  return log_scaled(x, constant(x, 0x1.344p-2, 0x1.34413509f8p-2), constant(x, 0x1.3509f8p-18, -0x1.80433b83b532ap-44),
                    constant(x, 0x1.bcb7b2p-2, 0x1.bcb7b1526e50ep-2), constant(x, -0x1.5b235ep-27, 0x1.95355baaafad3p-57));
}

// log(u + c) + extra * ln2 for u >= 0 and c below a rounding error of u; c may be anything when u is 0 or past 2^60. The result is
// log_finish(exponent, high, rest).
template <LaneType V>
struct LogParts {
  V exponent, high, rest;
};

template <LaneType V>
LogParts<V> log_pair(const V& u, const V& c, const V& extra) {
  const V one = u.like(1);
  const auto split = split_power(u);
  // c in the scale of the mantissa.
  const int fraction = fraction_bits(u);
  const V down = from_bits(to_bits(one) - (to_bits(split.exponent + round_shift(u)) << fraction));
  const V lost = select((u < u.like(0x1p60)) & (u > u.like(0)), c * down, u.like(0));
  V f_low = u, rest = u;
  const V f = fast_two_sum(split.mantissa - one, lost, f_low);
  const V e = split.exponent + extra, high = log_sum(e, f, f_low, rest);
  return {e, high, rest};
}

// log(1 + x). f32 0.86 ULP, f64 0.89 ULP, x > -1. log1p(-0) = -0, log1p(-1) = -inf, log1p(x < -1) = NaN.
template <LaneType V>
V log1p(const V& x) {
  const V one = x.like(1), u = one + x;
  const auto y = log_pair(u, x - (u - one), x.like(0));
  return copysign(log_finish(y.exponent, y.high, y.rest), x);
}

// log(1 + exp(x)). f32 1.06 ULP, f64 0.99 ULP, all x, subnormal results included. 0 at -inf, inf at inf.
template <LaneType V>
V softplus(const V& x) {
  // max(x, 0) + log1p(exp(-|x|)), summed before the logarithm is rounded.
  const auto e = exp_pair_negative(x);
  const V one = x.like(1), zero = x.like(0);
  V c = x, sum_error = x;
  const V u = fast_two_sum(one, e.value, c);
  const auto y = log_pair(u, c + e.error, zero);
  const V sum = two_sum(max_raw(zero, x), y.high, sum_error);
  return select(x > constant(x, 100, 800), x, sum + (y.rest + sum_error));
}

// log(exp(a) + exp(b)). f32 0.65 ULP, f64 0.73 ULP of the largest of a, b and the result; near the zeros of the result, where the
// operands cancel, that is more of its own. logaddexp(+-inf, +-inf) = +-inf for equal signs, inf if one operand is.
template <LaneType V>
V logaddexp(const V& a, const V& b) {
  // max + log1p(exp(-d)), d = max - min with its error, summed as in softplus.
  const auto swap = a < b;
  const V high = select(swap, b, a), low = select(swap, a, b), one = a.like(1), zero = a.like(0), limit = constant(a, 104, 746);
  V d_error = a, c = a, sum_error = a;
  const V d = two_sum(high, -low, d_error);
  const auto e = exp_pair_negative(d);
  const V correction = select(d < limit, -e.value * d_error, zero);
  const V u = fast_two_sum(one, e.value, c);
  const auto y = log_pair(u, c + (e.error + correction), zero);
  const V sum = two_sum(high, y.high, sum_error);
  return select((d > limit) | ((a == b) & (d != d)), high, sum + (y.rest + sum_error));
}

// a log(b), and 0 for a = 0 whatever b is, NaN excepted. Two roundings: f32 1.44 ULP, f64 1.50 ULP.
template <LaneType V>
V xlogy(const V& a, const V& b) {
  return select((a == a.like(0)) & (b == b), a.like(0), a * log(b));
}

}  // namespace weft::vecmath
