#include "compare.h"

#include <algorithm>
#include <cmath>

namespace conformance {
namespace {

Dims index_of(Index flat, const Dims& shape) {
  Dims index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

bool same(const weft::Scalar& expected, const weft::Scalar& got, const Tolerance& tolerance) {
  if (!weft::is_floating(got.dtype())) return expected.integer() == got.integer();
  return close(expected.as_double(), got.as_double(), tolerance);
}

std::string at(Index flat, const weft::Scalar& expected, const weft::Scalar& got) {
  return "element " + std::to_string(flat) + ": expected " + weft::to_text(expected) + ", got " + weft::to_text(got);
}

// Probes: some elements, their number and their sum. The sum is compared relatively to the sum of magnitudes.
std::optional<std::string> compare_probes(const Json& data, const Array& got, const Tolerance& tolerance) {
  const Index count = data.value("count", got.size());
  if (count != got.size()) return "expected " + std::to_string(count) + " elements, got " + std::to_string(got.size());
  for (const Json& probe : data.value("probes", Json::array())) {
    const Index flat = probe.at(0).get<Index>();
    if (flat < 0 || flat >= count) throw BadCase("probe " + std::to_string(flat) + " of " + std::to_string(count) + " elements");
    const weft::Scalar expected = read_scalar(probe.at(1), got.dtype()), value = got.get(index_of(flat, got.shape()));
    if (!same(expected, value, tolerance)) return at(flat, expected, value);
  }
  if (!data.contains("sum")) return std::nullopt;
  double sum = 0, magnitude = 0;
  for (Index k = 0; k < count; ++k) {
    const double value = got.get(index_of(k, got.shape())).as_double();
    sum += value;
    magnitude += std::abs(value);
  }
  const double expected = read_real(data["sum"]);
  const double allowed = std::max(tolerance.relative, 1e-9) * std::max(magnitude, 1e-300);
  if (std::abs(sum - expected) <= allowed || (std::isnan(sum) && std::isnan(expected)) || sum == expected) return std::nullopt;
  return "sum of elements: expected " + std::to_string(expected) + ", got " + std::to_string(sum);
}

std::optional<std::string> compare_signs(const Json& data, const Array& got) {
  if (!data.is_array() || static_cast<Index>(data.size()) != got.size()) return "expected a list of " + std::to_string(got.size()) + " signs";
  for (Index k = 0; k < got.size(); ++k) {
    const double value = got.get(index_of(k, got.shape())).as_double();
    const Json& sign = data[static_cast<std::size_t>(k)];
    if (sign != "+" && sign != "-") throw BadCase("not a sign: " + sign.dump());
    if (std::isnan(value) || std::signbit(value) != (sign == "-")) return "element " + std::to_string(k) + ": expected the sign " + sign.dump() + ", got " + std::to_string(value);
  }
  return std::nullopt;
}

}  // namespace

double default_tolerance(DType dtype) {
  switch (dtype) {
    case weft::f64: return 1e-12;
    case weft::f32: return 2e-6;
    case weft::f16: return 2e-3;
    case weft::bf16: return 1.6e-2;
    default: return 0;
  }
}

Tolerance tolerance_of(const Json& expect, const Json& attrs, DType dtype) {
  Tolerance tolerance;
  tolerance.relative = default_tolerance(dtype);
  for (const Json* place : {&attrs, &expect}) {
    for (const char* key : {"tol", "rtol", "tolerance"}) {
      if (place->contains(key) && (*place)[key].is_number()) tolerance.relative = (*place)[key].get<double>();
    }
  }
  const std::string compare = expect.contains("compare") && expect["compare"].is_string() ? expect["compare"].get<std::string>() : "";
  tolerance.sign_only = compare.find("sign only") != std::string::npos;
  tolerance.signed_zero = compare.find("bitwise") != std::string::npos;
  if (tolerance.signed_zero) tolerance.relative = std::min(tolerance.relative, dtype == weft::f64 ? 1e-15 : default_tolerance(dtype));
  return tolerance;
}

bool close(double expected, double got, const Tolerance& tolerance) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (expected == got) return !tolerance.signed_zero || expected != 0 || std::signbit(expected) == std::signbit(got);
  if (std::isinf(expected) || std::isinf(got)) return false;
  const double distance = std::abs(expected - got);
  if (distance <= tolerance.relative * std::abs(expected)) return true;
  // Rounding of terms that cancel leaves something near 0. Values below 1e-30 are written on purpose.
  const bool may_be_rounding = expected == 0 || std::abs(expected) >= 1e-30;
  return !tolerance.signed_zero && may_be_rounding && distance <= tolerance.relative;
}

std::optional<std::string> compare(const Json& data, const Array& got, const Tolerance& tolerance) {
  if (data.is_object() && data.value("rule", "") == "probes") return compare_probes(data, got, tolerance);
  if (tolerance.sign_only) return compare_signs(data, got);
  const Array expected = read_array(data, got.dtype(), got.shape());
  for (Index k = 0; k < got.size(); ++k) {
    const Dims index = index_of(k, got.shape());
    const weft::Scalar a = expected.get(index), b = got.get(index);
    if (!same(a, b, tolerance)) return at(k, a, b);
  }
  return std::nullopt;
}

std::optional<std::string> compare(const Array& expected, const Array& got, double relative) {
  if (expected.dtype() != got.dtype() || expected.shape() != got.shape()) return show(expected) + " against " + show(got);
  for (Index k = 0; k < got.size(); ++k) {
    const Dims index = index_of(k, got.shape());
    const weft::Scalar a = expected.get(index), b = got.get(index);
    const bool zero_differs = weft::is_floating(a.dtype()) && a.real() == 0 && b.real() == 0 && std::signbit(a.real()) != std::signbit(b.real());
    if (zero_differs || !same(a, b, {relative, false, false})) return at(k, a, b);
  }
  return std::nullopt;
}

std::string show(const weft::View& array) {
  std::string text = weft::to_text(array.dtype()) + weft::to_text(array.shape()) + " {";
  const Index shown = std::min<Index>(array.size(), 8);
  for (Index k = 0; k < shown; ++k) text += (k ? ", " : "") + weft::to_text(array.get(index_of(k, array.shape())));
  return text + (shown < array.size() ? ", ..}" : "}");
}

}  // namespace conformance
