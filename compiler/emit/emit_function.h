// The float functions of ops.def on Terms: vecmath underneath, or vecmath::fast.
#pragma once
#include "emit_term.h"
#include "vecmath/fast.h"
#include "vecmath/vecmath.h"

namespace weft::lanes {

inline Term sqrt(Term a) { return a.from(weft::sqrt(a.lane())); }
#define WEFT_FUNCTION_1(name) \
  inline Term name(Term a) { return a.from(a.fast ? vecmath::fast::name(a.lane()) : vecmath::name(a.lane())); }
#define WEFT_FUNCTION_2(name) \
  inline Term name(Term a, Term b) { return a.from(a.fast ? vecmath::fast::name(a.lane(), b.lane()) : vecmath::name(a.lane(), b.lane())); }
#include "vecmath/functions.def"
inline Term float_power(Term a, Term b) { return a.from(a.fast ? vecmath::fast::pow(a.lane(), b.lane()) : vecmath::pow(a.lane(), b.lane())); }
inline Term nextafter(Term a, Term b) { return a.from(vecmath::nextafter(a.lane(), b.lane())); }
// Of f16 and bf16, held as f32: the one op that is not computed as if they were f32.
inline Term next_half(Term a, Term b, DType half) {
  return a.from(half == DType::f16 ? vecmath::nextafter_f16(a.lane(), b.lane()) : vecmath::nextafter_bf16(a.lane(), b.lane()));
}

}  // namespace weft::lanes
