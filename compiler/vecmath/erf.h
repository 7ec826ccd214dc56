#pragma once
// erf, erfc.
#include "erf_tables.h"
#include "exp.h"

namespace weft::vecmath {

// Sixteen intervals of equal width.
template <LaneType V, int terms>
V even_pieces(const V& a, double width, const double (&table)[terms][16]) {
  const auto index = to_bits(fma(a, a.like(1 / width), a.like(-0.5)) + round_shift(a)) & a.int_like(15);
  return piecewise(a, index, 0, table, false);
}

// erf(x). f32 1.00 ULP, f64 0.92 ULP, all x. erf(-0) = -0, erf(+-inf) = +-1.
template <LaneType V>
V erf(const V& x) {
  const V a = abs(x);
  if (x.bits() == 32) return copysign(even_pieces(min_raw(x.like(3.9296875), a), 0.24609375, erf_f32), x);
  return copysign(even_pieces(min_raw(x.like(5.984375), a), 0.375, erf_f64), x);
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

// erfc for f32: exp(-x^2) times a polynomial for each of 14 intervals of |x|.
template <LaneType V>
V erfc_f32(const V& x) {
  const V a = min_raw(x.like(10.25), abs(x)), one = x.like(1);
  const auto index = ((to_bits(a + one) - to_bits(one)) >> 21) & x.int_like(15);
  const auto row = [&](int k) { return table_lookup(LaneTable{erfc_pieces[k], 16}, index); };
  const V t = a - row(0);
  V sum = row(8);
  for (int k = 7; k > 2; --k) sum = fma(sum, t, row(k));
  V g_error = x;
  const V g = fast_two_sum(row(1), sum * t, g_error);
  const auto y = times_gauss(a, g, g_error + row(2));
  const V right = scale_down(y.value + y.error, y.power);
  return select(x < x.like(0), x.like(2) - right, right);
}

// erfc for x >= 0.46875, f64: exp(-x^2) * g(t) / (1 + 2 x), t = (x - 4) / (x + 4), every step with its error.
template <LaneType V>
V erfc_tail(const V& x) {
  const V one = x.like(1), k = x.like(4), a = min_raw(x.like(27.5), x);
  const V top = a - k, d = a + k, t = top / d;
  // What t lost counts near its left end, where g is steepest: g' is about the larger of these.
  const V t_error = fma(-t, a - (d - k), fma(-t, d, top) + (a - (top + k))) * rough_inverse(d);
  const V slope = max_raw(x.like(-0.1), fma(t, x.like(-1.63), x.like(-0.766)));
  const V q = horner(t, {-0x1.aa9c415679e6fp-55, -0x1.1df1ad154a28fp-3, 0x1.f7f5df66fd614p-7, 0x1.16ecefcfa5451p-4,
                         -0x1.9ddb23c3e7facp-4, 0x1.7fee004e10b48p-4, -0x1.0fb06dfe68585p-4, 0x1.3079edf6b3552p-5,
                         -0x1.0962387e15e55p-6, 0x1.49c6727b73e75p-8, -0x1.8d4aa1236d9a5p-11, -0x1.a1df21f06e2cep-13,
                         0x1.3be0d191ade92p-13, -0x1.9958ef6370e2p-16, -0x1.78a3068a867c3p-17, 0x1.7f1b3bb653373p-18,
                         0x1.418441f74bb1dp-22, -0x1.b9b2d4e19d18ap-21, 0x1.2051ec3fd0cf6p-24, 0x1.c69b154317b39p-24,
                         -0x1.a55b7f58bf717p-27, -0x1.6a4483eeb3a23p-27});
  V g_error = x;
  const V g = fast_two_sum(x.like(0x1.3ba5916e9fd7fp0), q, g_error);
  const auto product = times_gauss(a, g, fma(t_error, slope, g_error));
  V n_error = x;
  const V n = fast_two_sum(product.value, product.error, n_error);
  const V twice = a + a, w = one + twice, w_error = one - (w - twice);
  const V y = n / w;
  const V correction = fma(-y, w_error, fma(-y, w, n) + n_error) * rough_inverse(w);
  return scale_down(y + correction, product.power);
}

// 1 - erf(x). f32 0.91 ULP, f64 1.19 ULP, all x, subnormal results included. erfc(-inf) = 2, erfc(inf) = +0.
template <LaneType V>
V erfc(const V& x) {
  if (x.bits() == 32) return erfc_f32(x);
  return select(x < x.like(0.46875), x.like(1) - erf(x), erfc_tail(x));
}

}  // namespace weft::vecmath
