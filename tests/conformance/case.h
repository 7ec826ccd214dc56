// One conformance case: what its JSON object says, and the arrays that its inputs stand for.
//
// The format is described in README.md beside this file. Reading never throws anything but BadCase (the object is not a
// case) and Skip (it asks for something that weft does not have). Pure functions.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <weft/array.h>

namespace conformance {

using Json = nlohmann::ordered_json;
using weft::Array;
using weft::Dims;
using weft::DType;
using weft::Index;

struct BadCase : std::runtime_error { using runtime_error::runtime_error; };   // the case itself is wrong: counts as failed
struct Failure : std::runtime_error { using runtime_error::runtime_error; };   // weft did something else than expected
struct Skip : std::runtime_error { using runtime_error::runtime_error; };      // outside the scope, with the reason

struct Input {
  std::string name;                 // as given, otherwise in0, in1, ..
  std::string dtype;                // as written: "float64", "int", ..
  Dims shape;                       // of the whole array: for nested tensors the levels one after the other
  std::vector<Dims> nest;           // TML: the dimensions of each nesting level, outermost first
  Json data;
};

struct Case {
  std::string id, op, dialect;
  Json attrs, expect, alternative;  // objects; alternative is null if there is none
  std::vector<Input> inputs;

  bool has(const char* attribute) const { return attrs.contains(attribute) && !attrs[attribute].is_null(); }
  const Json& attribute(const char* name) const;                     // BadCase if it is missing
};

Case read_case(const Json& object);

// "float64", "int" (TML), "f32", ..: Skip for complex types, BadCase for names nobody uses.
DType read_dtype(const std::string& name);
// The usual name of a dtype: "float64". In dialect tml "int", "uint", "real", "bool", "char".
std::string dtype_name(DType dtype, const std::string& dialect);
Dims read_dims(const Json& json);
std::vector<Index> read_indices(const Json& json);                   // a number is a list of one, null an empty list
double read_real(const Json& json);                                  // a number, or "nan", "-inf", "-0.0", ..
weft::Scalar read_scalar(const Json& json, DType dtype);

// Row-major values of `shape`: a flat list, "iota", or a rule object.
Array read_array(const Json& data, DType dtype, const Dims& shape);
Array read_array(const Input& input);

// The same values stored in another way: "C", "F", "strided" (gaps along every axis), "reversed" (negative strides).
Array with_layout(const Array& array, const std::string& layout);

}  // namespace conformance
