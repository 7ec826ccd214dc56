#pragma once
// Vector functions over a lane type (lane.h). Each states above it: dtypes, measured maximum error, special values.
#include "vecmath/erf.h"
#include "vecmath/exp.h"
#include "vecmath/gamma.h"
#include "vecmath/hyperbolic.h"
#include "vecmath/inverse_trig.h"
#include "vecmath/log.h"
#include "vecmath/pow.h"
#include "vecmath/root.h"
#include "vecmath/trig.h"
