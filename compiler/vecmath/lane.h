#pragma once
// A *lane type* is what the vector functions in vecmath.h are written over: one value per lane, all lanes float or all double.
// Two models exist. `Lane` (llvm_lane.h) emits LLVM instructions for a vector of any width, a scalar included. `HostLane<T>`
// (host_lane.h) computes on a plain float or double, so tests run the very same formulas with no JIT.
//
// A model V provides
//   V::Int, V::Mask            integer lanes of the same size (two's complement, wrapping), one truth value per lane
//   x.bits()                   32 or 64: every function handles both, by `if (x.bits() == 32)`
//   x.like(double)             a constant of x's type, rounded to nearest
//   x.int_like(int64_t)        an integer constant of the same lane size, truncated
//   + - * / unary -            IEEE, round to nearest even; nothing is ever contracted or reassociated behind our back
//   < <= > >= == !=            Mask; ordered, except that != is true for NaN
//   fma(a, b, c)               one rounding
//   sqrt abs copysign floor trunc round_even
//   min_raw(a, b)              a < b ? a : b, one instruction, hence b when either is NaN; so min_raw(bound, x) keeps a NaN x
//   max_raw(a, b)              a > b ? a : b
//   select(mask, a, b)         on V and on Int
//   to_bits(V), from_bits(Int) reinterpretation
//   Int: + - & | ^, << >> by a constant (>> keeps the sign), shift_right_logical(i, k), < > ==; Mask: & | !
//   table_lookup(table, i)     table.values[i], i in [0, table.size), as a V
//   lookup_pair(t, u, i)       both of two tables of one size
//   loads_pairs(i)             whether that costs less than one by one
//   scale_by_power(p, n)       p * 2^n rounded once, subnormal results included; 1/2 <= p < 2; n, a Power, is integral, |n| <= 250 or 2000
//   scale_down(p, n)           the same for n <= 0, above -170 or -1130, and any p below 2
//   split_power(x, least)      {m, e} with x = m * 2^e, least <= m < 2 least, for any x > 0, subnormals included. least: 0.75 or 1.
//                              m = 1, e = -inf for x = 0 and e = +inf for x = inf; e = NaN for NaN; m = NaN and any e for x < 0
//   rare(mask, fast, slow)     `fast`, but slow() in the lanes of the mask; slow() runs only if some lane is set.
//                              fast: a V, or a std::array of V; slow returns the same type
//   rare(bits, fast, slow)     the same for lanes where bits (an Int) are not 0: one test for several registers, so cheaper
//   rare(.., fast, x, slow)    the same with slow(x), of x alone: code for two registers, which runs for all of them. For long code.
//
// Every operation works lane by lane and is exactly defined, so a function gives the same bits at every vector width. This is
// why approximate reciprocals, whose bits depend on the CPU, are not in the list.
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>

namespace weft {

// Constants for table_lookup. Values of a float table must be representable in float. Static storage. Where it wraps, the index counts
// modulo the size, a power of two.
struct LaneTable {
  const double* values;
  int size;
  bool wraps = false;
};

// An exponent, and `shifted`: the same in its low bits, in two's complement, above them those of round_shift.
template <class V>
struct Power {
  V n, shifted;
};

template <class V>
struct MantissaExponent {
  V mantissa, exponent;
};

template <class V>
concept LaneType = requires(const V x, const typename V::Int i, const typename V::Mask m, const LaneTable& table) {
  { x.bits() } -> std::convertible_to<int>;
  { x.like(1.0) } -> std::same_as<V>;
  { x.int_like(int64_t{1}) } -> std::same_as<typename V::Int>;
  { x + x * x - x / -x } -> std::same_as<V>;
  { x < x } -> std::same_as<typename V::Mask>;
  { fma(x, x, x) } -> std::same_as<V>;
  { min_raw(x, max_raw(x, x)) } -> std::same_as<V>;
  { select(m & (m | !m), x, x) } -> std::same_as<V>;
  { from_bits(to_bits(x)) } -> std::same_as<V>;
  { (i + i - (i & i)) << 1 } -> std::same_as<typename V::Int>;
  { table_lookup(table, i) } -> std::same_as<V>;
  { lookup_pair(table, table, i) } -> std::same_as<std::array<V, 2>>;
  { loads_pairs(i) } -> std::same_as<bool>;
  { scale_by_power(x, Power<V>{x, x}) } -> std::same_as<V>;
  { scale_down(x, Power<V>{x, x}) } -> std::same_as<V>;
  { split_power(x, 0.75) } -> std::same_as<MantissaExponent<V>>;
};

namespace portable {

// Layout of the IEEE type of a lane.
template <class V>
int fraction_bits(const V& x) {
  return x.bits() == 32 ? 23 : 52;
}
template <class V>
int exponent_bias(const V& x) {
  return x.bits() == 32 ? 127 : 1023;
}
// 1.5 * 2^fraction: adding it rounds to an integer, which then sits in the low bits, in two's complement.
template <class V>
V round_shift(const V& x) {
  return x.like(x.bits() == 32 ? 0x1.8p23 : 0x1.8p52);
}

// Models without an instruction for these use the following; a model that has one must give the same bits.

// 2^(n + k), a normal number.
template <class V>
V power_of_two(const Power<V>& power, const typename V::Int& k) {
  return from_bits((to_bits(power.shifted) << fraction_bits(power.n)) + k);
}
template <class V>
typename V::Int biased(const V& x, int k) {
  return x.int_like(int64_t{exponent_bias(x) + k} << fraction_bits(x));
}

// Two factors, since 2^n itself may be out of range: 2^(n + k) and 2^-k, with k of the other sign than n. The first product is exact, so
// there is one rounding.
template <class V>
V scale_by_power(const V& p, const Power<V>& power) {
  const int k = p.bits() == 32 ? 125 : 1021;
  const auto small = to_bits(power.n) < p.int_like(0);
  return p * power_of_two(power, select(small, biased(p, k), biased(p, -k))) * from_bits(select(small, biased(p, -k), biased(p, k)));
}

// The first product is exact, or so small that the second is zero.
template <class V>
V scale_down(const V& p, const Power<V>& power) {
  const int k = p.bits() == 32 ? 64 : 128;
  return p * power_of_two(power, biased(p, k)) * from_bits(biased(p, -k));
}

// Of any x.
template <class V>
MantissaExponent<V> split_any_power(const V& x, double least) {
  const bool f32 = x.bits() == 32;
  const int fraction = fraction_bits(x), lift = f32 ? 32 : 64;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto tiny = x < x.like(f32 ? 0x1p-126 : 0x1p-1022);
  const auto bits = to_bits(select(tiny, x * x.like(f32 ? 0x1p32 : 0x1p64), x));
  const auto power = (bits - to_bits(x.like(least))) >> fraction;
  const V shift = round_shift(x), whole = from_bits(to_bits(shift) + power) - select(tiny, shift + x.like(lift), shift);
  const auto zero = x == x.like(0), infinite = !(x < x.like(inf));
  const V mantissa = select(zero | infinite, x.like(1), from_bits(bits - (power << fraction)));
  return {select(x < x.like(0), x.like(nan), mantissa), select(zero, x.like(-inf), select(infinite, x, whole))};
}

// Of normal numbers above zero; others are rare.
template <class V>
MantissaExponent<V> split_power(const V& x, double least) {
  const auto bits = to_bits(x), power = (bits - to_bits(x.like(least))) >> fraction_bits(x);
  // An integer k near zero as a float: k + 1.5 * 2^fraction has k in its low bits.
  const V shift = round_shift(x);
  const std::array<V, 2> parts{from_bits(bits - (power << fraction_bits(x))), from_bits(to_bits(shift) + power) - shift};
  // Above the first normal number by less than infinity is: neither that distance nor it and what is left to 2^31 reaches the sign.
  const auto above = bits - (x.int_like(1) << fraction_bits(x)), past = above + (x.int_like(2) << fraction_bits(x));
  const std::array<V, 2> all = rare((above | past) & to_bits(-x.like(0)), parts, x, [&](const V& any) {
    const auto split = split_any_power(any, least);
    return std::array<V, 2>{split.mantissa, split.exponent};
  });
  return {all[0], all[1]};
}

}  // namespace portable
}  // namespace weft
