#pragma once
// log and its relatives: log, log1p, softplus.
#include "exp.h"

namespace weft::vecmath {

// e * ln2 + log(1 + f) for f in [-1/4, 1/2], e integral or infinite (the result is then e too); NaN if
// either is.
template <LaneType V>
V log_sum(const V& e, const V& f) {
  // high + low = e * ln2 + f exactly but for the last term of ln2.
  const V ln2 = constant(f, 0x1.62e4p-1, 0x1.62e42fefa4p-1);
  const V high = fma(e, ln2, f);
  const V low = fma(e, constant(f, 0x1.7f7d1cp-20, -0x1.8432a1b0e2634p-43), fma(e, ln2, -high) + f);
  V rest = low;
  if (f.bits() == 32) {
    const V q = poly(f, {-0.5, 0x1.555558p-2, -0x1.00007p-2, 0x1.9998aep-3, -0x1.551afap-3, 0x1.244558p-3, -0x1.046c08p-3,
                         0x1.e08da6p-4, -0x1.7a6c8cp-4, 0x1.3cf364p-5});
    rest = fma(f * f, q, low);
  } else {
    // log(1 + f) = 2 atanh(s) = f - s * (f - z q(z))
    const V s = f / (f + f.like(2)), z = s * s;
    const V q = poly(z, {0x1.555555555554fp-1, 0x1.999999999c187p-2, 0x1.24924921e32dcp-2, 0x1.c71c7490dc5dap-3,
                         0x1.745c4a9550931p-3, 0x1.3b35ca073b0ddp-3, 0x1.0dcaf7bdbe74fp-3, 0x1.1b85cdaa668e7p-3});
    rest = fma(s, fma(z, q, -f), low);
  }
  return select(abs(e) < f.like(infinity), high + rest, high);
}

template <LaneType V>
V log(const V& x) {
  const auto split = split_power(x);
  return log_sum(split.exponent, split.mantissa - x.like(1));
}

template <LaneType V>
V log1p(const V& x) {
  const V one = x.like(1), u = one + x;
  const auto split = split_power(u);
  // What rounding u lost, in the scale of the mantissa. Past 2^60 it no longer matters (and is NaN at infinity).
  const int fraction = fraction_bits(x);
  const V down = from_bits(to_bits(one) - (to_bits(split.exponent + round_shift(x)) << fraction));
  const V lost = select(x < x.like(0x1p60), (x - (u - one)) * down, x.like(0));
  return copysign(log_sum(split.exponent, (split.mantissa - one) + lost), x);
}

template <LaneType V>
V softplus(const V& x) {
  return max_raw(x.like(0), x) + log1p(exp_nonpositive(-abs(x)));
}

}  // namespace weft::vecmath
