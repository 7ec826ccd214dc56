// Arrays against expected data.
#pragma once
#include <optional>
#include <string>

#include "case.h"

namespace conformance {

// How far a float may be from what is expected: tolerance * |expected|, or tolerance itself near 0. Integers and bools are
// exact. Exact zeros: with `signed_zero` their sign counts and nothing but 0 is near 0. Any NaN equals any NaN.
struct Tolerance {
  double relative = 0;
  bool signed_zero = false;
  bool sign_only = false;           // compare "sign only": data is "+" and "-"
};
// For a dtype, unless the case states its own: f64 1e-12, f32 2e-6, f16 2e-3, bf16 1.6e-2.
double default_tolerance(DType dtype);
Tolerance tolerance_of(const Json& expect, const Json& attrs, DType dtype);

bool close(double expected, double got, const Tolerance& tolerance);

// `data`: a list, a rule, or probes. The text names the first element that differs.
std::optional<std::string> compare(const Json& data, const Array& got, const Tolerance& tolerance);
// Two results of the same computation: the same shape, dtype and values within the tolerance, sign of zero included.
std::optional<std::string> compare(const Array& expected, const Array& got, double relative);

std::string show(const weft::View& array);    // dtype, shape and the first values

}  // namespace conformance
