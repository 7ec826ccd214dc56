// The float functions of ops.def on Terms: vecmath underneath.
#pragma once
#include "emit_term.h"
#include "vecmath.h"

namespace weft::lanes {

inline Term sqrt(Term a) { return a.from(weft::sqrt(a.lane())); }
inline Term exp(Term a) { return a.from(vecmath::exp(a.lane())); }
inline Term expm1(Term a) { return a.from(vecmath::expm1(a.lane())); }
inline Term log(Term a) { return a.from(vecmath::log(a.lane())); }
inline Term log1p(Term a) { return a.from(vecmath::log1p(a.lane())); }
inline Term sin(Term a) { return a.from(vecmath::sin(a.lane())); }
inline Term cos(Term a) { return a.from(vecmath::cos(a.lane())); }
inline Term tan(Term a) { return a.from(vecmath::tan(a.lane())); }
inline Term tanh(Term a) { return a.from(vecmath::tanh(a.lane())); }
inline Term sigmoid(Term a) { return a.from(vecmath::sigmoid(a.lane())); }
inline Term softplus(Term a) { return a.from(vecmath::softplus(a.lane())); }
inline Term erf(Term a) { return a.from(vecmath::erf(a.lane())); }
inline Term erfc(Term a) { return a.from(vecmath::erfc(a.lane())); }
inline Term exp2(Term a) { return a.from(vecmath::exp2(a.lane())); }
inline Term log2(Term a) { return a.from(vecmath::log2(a.lane())); }
inline Term log10(Term a) { return a.from(vecmath::log10(a.lane())); }
inline Term asin(Term a) { return a.from(vecmath::asin(a.lane())); }
inline Term acos(Term a) { return a.from(vecmath::acos(a.lane())); }
inline Term atan(Term a) { return a.from(vecmath::atan(a.lane())); }
inline Term sinh(Term a) { return a.from(vecmath::sinh(a.lane())); }
inline Term cosh(Term a) { return a.from(vecmath::cosh(a.lane())); }
inline Term asinh(Term a) { return a.from(vecmath::asinh(a.lane())); }
inline Term acosh(Term a) { return a.from(vecmath::acosh(a.lane())); }
inline Term atanh(Term a) { return a.from(vecmath::atanh(a.lane())); }
inline Term cbrt(Term a) { return a.from(vecmath::cbrt(a.lane())); }
inline Term lgamma(Term a) { return a.from(vecmath::lgamma(a.lane())); }
inline Term digamma(Term a) { return a.from(vecmath::digamma(a.lane())); }
inline Term trigamma(Term a) { return a.from(vecmath::trigamma(a.lane())); }

inline Term hypot(Term a, Term b) { return a.from(vecmath::hypot(a.lane(), b.lane())); }
inline Term atan2(Term a, Term b) { return a.from(vecmath::atan2(a.lane(), b.lane())); }
inline Term logaddexp(Term a, Term b) { return a.from(vecmath::logaddexp(a.lane(), b.lane())); }
inline Term xlogy(Term a, Term b) { return a.from(vecmath::xlogy(a.lane(), b.lane())); }
inline Term nextafter(Term a, Term b) { return a.from(vecmath::nextafter(a.lane(), b.lane())); }
// Of f16 and bf16, held as f32: the one op that is not computed as if they were f32.
inline Term next_half(Term a, Term b, DType half) {
  return a.from(half == DType::f16 ? vecmath::nextafter_f16(a.lane(), b.lane()) : vecmath::nextafter_bf16(a.lane(), b.lane()));
}

}  // namespace weft::lanes
