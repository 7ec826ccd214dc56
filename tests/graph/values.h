// Values of an Expr through the reference interpreter, as doubles in row-major order, and the data rules of the case tables.
#pragma once
#include <vector>

#include <weft/interpret.h>

inline std::vector<double> values_of(const weft::Expr& output, const std::vector<weft::Expr>& inputs, const std::vector<weft::Array>& arrays) {
  const weft::Array result = weft::interpret({output}, inputs, arrays).at(0);
  const weft::Index count = result.size();
  const auto* bytes = static_cast<const std::byte*>(result.data());
  std::vector<double> values;
  for (weft::Index k = 0; k < count; ++k)
    values.push_back(weft::Scalar::load(result.dtype(), bytes + static_cast<std::size_t>(k) * weft::size_of(result.dtype())).as_double());
  return values;
}

inline weft::Array doubles(const std::vector<double>& values, const weft::Dims& shape) { return weft::Array::from<double>(values, shape); }

// value_i = (((a * i + b) mod m) + c) * scale
inline weft::Array affine(const weft::Dims& shape, int a, int b, int m, int c, double scale) {
  std::vector<double> values;
  for (weft::Index k = 0; k < weft::element_count(shape); ++k) values.push_back(static_cast<double>((a * k + b) % m + c) * scale);
  return doubles(values, shape);
}
inline weft::Array case_x(const weft::Dims& shape) { return affine(shape, 7, 3, 23, -11, 0.5); }
inline weft::Array case_y(const weft::Dims& shape, double scale) { return affine(shape, 5, 1, 19, -9, scale); }
