// Numbers, dtypes and arrays out of JSON, and arrays in other layouts.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "case.h"

namespace conformance {
namespace {

const std::map<std::string, DType>& dtype_names() {
  static const std::map<std::string, DType> names = {
      {"bool", weft::bool_}, {"int8", weft::i8}, {"int16", weft::i16}, {"int32", weft::i32}, {"int64", weft::i64},
      {"uint8", weft::u8}, {"uint16", weft::u16}, {"uint32", weft::u32}, {"uint64", weft::u64}, {"float16", weft::f16},
      {"bfloat16", weft::bf16}, {"float32", weft::f32}, {"float64", weft::f64},
      {"int", weft::i64}, {"uint", weft::u64}, {"real", weft::f64}, {"char", weft::u8},
      {"half", weft::f16}, {"float", weft::f32}, {"double", weft::f64}, {"pred", weft::bool_},
      {"i8", weft::i8}, {"i16", weft::i16}, {"i32", weft::i32}, {"i64", weft::i64}, {"u8", weft::u8}, {"u16", weft::u16},
      {"u32", weft::u32}, {"u64", weft::u64}, {"f16", weft::f16}, {"bf16", weft::bf16}, {"f32", weft::f32}, {"f64", weft::f64}};
  return names;
}

// A value computed by a rule: integers wrap into integer dtypes, as in NumPy's astype.
weft::Scalar scalar_of(double value, DType dtype) {
  if (weft::is_integer(dtype)) return weft::Scalar::of(dtype, static_cast<std::int64_t>(std::trunc(value)));
  return weft::Scalar::of(dtype, value);
}

template <class F> Array filled(DType dtype, const Dims& shape, const F& value_at) {
  Array array = Array::empty(dtype, shape);
  auto* to = static_cast<std::byte*>(array.View::data());
  for (Index k = 0; k < array.size(); ++k, to += weft::size_of(dtype)) value_at(k).store(to);
  return array;
}

Index floor_mod(Index a, Index m) { return ((a % m) + m) % m; }

Array from_rule(const Json& data, DType dtype, const Dims& shape) {
  const std::string rule = data.value("rule", "");
  if (rule == "iota") {
    const double start = data.value("start", 0.0), step = data.value("step", 1.0);
    return filled(dtype, shape, [&](Index k) { return scalar_of(start + step * static_cast<double>(k), dtype); });
  }
  if (rule == "fill") {
    const weft::Scalar value = read_scalar(data.at("value"), dtype);
    return filled(dtype, shape, [&](Index) { return value; });
  }
  if (rule == "affine_mod") {
    const Index a = data.at("a"), b = data.at("b"), m = data.at("m");
    const double c = data.value("c", 0.0), scale = data.value("scale", 1.0);
    if (m <= 0) throw BadCase("affine_mod with m = " + std::to_string(m));
    return filled(dtype, shape, [&](Index k) { return scalar_of((static_cast<double>(floor_mod(a * k + b, m)) + c) * scale, dtype); });
  }
  throw BadCase("unknown rule for data: " + data.dump().substr(0, 80));
}

}  // namespace

DType read_dtype(const std::string& name) {
  const auto found = dtype_names().find(name);
  if (found != dtype_names().end()) return found->second;
  if (name.rfind("complex", 0) == 0) throw Skip("dtype " + name + " is outside the scope of weft");
  throw BadCase("unknown dtype '" + name + "'");
}

std::string dtype_name(DType dtype, const std::string& dialect) {
  if (dialect == "tml") {
    if (dtype == weft::i64) return "int";
    if (dtype == weft::u64) return "uint";
    if (dtype == weft::f64) return "real";
    if (dtype == weft::u8) return "char";
  }
  if (dtype == weft::bool_) return "bool";
  if (dtype == weft::bf16) return "bfloat16";
  const std::string bits = std::to_string(8 * weft::size_of(dtype));
  return (weft::is_floating(dtype) ? "float" : weft::is_unsigned_integer(dtype) ? "uint" : "int") + bits;
}

double read_real(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
  const std::string text = json.is_string() ? json.get<std::string>() : "";
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  if (text == "nan" || text == "NaN") return nan;
  if (text == "-nan") return -nan;
  if (text == "inf" || text == "+inf" || text == "Infinity") return infinity;
  if (text == "-inf" || text == "-Infinity") return -infinity;
  if (text == "-0.0" || text == "-0") return -0.0;
  throw BadCase("not a number: " + json.dump());
}

weft::Scalar read_scalar(const Json& json, DType dtype) {
  if (json.is_number_unsigned()) return weft::Scalar::of(dtype, json.get<std::uint64_t>());
  if (json.is_number_integer()) return weft::Scalar::of(dtype, json.get<std::int64_t>());
  return weft::Scalar::of(dtype, read_real(json));
}

Array read_array(const Json& data, DType dtype, const Dims& shape) {
  try {
    if (data.is_string() && data.get<std::string>() == "iota") return from_rule({{"rule", "iota"}}, dtype, shape);
    if (data.is_object()) return from_rule(data, dtype, shape);
  } catch (const Json::exception& error) {
    throw BadCase(std::string("data: ") + error.what());
  }
  if (!data.is_array()) throw BadCase("data is a list or a rule, not " + data.dump().substr(0, 80));
  const Index count = weft::element_count(shape);
  if (static_cast<Index>(data.size()) != count) {
    throw BadCase("shape " + weft::to_text(shape) + " has " + std::to_string(count) + " elements, data " + std::to_string(data.size()));
  }
  return filled(dtype, shape, [&](Index k) { return read_scalar(data[static_cast<std::size_t>(k)], dtype); });
}

Array read_array(const Input& input) { return read_array(input.data, read_dtype(input.dtype), input.shape); }

Array with_layout(const Array& array, const std::string& layout) {
  if (layout == "C" || layout == "c" || layout == "C_CONTIGUOUS") return array.copy(weft::Order::c);
  if (layout == "F" || layout == "f" || layout == "F_CONTIGUOUS") return array.copy(weft::Order::f);
  Array result;
  if (layout == "strided") {            // every second element of an array twice as large along each axis
    Dims twice = array.shape();
    for (Index& size : twice) size *= 2;
    result = Array(array.dtype(), twice);
    for (int axis = 0; axis < array.rank(); ++axis) result = result.slice(axis, 0, array.shape()[static_cast<std::size_t>(axis)], 2);
  } else if (layout == "reversed") {
    result = Array(array.dtype(), array.shape());
    for (int axis = 0; axis < array.rank(); ++axis) result = result.flip(axis);
  } else if (layout == "transposed") {
    result = Array(array.dtype(), Dims(array.shape().rbegin(), array.shape().rend())).transpose();
  } else {
    throw BadCase("unknown layout '" + layout + "'");
  }
  weft::copy_elements(array, result);
  return result;
}

}  // namespace conformance
