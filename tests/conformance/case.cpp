#include "case.h"

#include <cmath>

namespace conformance {
namespace {

Input read_input(const Json& json, std::size_t position) {
  if (!json.is_object()) throw BadCase("input " + std::to_string(position) + " is not an object: " + json.dump());
  Input input;
  input.name = json.value("name", "in" + std::to_string(position));
  input.dtype = json.value("dtype", "float64");
  input.data = json.contains("data") ? json["data"] : Json("iota");
  if (json.contains("nest")) {
    for (const Json& level : json["nest"]) {
      input.nest.push_back(read_dims(level));
      input.shape.insert(input.shape.end(), input.nest.back().begin(), input.nest.back().end());
    }
  } else {
    if (!json.contains("shape")) throw BadCase("input " + input.name + " has no shape");
    input.shape = read_dims(json["shape"]);
  }
  return input;
}

}  // namespace

const Json& Case::attribute(const char* name) const {
  if (!attrs.contains(name)) throw BadCase("op " + op + " needs the attribute '" + name + "'");
  return attrs[name];
}

Case read_case(const Json& object) {
  Case result;
  if (!object.is_object()) throw BadCase("not an object: " + object.dump().substr(0, 80));
  result.id = object.value("id", "");
  try {
    for (const char* key : {"id", "op", "expect"}) {
      if (!object.contains(key)) throw BadCase(std::string("a case needs the key '") + key + "'");
    }
    result.op = object["op"].get<std::string>();
    result.attrs = object.contains("attrs") && !object["attrs"].is_null() ? object["attrs"] : Json::object();
    result.dialect = result.attrs.value("dialect", "array_api");
    result.expect = object["expect"];
    if (!result.expect.is_object()) throw BadCase("'expect' is not an object");
    if (object.contains("alt_expect")) result.alternative = object["alt_expect"];
    if (object.contains("inputs") && object["inputs"].is_array()) {
      for (std::size_t k = 0; k < object["inputs"].size(); ++k) {
        if (!object["inputs"][k].is_null()) result.inputs.push_back(read_input(object["inputs"][k], k));   // null: an optional input left out
      }
    }
  } catch (const Json::exception& error) {
    throw BadCase(result.id + ": " + error.what());
  }
  return result;
}

Dims read_dims(const Json& json) {
  Dims dims;
  if (!json.is_array()) throw BadCase("a shape is a list of sizes, not " + json.dump());
  for (const Json& size : json) {
    if (!size.is_number_integer()) throw BadCase("a shape is a list of sizes, not " + json.dump());
    dims.push_back(size.get<Index>());
  }
  return dims;
}

std::vector<Index> read_indices(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_number_integer()) return {json.get<Index>()};
  return read_dims(json);
}

}  // namespace conformance
