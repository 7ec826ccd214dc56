#pragma once
// log and its relatives: log, log2, log10, log1p, xlogy.
#include "exp.h"
#include "log_f32.h"

namespace weft::vecmath {

// (log(1 + f) - f) * factor + more, for |f| <= 1/4, of f64: log(1 + f) = 2 atanh(s) = f - s * (f - z q(z)).
template <LaneType V>
V log_tail(const V& f, const V& factor, const V& more) {
  const V s = f / (f + f.like(2)), z = s * s;
  const V q = poly(z, {0x1.5555555555252p-1, 0x1.9999999aff711p-2, 0x1.2492476aa9e41p-2, 0x1.c71e66f12077dp-3, 0x1.73cdc7d242407p-3,
                       0x1.4f1b832f6ecdcp-3});
  return fma(s * factor, fma(z, q, -f), more);
}

// x = 2^exponent (1 + f) / scale, f exact. f64: the scale is 3/4 where the mantissa is above 5/4, in `upper`, else 1, and |f| <= 1/4.
// f32: it is a reciprocal of the table, at `index`.
template <LaneType V>
struct LogArgument {
  V exponent, scale, f;
  typename V::Mask upper;
  typename V::Int index;
};

template <LaneType V>
LogArgument<V> log_argument(const V& x) {
  if (x.bits() == 32) {
    const auto a = log_argument_f32(x);
    return {a.exponent, a.reciprocal, a.f, x == x, a.index};
  }
  const auto split = split_power(x, 0.75);
  const V m = split.mantissa, one = x.like(1);
  const auto upper = m > x.like(1.25);
  const V scale = select(upper, x.like(0.75), one);
  return {split.exponent, scale, fma(m, scale, -one), upper, to_bits(m)};
}

// log(2) and log(4/3) in some base, each in two parts. The first are short: sums of their products with exponents are exact.
struct LogUnits {
  double two, two_low, third, third_low;
};

// a.exponent * units.two + units.third where a.upper, without the low parts, which go to `low`.
template <LaneType V>
V log_whole(const LogArgument<V>& a, const LogUnits& units, V& low) {
  const V zero = a.f.like(0);
  low = select(a.upper, zero.like(units.third_low), zero);
  if (units.two_low != 0) low = fma(a.exponent, zero.like(units.two_low), low);
  return fma(a.exponent, zero.like(units.two), select(a.upper, zero.like(units.third), zero));
}

// log(x) + *more = high + rest, a being the argument of x and *more tiny; returns high. It is the result where the exponent is
// infinite, and one of both is NaN where x is NaN or negative.
template <LaneType V>
V log_sum(const LogArgument<V>& a, V& rest, const V* more = nullptr) {
  V low = a.f, error = a.f;
  if (a.f.bits() == 32) {
    const V high = log_parts_f32<V>({a.exponent, a.scale, a.f, a.index}, base_e, low);
    rest = a.f + (more ? low + *more : low);
    return high;
  }
  const LogUnits units = {0x1.62e42fefa4p-1, -0x1.8432a1b0e2634p-43, 0x1.269621134cp-2, 0x1.b92783beb7677p-42};
  const V whole = log_whole(a, units, low), high = fast_two_sum(whole, a.f, error);
  rest = log_tail(a.f, a.f.like(1), low + error);
  if (more) rest = rest + *more;
  return high;
}

// The same as high + low, low being a rounding error of high; where high is infinite low is NaN.
template <LaneType V>
V log_two_parts(const LogArgument<V>& a, V& low) {
  V rest = a.f, sum = a.f;
  if (a.f.bits() == 32) {
    V error = a.f;
    const V whole = log_parts_f32<V>({a.exponent, a.scale, a.f, a.index}, base_e, rest);
    sum = fast_two_sum(whole, a.f, error);
    rest = error + rest;
  } else {
    sum = log_sum(a, rest);
  }
  const V high = fast_two_sum(sum, rest, low);
  return select(high == high, high, sum);
}

template <LaneType V>
V log_finish(const V& e, const V& high, const V& rest) {
  return e.bits() == 32 ? high + rest : select(abs(e) < e.like(infinity), high + rest, high);
}

// log(x). f32 0.77 ULP, f64 0.81 ULP, x > 0, subnormals included. log(+-0) = -inf, log(x < 0) = NaN, log(inf) = inf.
template <LaneType V>
V log(const V& x) {
  const auto a = log_argument(x);
  V rest = x;
  const V high = log_sum(a, rest);
  return log_finish(a.exponent, high, rest);
}

// The logarithm of an f64 in the base of the units; scale + scale_low is that of e.
template <LaneType V>
V log_scaled(const V& x, const LogUnits& units, const V& scale, const V& scale_low) {
  const auto a = log_argument(x);
  V low = x, sum_error = x;
  const V linear = a.f * scale, sum = fast_two_sum(log_whole(a, units, low), linear, sum_error);
  const V rest = fma(a.f, scale_low, fma(a.f, scale, -linear)) + (low + sum_error);
  return log_finish(a.exponent, sum, log_tail(a.f, scale, rest));
}

// log2(x). f32 0.87 ULP, f64 0.86 ULP; exact for powers of two. Special values as log.
template <LaneType V>
V log2(const V& x) {
  if (x.bits() == 32) return log_f32(x, base_2);
  return log_scaled(x, {1, 0, 0x1.a8ff97181p-2, 0x1.4bc302ffa76fbp-43}, x.like(0x1.71547652b82fep0), x.like(0x1.777d0ffda0d24p-56));
}

// log10(x). f32 0.98 ULP, f64 0.93 ULP. Special values as log.
template <LaneType V>
V log10(const V& x) {
  if (x.bits() == 32) return log_f32(x, base_10);
  return log_scaled(x, {0x1.34413509f8p-2, -0x1.80433b83b532ap-44, 0x1.ffbfc2bbcp-4, 0x1.e00dd60df12c3p-42}, x.like(0x1.bcb7b1526e50ep-2),
                    x.like(0x1.95355baaafad3p-57));
}

// log(u + c) + extra * ln2 for u >= 0 and c below a rounding error of u, or log(u) + extra * ln2 in the lanes of `alone`, where u is 0
// or past 2^60. The result is log_finish(exponent, high, rest).
template <LaneType V>
struct LogParts {
  V exponent, high, rest;
};

template <LaneType V>
LogParts<V> log_pair(const V& u, const V& c, const typename V::Mask& alone, const V& extra) {
  auto a = log_argument(u);
  // c in the scale of the mantissa.
  const V down = from_bits(to_bits(a.scale) - (to_bits(a.exponent + round_shift(u)) << fraction_bits(u)));
  const V lost = select(alone, u.like(0), c * down);
  V f_low = u, rest = u;
  a.f = fast_two_sum(a.f, lost, f_low);
  a.exponent = a.exponent + extra;
  const V high = log_sum(a, rest, &f_low);
  return {a.exponent, high, rest};
}

// log(1 + x). f32 0.77 ULP, f64 0.81 ULP, x > -1. log1p(-0) = -0, log1p(-1) = -inf, log1p(x < -1) = NaN.
template <LaneType V>
V log1p(const V& x) {
  const V one = x.like(1), zero = x.like(0), u = one + x;
  const auto y = log_pair(u, x - (u - one), !((u < x.like(0x1p60)) & (u > zero)), zero);
  return copysign(log_finish(y.exponent, y.high, y.rest), x);
}

// a log(b), and 0 for a = 0 whatever b is, NaN excepted. f32 0.76 ULP, f64 0.81 ULP on pairs of any sizes.
template <LaneType V>
V xlogy(const V& a, const V& b) {
  // The logarithm in two parts, whose product with a is NaN where it or a is infinite. A small a is scaled: the product with the
  // second part must not underflow.
  const auto tiny = abs(a) < constant(a, 0x1p-60, 0x1p-900);
  const V scaled = a * select(tiny, constant(a, 0x1p32, 0x1p64), a.like(1)), down = select(tiny, constant(a, 0x1p-32, 0x1p-64), a.like(1));
  V low = a;
  const V high = log_two_parts(log_argument(b), low), product = fma(scaled, high, scaled * low) * down;
  const V y = select(product == product, product, a * high);
  return select((a == a.like(0)) & (b == b), a.like(0), y);
}

}  // namespace weft::vecmath
