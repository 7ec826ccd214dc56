#pragma once
// Angles less multiples of pi or pi/2.
#include "trig_tables.h"

namespace weft::vecmath {

// Multiples of pi * scale are taken off: the integers plus `offset`.
struct Multiples {
  double scale, offset;
};

// x - (turns + offset) * pi * scale = high - low; of `turns` the two lowest bits count.
template <LaneType V>
struct Reduced {
  V high, low;
  typename V::Int turns;
};

// ulp(2).
template <LaneType V>
double turn_unit(const V& x) {
  return x.bits() == 32 ? 0x1p-22 : 0x1p-51;
}

// The multiple of pi * scale next to x, counted by the lowest bits of a number just above 2: `bits`; `count` holds it times turn_unit.
template <LaneType V>
struct Turns {
  V count;
  typename V::Int bits;
  typename V::Int past;  // not 0: |multiple| >= 2^11 (f32) or 2^28, or x is no number: the number has another exponent or higher bits set
};

// Without an absolute value: what holds for x holds for -x. `ahead` is added to `bits`, not to `count`.
template <LaneType V>
Turns<V> count_turns(const V& x, double scale, int ahead) {
  const double ulp = turn_unit(x), zero = 2 + (x.bits() == 32 ? 0x1p-11 : 0x1p-23);
  const V turned = fma(x, x.like(0x1.45f306dc9c883p-2 / scale * ulp), x.like(zero + ahead * ulp));
  const auto others = x.int_like(x.bits() == 32 ? 0xbffff000 : 0xbfffffffe0000000);
  return {turned - x.like(zero + ahead * ulp), to_bits(turned), to_bits(turned) & others};
}

// x less n = count / unit multiples, |n| < 2^11 (f32) or 2^29 (f64). pi in three parts: x less n times the first is exact, or nearly so for
// an offset; what the second loses goes to `low`. -0 stays -0.
template <LaneType V>
Reduced<V> reduce(const V& x, const Multiples& of, const V& count, double unit, const typename V::Int& turns) {
  const bool f32 = x.bits() == 32;
  const double scale = of.scale / unit;
  const V upper = x.like((f32 ? -0x1.921fb4p1 : -0x1.921fb54442d18p1) * scale), part = x.like((f32 ? 0x1.444p-23 : 0x1.1a62633145c06p-53) * scale);
  const V rest = x.like((f32 ? 0x1.68c234p-38 : 0x1.c1cd129024e08p-106) * scale), first = fma(count, upper, x);
  if (f32) {  // count * part is exact, so `high` and `low` are
    const V middle = count * part, high = first - middle;
    return {high, fma(count, rest, middle - (first - high)), turns};
  }
  const V middle = count * part, high = first - middle;
  V low = (middle - (first - high)) + fma(count, part, -middle);
  if (of.offset != 0) low = low - (fma(count, upper, -first) + x);
  return {high, fma(count, rest, low), turns};
}

// |x| for any x past those. 2/pi mod 4 of the power of two in x comes from a table as four parts; its significand times these is summed
// exactly where it cancels. Follows Payne and Hanek, in floating point. NaN for an infinity.
template <LaneType V>
Reduced<V> reduce_huge(const V& x, const Multiples& of) {
  const bool f32 = x.bits() == 32;
  const V a = min_raw(constant(x, 0x1.fffffep127, 0x1.fffffffffffffp1023), abs(x));
  const int fraction = fraction_bits(a), log_step = f32 ? 3 : 4;
  const auto exponent = (to_bits(a) >> fraction) - a.int_like(exponent_bias(a) + fraction + 1);
  const auto zero = a.int_like(0), index = select(exponent > zero, exponent >> log_step, zero);
  const V m = from_bits(to_bits(a) - (index << (fraction + log_step)));

  V product[4] = {m, m, m, m}, error[4] = {m, m, m, m};
  for (int k = 0; k < 4; ++k) {
    const V part = table_lookup(f32 ? LaneTable{two_over_pi_f32[k], 13} : LaneTable{two_over_pi_f64[k], 61}, index);
    product[k] = m * part;
    error[k] = fma(m, part, -product[k]);
  }
  const auto mod4 = [](const V& t) { return fma(t.like(-4), round_even(t * t.like(0.25)), t); };
  V e0 = a, e1 = a, e2 = a, e3 = a, e4 = a, e5 = a;
  V sum = two_sum(mod4(product[0]), mod4(error[0]), e0);
  sum = two_sum(sum, mod4(product[1]), e1);
  const V turns = round_even(fma(sum, a.like(0.5 / of.scale), a.like(-of.offset)));
  sum = two_sum(fma(turns + a.like(of.offset), a.like(-2 * of.scale), sum), error[1], e2);
  sum = two_sum(sum, product[2], e3);
  sum = two_sum(sum, e0, e4);
  sum = two_sum(sum, e1, e5);
  const V rest = ((e2 + e3) + (e4 + e5)) + (error[2] + product[3]);
  V low = rest;
  const V high = fast_two_sum(sum, rest, low);

  const V half_pi = constant(a, 0x1.921fb6p0, 0x1.921fb54442d18p0);
  const V half_pi_low = constant(a, -0x1.777a5cp-25, 0x1.1a62633145c07p-54);
  const V r = high * half_pi;
  const V r_low = fma(high, half_pi, -r) + fma(high, half_pi_low, low * half_pi);
  const V angle = fast_two_sum(r, r_low, low);
  return {angle + (x - x), -low, to_bits(turns + round_shift(a))};
}

}  // namespace weft::vecmath
