#pragma once
// The vector functions of Options::fast_math: within 4 ULP where vecmath.h aims at one, for f32 and f64, where that makes them at least
// 1.15 times as fast. Special values are those of vecmath.h, subnormal arguments and results too. functions.def names them all; what has
// no faster form is taken from vecmath. Errors: f32 over all floats, f64 over two million points, pairs over two million.
#include "fast/exp.h"
#include "fast/hyperbolic.h"
#include "fast/inverse_trig.h"
#include "fast/log.h"
#include "fast/power.h"
#include "fast/trig.h"
#include "vecmath.h"

namespace weft::vecmath::fast {

using vecmath::cbrt;
using vecmath::digamma;
using vecmath::erf;
using vecmath::erfc;
using vecmath::exp;
using vecmath::exp2;
using vecmath::hypot;
using vecmath::lgamma;
using vecmath::rsqrt;
using vecmath::trigamma;
using vecmath::xlogy;

}  // namespace weft::vecmath::fast
