#pragma once
// Logarithms of floats by a table of sixteen reciprocals r of mantissas m in [1, 2): log(m) = -log(r) + log(1 + f), f = m r - 1
// exactly and at most 1/16. About 1 and 2 the reciprocals are 1 and 1/2, so that small logarithms keep their relative accuracy.
//
// exponent * two + high is exact, high and two being multiples of 2^-16 to 2^-18; all that is rounded before the last
// addition is below 1/16.
#include "lane.h"

namespace weft::vecmath {

inline constexpr double log_reciprocals[16] = {0x1p+0, 0x1.dp-1, 0x1.cp-1, 0x1.ap-1, 0x1.9p-1, 0x1.8p-1, 0x1.7p-1, 0x1.6p-1,
                                               0x1.5p-1, 0x1.4p-1, 0x1.38p-1, 0x1.28p-1, 0x1.2p-1, 0x1.18p-1, 0x1.1p-1, 0x1p-1};

// One base: log(2) in two parts, 1 / log(base), -log(r) in two parts, and (log(1 + f) - f / log(base)) / f^2.
struct LogBase {
  double two, two_low, unit;
  double high[16], low[16];
  double poly[4];
};

inline constexpr LogBase base_e = {
    0x1.62e4p-1, 0x1.7f7d1cp-20, 1,
    {0, 0x1.9338p-4, 0x1.1178p-3, 0x1.a94p-3, 0x1.f99p-3, 0x1.2696p-2, 0x1.522ap-2, 0x1.7fbp-2,
     0x1.af52p-2, 0x1.e148p-2, 0x1.fb36p-2, 0x1.188fp-1, 0x1.2696p-1, 0x1.3502p-1, 0x1.43dap-1, 0x1.62e4p-1},
    {0, -0x1.0d1536p-19, 0x1.d044fcp-20, -0x1.2c3752p-19, 0x1.c6cb3cp-19, 0x1.089a6ep-21, 0x1.c0e714p-19, -0x1.7109fap-20,
     0x1.2a4918p-19, 0x1.4344e4p-19, -0x1.d4217p-20, -0x1.bf0dc8p-21, 0x1.089a6cp-20, 0x1.15b3bp-18, -0x1.a0dcp-26, 0x1.7f7d1cp-20},
    {-0x1.fffffap-2, 0x1.55578cp-2, -0x1.004dfap-2, 0x1.8afde4p-3}};

inline constexpr LogBase base_2 = {
    1, 0, 0x1.715476p+0,
    {0, 0x1.22d8p-3, 0x1.8a88p-3, 0x1.32cp-2, 0x1.6cbp-2, 0x1.a9p-2, 0x1.e7ep-2, 0x1.14c6p-1,
     0x1.3722p-1, 0x1.5b2cp-1, 0x1.6dep-1, 0x1.94c2p-1, 0x1.a9p-1, 0x1.bdcep-1, 0x1.d338p-1, 0x1p+0},
    {0, 0x1.6e155ap-18, 0x1.80abfcp-19, -0x1.1c8f12p-22, 0x1.ed0cbap-19, -0x1.a39fbep-20, -0x1.40358ep-19, -0x1.3e032ep-18,
     0x1.5db83ap-20, 0x1.ed0cbap-20, -0x1.eac382p-20, 0x1.0e9258p-18, -0x1.a39fbep-19, 0x1.3b992cp-18, 0x1.20a6dep-21, 0},
    {-0x1.715472p-1, 0x1.ec73dp-2, -0x1.71c4eap-2, 0x1.1cebb8p-2}};

inline constexpr LogBase base_10 = {
    0x1.3441p-2, 0x1.a84fbcp-21, 0x1.bcb7b2p-2,
    {0, 0x1.5e38p-5, 0x1.db1p-5, 0x1.715cp-4, 0x1.b72p-4, 0x1.ffcp-4, 0x1.25bap-3, 0x1.4d44p-3,
     0x1.76a4p-3, 0x1.a20ap-3, 0x1.b88ep-3, 0x1.e76p-3, 0x1.ffcp-3, 0x1.0c67p-2, 0x1.194bp-2, 0x1.3441p-2},
    {0, 0x1.66b7eap-21, 0x1.ed766ap-21, 0x1.0ce368p-20, 0x1.cd1716p-20, -0x1.ea21c4p-23, 0x1.042b5ep-20, -0x1.f6296ep-25,
     0x1.72edf8p-21, -0x1.5ec10cp-21, 0x1.9f3e5ep-21, 0x1.24046cp-19, -0x1.ea21c8p-22, 0x1.1d6abcp-22, 0x1.def7b4p-21, 0x1.a84fbcp-21},
    {-0x1.bcb7acp-3, 0x1.287c62p-3, -0x1.bd3fcap-4, 0x1.571d0cp-4}};

// x = 2^exponent (1 + f) / reciprocal[index]
template <LaneType V>
struct LogArgumentF32 {
  V exponent, reciprocal, f;
  typename V::Int index;
};

template <LaneType V>
LogArgumentF32<V> log_argument_f32(const V& x) {
  const auto split = split_power(x, 1);
  const auto index = shift_right_logical(to_bits(split.mantissa), 19);
  const V reciprocal = table_lookup({log_reciprocals, 16, true}, index);
  return {split.exponent, reciprocal, fma(split.mantissa, reciprocal, x.like(-1)), index};
}

// The logarithm is high + (f * unit + low); returns high. An infinite exponent makes both infinite, with one sign, since two_low is
// not negative.
template <LaneType V>
V log_parts_f32(const LogArgumentF32<V>& a, const LogBase& base, V& low) {
  const V& f = a.f;
  low = table_lookup({base.low, 16, true}, a.index);
  if (base.two_low != 0) low = fma(a.exponent, f.like(base.two_low), low);
  const V q = fma(fma(fma(f.like(base.poly[3]), f, f.like(base.poly[2])), f, f.like(base.poly[1])), f, f.like(base.poly[0]));
  low = fma(f * f, q, low);
  return fma(a.exponent, f.like(base.two), table_lookup({base.high, 16, true}, a.index));
}

template <LaneType V>
V log_f32(const V& x, const LogBase& base) {
  const auto a = log_argument_f32(x);
  V low = x;
  const V high = log_parts_f32(a, base, low);
  return high + (base.unit == 1 ? a.f + low : fma(a.f, x.like(base.unit), low));
}

}  // namespace weft::vecmath
