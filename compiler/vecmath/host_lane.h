#pragma once
// The lane model of one plain float or double (see lane.h). Used by tests and by nothing that needs speed. Include only in
// files compiled without contraction (-ffp-contract=off).
#include "lane.h"

#include <bit>
#include <cmath>
#include <type_traits>

namespace weft {

struct HostMask {
  bool v;
  friend HostMask operator&(HostMask a, HostMask b) { return {a.v && b.v}; }
  friend HostMask operator|(HostMask a, HostMask b) { return {a.v || b.v}; }
  friend HostMask operator!(HostMask a) { return {!a.v}; }
};

template <class T>
struct HostInt {
  using Signed = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Unsigned = std::make_unsigned_t<Signed>;
  Signed v;

  static HostInt wrap(Unsigned u) { return {static_cast<Signed>(u)}; }
  Unsigned u() const { return static_cast<Unsigned>(v); }
  friend HostInt operator+(HostInt a, HostInt b) { return wrap(a.u() + b.u()); }
  friend HostInt operator-(HostInt a, HostInt b) { return wrap(a.u() - b.u()); }
  friend HostInt operator&(HostInt a, HostInt b) { return {a.v & b.v}; }
  friend HostInt operator|(HostInt a, HostInt b) { return {a.v | b.v}; }
  friend HostInt operator^(HostInt a, HostInt b) { return {a.v ^ b.v}; }
  friend HostInt operator<<(HostInt a, int k) { return wrap(a.u() << k); }
  friend HostInt operator>>(HostInt a, int k) { return {a.v >> k}; }
  friend HostInt shift_right_logical(HostInt a, int k) { return wrap(a.u() >> k); }
  friend HostMask operator<(HostInt a, HostInt b) { return {a.v < b.v}; }
  friend HostMask operator>(HostInt a, HostInt b) { return {a.v > b.v}; }
  friend HostMask operator==(HostInt a, HostInt b) { return {a.v == b.v}; }
  friend HostInt select(HostMask m, HostInt a, HostInt b) { return m.v ? a : b; }
};

template <class T>
struct HostLane {
  using Int = HostInt<T>;
  using Mask = HostMask;
  T v;

  static constexpr int bits() { return 8 * sizeof(T); }
  HostLane like(double constant) const { return {static_cast<T>(constant)}; }
  Int int_like(int64_t constant) const { return {static_cast<typename Int::Signed>(constant)}; }

  friend HostLane operator+(HostLane a, HostLane b) { return {a.v + b.v}; }
  friend HostLane operator-(HostLane a, HostLane b) { return {a.v - b.v}; }
  friend HostLane operator*(HostLane a, HostLane b) { return {a.v * b.v}; }
  friend HostLane operator/(HostLane a, HostLane b) { return {a.v / b.v}; }
  friend HostLane operator-(HostLane a) { return {-a.v}; }
  friend HostMask operator<(HostLane a, HostLane b) { return {a.v < b.v}; }
  friend HostMask operator<=(HostLane a, HostLane b) { return {a.v <= b.v}; }
  friend HostMask operator>(HostLane a, HostLane b) { return {a.v > b.v}; }
  friend HostMask operator>=(HostLane a, HostLane b) { return {a.v >= b.v}; }
  friend HostMask operator==(HostLane a, HostLane b) { return {a.v == b.v}; }
  friend HostMask operator!=(HostLane a, HostLane b) { return {a.v != b.v}; }
  friend HostLane fma(HostLane a, HostLane b, HostLane c) { return {std::fma(a.v, b.v, c.v)}; }
  friend HostLane sqrt(HostLane a) { return {std::sqrt(a.v)}; }
  friend HostLane abs(HostLane a) { return {std::fabs(a.v)}; }
  friend HostLane copysign(HostLane a, HostLane sign) { return {std::copysign(a.v, sign.v)}; }
  friend HostLane floor(HostLane a) { return {std::floor(a.v)}; }
  friend HostLane trunc(HostLane a) { return {std::trunc(a.v)}; }
  friend HostLane round_even(HostLane a) { return {std::nearbyint(a.v)}; }
  friend HostLane min_raw(HostLane a, HostLane b) { return {a.v < b.v ? a.v : b.v}; }
  friend HostLane max_raw(HostLane a, HostLane b) { return {a.v > b.v ? a.v : b.v}; }
  friend HostLane select(HostMask m, HostLane a, HostLane b) { return m.v ? a : b; }
  friend Int to_bits(HostLane a) { return {std::bit_cast<typename Int::Signed>(a.v)}; }
  friend HostLane scale_by_power(HostLane p, const Power<HostLane>& power) { return portable::scale_by_power(p, power); }
  friend HostLane scale_down(HostLane p, const Power<HostLane>& power) { return portable::scale_down(p, power); }
  friend MantissaExponent<HostLane> split_power(HostLane x, double least) { return portable::split_power(x, least); }
};

template <class T>
HostLane<T> from_bits(HostInt<T> i) {
  return {std::bit_cast<T>(i.v)};
}

template <class T>
HostLane<T> table_lookup(const LaneTable& table, HostInt<T> i) {
  return {static_cast<T>(table.values[table.wraps ? i.v & (table.size - 1) : i.v])};
}

template <class T>
std::array<HostLane<T>, 2> lookup_pair(const LaneTable& first, const LaneTable& second, HostInt<T> i) {
  return {table_lookup(first, i), table_lookup(second, i)};
}

template <class T>
bool loads_pairs(HostInt<T>) {
  return false;
}

template <class T, class Value, class Slow>
Value rare(HostInt<T> bits, const Value& fast, Slow slow) {
  return bits.v ? slow() : fast;
}
template <class Value, class Slow>
Value rare(HostMask mask, const Value& fast, Slow slow) {
  return mask.v ? slow() : fast;
}
template <class Where, class Value, class T, class Slow>
Value rare(Where where, const Value& fast, HostLane<T> x, Slow slow) {
  return rare(where, fast, [&] { return slow(x); });
}

}  // namespace weft
