#pragma once
// Vector functions over a lane type (lane.h), for f32 and f64. Each states its largest measured error, where it holds, and its special
// values; NaN gives NaN unless said otherwise. tests/math/run.sh measures: f32 over all 2^32 inputs, f64 over ten million of every
// binade and of the places where formulas change, against MPFR. Only IEEE operations lane by lane: the bits do not depend on the vector width or CPU.
// vecmath/fast.h has the functions of Options::fast_math.
#include "erf.h"
#include "exp.h"
#include "gamma.h"
#include "hyperbolic.h"
#include "inverse_trig.h"
#include "log.h"
#include "neighbour.h"
#include "pow.h"
#include "root.h"
#include "softplus.h"
#include "trig.h"
