// OpenVINO: Broadcast-3 in its modes, what it refuses, shape inference for partly known shapes, auto_broadcast rules.
#include <algorithm>
#include <map>

#include <weft/broadcast.h>

#include "evaluate.h"
#include "ops.h"
#include "registry.h"

namespace conformance {
namespace {

weft::Shape as_shape(const Dims& dims) { return {dims.begin(), dims.end()}; }

// The target of a broadcast3 as a tensor.
Array target_array(const Json& attrs) {
  const DType dtype = read_dtype(attrs.contains("target_shape_dtype") && attrs["target_shape_dtype"].is_string() ? attrs["target_shape_dtype"].get<std::string>() : "int64");
  const Dims dims = read_dims(attrs.at("target_shape"));
  return read_array(attrs["target_shape"], dtype, {static_cast<Index>(dims.size())});
}

// `attrs` of a broadcast3: mode, target_shape, axes_mapping, axis (mode pdpd). A target whose dtype is given is a tensor of
// its own; one that is known at run time only is an input of the graph, `argument`.
Expr apply_broadcast(const Expr& data, const Json& attrs, const std::optional<Expr>& argument = {}) {
  const auto has = [&](const char* key) { return attrs.contains(key) && !attrs[key].is_null(); };
  const std::string mode_name = has("mode") ? attrs["mode"].get<std::string>() : "";
  if (!has("target_shape")) throw BadCase("broadcast3 needs target_shape");
  const Dims dims = read_dims(attrs["target_shape"]);
  if (mode_name == "pdpd") return weft::broadcast_pdpd(data, as_shape(dims), has("axis") ? attrs["axis"].get<Index>() : -1);
  if (argument || has("target_shape_dtype")) {
    const Expr target = argument ? *argument : data.graph().constant(target_array(attrs));
    if (mode_name.empty()) return weft::broadcast(data, target);
    if (has("axes_mapping")) return weft::broadcast(data, target, weft::broadcast_mode(mode_name), read_indices(attrs["axes_mapping"]));
    return weft::broadcast(data, target, weft::broadcast_mode(mode_name));
  }
  if (mode_name.empty() && !has("axes_mapping")) return weft::broadcast(data, as_shape(dims));
  const weft::BroadcastMode mode = mode_name.empty() ? weft::BroadcastMode::numpy : weft::broadcast_mode(mode_name);
  if (has("axes_mapping")) return weft::broadcast(data, as_shape(dims), mode, read_indices(attrs["axes_mapping"]));
  return weft::broadcast(data, as_shape(dims), mode);
}

// The axes of the result along which the data repeats: the data is 0, 1, 2, .., so elements say where they come from.
Json repeated_axes(const Expr& data, const Json& attrs) {
  weft::Graph graph;
  const Expr x = graph.input("x", weft::i64, data.shape());
  Dims shape;
  for (const weft::Extent& extent : data.shape()) shape.push_back(*extent.number());
  const Array result = weft::interpret({apply_broadcast(x, attrs)}, {x}, {read_array(Json("iota"), weft::i64, shape)})[0];
  Json axes = Json::array();
  for (int axis = 0; axis < result.rank(); ++axis) {
    Dims index(result.shape().size(), 0);
    const Index size = result.shape()[static_cast<std::size_t>(axis)];
    index[static_cast<std::size_t>(axis)] = size - 1;
    if (size > 1 && result.get(index) == result.get(Dims(index.size(), 0))) axes.push_back(axis);
  }
  return axes;
}

Answer run_broadcast(const Case& test) {
  Operands operands(test);
  std::optional<Expr> argument;
  if (test.attrs.value("target_shape_runtime", false)) argument = operands.add("target", target_array(test.attrs));
  Answer answer;
  answer.values = evaluate(operands, {apply_broadcast(operands[0], test.attrs, argument)});
  if (test.has("expected_broadcast_axes")) {
    const Json got = repeated_axes(operands[0], test.attrs);
    Json expected = Json::array();      // an axis of extent 1 does not repeat anything
    for (const Json& axis : test.attrs["expected_broadcast_axes"]) {
      if (answer.values[0].shape().at(axis.get<std::size_t>()) > 1) expected.push_back(axis);
    }
    if (got != expected) throw Failure("broadcast axes: expected " + expected.dump() + ", got " + got.dump());
  }
  return answer;
}

// The attribute whose name starts and ends so, null if there is none: "axes_mapping_dtype", "target_shape_tensor_shape".
Json find_attribute(const Case& test, const std::string& start, const std::string& end) {
  for (const auto& [key, value] : test.attrs.items()) {
    if (key.rfind(start, 0) == 0 && key.size() > start.size() && key.size() >= end.size() && key.compare(key.size() - end.size(), end.size(), end) == 0) return value;
  }
  return nullptr;
}

// What kind of tensors may give the target and the axes: of some only the dtype or the shape is stated.
Answer run_typecheck(const Case& test) {
  Operands operands(test);
  const Expr data = operands[0];
  const auto tensor = [&](const char* name, const Dims& otherwise) {
    const Json dtype = find_attribute(test, name, "dtype"), shape = find_attribute(test, name, "shape");
    const DType of = read_dtype(dtype.is_string() ? dtype.get<std::string>() : "int64");
    if (test.has(name)) return operands.graph.constant(read_array(test.attrs[name], of, {static_cast<Index>(test.attrs[name].size())}));
    if (shape.is_array()) return operands.graph.constant(read_array({{"rule", "fill"}, {"value", 1}}, of, read_dims(shape)));
    return operands.graph.constant(read_array(Json(otherwise), of, {static_cast<Index>(otherwise.size())}));
  };
  Dims same, identity;
  for (const weft::Extent& extent : data.shape()) same.push_back(*extent.number());
  for (int axis = 0; axis < data.rank(); ++axis) identity.push_back(axis);
  const weft::BroadcastMode mode = weft::broadcast_mode(test.attrs.value("mode", "numpy"));
  const Expr target = tensor("target_shape", same);
  const bool has_axes = mode == weft::BroadcastMode::explicit_axes || test.has("axes_mapping") || !find_attribute(test, "axes_mapping", "").is_null();
  Answer answer;
  answer.values = evaluate(operands, {has_axes ? weft::broadcast(data, target, mode, tensor("axes_mapping", identity)) : weft::broadcast(data, target, mode)});
  return answer;
}

std::optional<weft::PartialShape> read_partial(const Json& json) {
  if (json.is_null() || json.is_string()) return std::nullopt;                                    // even the rank is unknown
  if (json.is_object()) return weft::PartialShape(json.at("rank").get<std::size_t>());
  weft::PartialShape shape;
  for (const Json& size : json) shape.push_back(weft::size_range(size.is_string() ? size.get<std::string>() : size.dump()));
  return shape;
}

Json as_json(const weft::SizeRange& size) {
  if (size.is_known()) return size.low;
  if (size.low == 0 && !size.high) return -1;
  return std::to_string(size.low) + ".." + (size.high ? std::to_string(*size.high) : "");
}

Answer run_infer_shape(const Case& test) {
  const Json& axes = test.attrs.contains("axes_mapping") ? test.attrs["axes_mapping"] : Json();
  const auto mapping = axes.is_array() ? std::optional(read_indices(axes)) : std::nullopt;
  const auto shape = weft::infer_broadcast(read_partial(test.attribute("data_shape")), read_partial(test.attribute("target_shape_value")),
                                           weft::broadcast_mode(test.attrs.value("mode", "numpy")), mapping);
  Answer answer;
  const Json expected = test.expect.contains("shape") ? test.expect["shape"] : Json();
  if (!shape) {
    answer.facts["shape"] = expected.is_string() ? expected : Json();        // "dynamic", "unknown": even the rank
    return answer;
  }
  answer.facts["shape"] = Json::array();
  for (const weft::SizeRange& size : *shape) answer.facts["shape"].push_back(as_json(size));
  const bool is_rank_only = std::all_of(shape->begin(), shape->end(), [](const weft::SizeRange& size) { return as_json(size) == -1; });
  if (is_rank_only && expected.is_object()) answer.facts["shape"] = {{"rank", shape->size()}};
  return answer;
}

// auto_broadcast of elementwise ops: none, numpy, pdpd. The shape is that of an addition, which is run too.
Answer run_elementwise_shape(const Case& test) {
  Operands operands(test);
  const std::string rule = test.attrs.value("auto_broadcast", "numpy");
  const Expr a = operands[0], b = operands[1];
  if (rule == "none" && a.shape() != b.shape()) weft::fail(weft::ErrorKind::shape, "auto_broadcast none: " + weft::to_text(a.shape()) + " is not " + weft::to_text(b.shape()));
  if (rule != "none" && rule != "numpy" && rule != "pdpd") throw BadCase("unknown auto_broadcast '" + rule + "'");
  Answer answer;
  answer.values = evaluate(operands, {rule == "pdpd" ? weft::elementwise_pdpd(weft::Op::add, a, b, test.attrs.value("axis", Index{-1})) : a + b});
  return answer;
}

// steps: [op, attributes], each applied to the result of the one before.
Answer run_steps(const Case& test) {
  Operands operands(test);
  Expr result = operands[0];
  for (const Json& step : test.attribute("steps")) {
    const std::string op = step.at(0).get<std::string>();
    const Json attrs = step.size() > 1 ? step[1] : Json::object();
    const auto axes = [&](const char* key) {
      std::vector<int> list;
      for (const Index axis : read_indices(attrs.at(key))) list.push_back(static_cast<int>(axis));
      return list;
    };
    if (op == "broadcast3" || op == "broadcast") result = apply_broadcast(result, attrs);
    else if (op == "reverse" || op == "flip") result = weft::flip(result, axes("axes"));
    else if (op == "transpose") result = weft::permute_dims(result, axes(attrs.contains("axes") ? "axes" : "order"));
    else if (op == "reshape") result = weft::reshape(result, as_shape(read_dims(attrs.at("shape"))));
    else result = apply_elementwise(op, {result}, attrs, test.dialect);
  }
  Answer answer;
  answer.values = evaluate(operands, {result});
  return answer;
}

}  // namespace

Handler find_openvino(const std::string& op) {
  static const std::map<std::string, Handler> handlers = {
      {"broadcast3", run_broadcast}, {"broadcast1", run_broadcast}, {"broadcast", run_broadcast}, {"broadcast3_typecheck", run_typecheck},
      {"infer_broadcast3_shape", run_infer_shape}, {"elementwise_shape", run_elementwise_shape}, {"program", run_steps}};
  const auto found = handlers.find(op);
  return found == handlers.end() ? nullptr : found->second;
}

}  // namespace conformance
