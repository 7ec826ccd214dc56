#pragma once
// erf, erfc.
#include "erf_tables.h"
#include "erfc_table.h"
#include "exp.h"

namespace weft::vecmath {

// erf(x). f32 0.76 ULP, f64 0.74 ULP, all x. erf(-0) = -0, erf(+-inf) = +-1.
template <LaneType V>
V erf(const V& x) {
  const V a = abs(x);
  if (x.bits() == 32) {
    const V near = min_raw(x.like(3.9296875), a);
    return with_sign_of(x, piecewise(near, to_bits(fma(near, x.like(0.953125), x.like(1.25))) >> 20, erf_f32));
  }
  const V near = min_raw(x.like(5.984375), a);
  return with_sign_of(x, piecewise(near, to_bits(fma(near, x.like(1 / 0.375), x.like(-0.5)) + round_shift(x)), erf_f64));
}

// exp(-x^2) * (g + g_error) = (value + error) * 2^n.
template <LaneType V>
struct GaussProduct {
  V value, error;
  Power<V> power;
};

template <LaneType V>
GaussProduct<V> times_gauss(const V& x, const V& g, const V& g_error) {
  const V square = x * x, square_error = fma(x, x, -square);
  const auto e = split_exp(-square);
  const V r_error = ((e.high - e.r) - e.n_low) - square_error;
  V p_error = x, u_error = x;
  const V u = fast_two_sum(e.r, e.r * e.r * exp_tail(e.r), u_error), p = fast_two_sum(x.like(1), u, p_error);
  const V product = p * g;
  return {product, fma(p, g, -product) + fma(fma(r_error, p, p_error + u_error), g, p * g_error), e.power()};
}

// exp(-x^2) times a polynomial for each interval of a = |x|; below zero 2 - that.
template <LaneType V, int terms>
V erfc_pieces(const V& x, const V& a, const typename V::Int& index, const double (&table)[terms][16]) {
  TableRows<V, terms, 16> row(table, index, false);
  const V t = a - row(0);
  const V sum = poly(t, terms - 3, [&](int k) { return row(k + 3); });
  V g_error = x;
  const V value = row(1), g = fast_two_sum(value, sum * t, g_error);
  const auto y = times_gauss(a, g, g_error + row(2));
  const V right = scale_down(y.value + y.error, y.power);
  return select(x < x.like(0), x.like(2) - right, right);
}

// 1 - erf(x). f32 0.91 ULP, f64 1.04 ULP, all x, subnormal results included. erfc(-inf) = 2, erfc(inf) = +0.
template <LaneType V>
V erfc(const V& x) {
  const V a = min_raw(constant(x, 10.25, 27.5), abs(x)), origin = constant(x, 1, 2);
  const auto index = ((to_bits(a + origin) - to_bits(origin)) >> (fraction_bits(x) - 2)) & x.int_like(15);
  return x.bits() == 32 ? erfc_pieces(x, a, index, erfc_f32) : erfc_pieces(x, a, index, erfc_f64);
}

}  // namespace weft::vecmath
