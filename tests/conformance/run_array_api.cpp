// The Array API: broadcasting, elementwise functions, reductions, assignment to windows, promotion.
#include <functional>
#include <map>

#include "evaluate.h"
#include "language.h"
#include "ops.h"
#include "registry.h"
#include "views.h"

namespace conformance {
namespace {

Answer values(const Operands& operands, const std::vector<Expr>& outputs) {
  Answer answer;
  answer.values = evaluate(operands, outputs);
  return answer;
}

// Which of the operands is the where mask of a reduction: an input named "where", or the last of two, if it is bool.
std::optional<Expr> mask_of(const Case& test, Operands& operands) {
  if (test.has("where") && test.attrs["where"].is_object()) {
    const Json& where = test.attrs["where"];
    const Array mask = read_array(where["data"], weft::bool_, read_dims(where["shape"]));
    return operands.add("where", mask);
  }
  if (test.has("where") && test.attrs["where"].is_array()) {       // nested lists, or a flat list of the shape of x
    Dims shape;
    for (const Json* level = &test.attrs["where"]; level->is_array(); level = &(*level)[0]) {
      shape.push_back(static_cast<Index>(level->size()));
      if (level->empty()) break;
    }
    const Json flat = test.attrs["where"].flatten();
    Json list = Json::array();
    for (const auto& [path, value] : flat.items()) list.push_back(value);
    const bool is_flat = shape.size() == 1 && operands.arrays.at(0).rank() > 1 && shape[0] == operands.arrays[0].size();
    return operands.add("where", read_array(list, weft::bool_, is_flat ? operands.arrays[0].shape() : shape));
  }
  if (operands.exprs.size() == 2 && operands.arrays[1].dtype() == weft::bool_) return operands.exprs[1];
  if (test.has("where") && test.attrs["where"].is_boolean()) return operands.add("where", Array::scalar(test.attrs["where"].get<bool>()));
  return std::nullopt;
}

Answer run_reduction(const Case& test) {
  Operands operands(test);
  const auto mask = mask_of(test, operands);
  return values(operands, {apply_reduction(*find_reduction(test.op), operands[0], test.attrs, test.dialect, mask)});
}

// max: one operand, or an axis, says that it is a reduction; several operands that it is elementwise. In ONNX max, min, sum and
// mean are always elementwise.
bool is_reduction(const Case& test) {
  const std::string plain = plain_name(test.op);
  if (!find_reduction(test.op) || (test.dialect == "onnx" && (plain == "max" || plain == "min" || plain == "sum" || plain == "mean"))) return false;
  return test.inputs.size() == 1 || test.attrs.contains("axis") || test.attrs.contains("axes") || !knows_elementwise(test.op);
}

Answer run_elementwise(const Case& test) {
  if (is_reduction(test)) return run_reduction(test);
  Operands operands(test);
  return values(operands, {apply_elementwise(test.op, operands.exprs, test.attrs, test.dialect)});
}

Answer run_broadcast_shapes(const Case& test) {
  std::vector<weft::Shape> shapes;
  for (const Input& input : test.inputs) shapes.emplace_back(input.shape.begin(), input.shape.end());
  if (test.has("shapes")) {
    for (const Json& shape : test.attrs["shapes"]) {
      const Dims dims = read_indices(shape);                     // a number is a shape of rank 1
      shapes.emplace_back(dims.begin(), dims.end());
    }
  }
  Answer answer;
  answer.facts["shape"] = Json::array();
  for (const weft::Extent& extent : weft::broadcast_shapes(shapes)) answer.facts["shape"].push_back(*extent.number());
  return answer;
}

Answer run_broadcast_to(const Case& test) {
  Operands operands(test);
  const Dims dims = read_indices(test.attribute("shape"));
  return values(operands, {weft::broadcast_to(operands[0], {dims.begin(), dims.end()})});
}

Answer run_broadcast_arrays(const Case& test) {
  Operands operands(test);
  Answer answer = values(operands, weft::broadcast_arrays(operands.exprs));
  answer.facts["shapes"] = Json::array();
  for (const Array& array : answer.values) answer.facts["shapes"].push_back(array.shape());
  return answer;
}

// x[index] = y, x[index] += y, ..: the window of x is an output that the function writes in place.
Answer run_in_place(const Case& test, const std::string& op) {
  if (test.inputs.size() != 2) throw BadCase(test.op + " takes two inputs");
  Operands operands(test);
  const Json index = test.attrs.contains("index") ? test.attrs["index"] : Json::array({"..."});
  Answer answer;
  answer.values = {assign_window(operands, 0, read_index(index, operands.arrays[0].rank()), [&](const Expr& window) {
    return op.empty() ? operands[1] : apply_elementwise(op, {window, operands[1]}, test.attrs, test.dialect);
  })};
  return answer;
}

Answer run_named_in_place(const Case& test) {
  const std::string op = test.op.rfind("inplace_", 0) == 0 ? test.op.substr(8) : test.op.substr(1);
  return run_in_place(test, op == "assign" || op == "setitem" || op == "copy" ? "" : op);
}

Answer run_setitem(const Case& test) { return run_in_place(test, ""); }

Answer run_in_place_program(const Case& test) {
  Operands operands(test);
  run_program(operands, test.attribute("program").get<std::string>());
  Answer answer;
  answer.values = operands.arrays;
  answer.values.resize(1);
  return answer;
}

Answer run_result_type(const Case& test) {
  std::vector<DType> dtypes;
  for (const Input& input : test.inputs) dtypes.push_back(read_dtype(input.dtype));
  if (test.has("dtypes")) {
    for (const Json& name : test.attrs["dtypes"]) dtypes.push_back(read_dtype(name.get<std::string>()));
  }
  if (dtypes.empty()) throw BadCase("result_type of no dtypes");
  DType result = dtypes[0];
  bool mixes_kinds = false;
  for (const DType each : dtypes) {
    mixes_kinds |= weft::is_floating(each) != weft::is_floating(dtypes[0]) || weft::is_boolean(each) != weft::is_boolean(dtypes[0]);
    result = weft::promote(result, each);
  }
  const std::string name = dtype_name(result, test.dialect);
  if (mixes_kinds && test.expect.value("dtype", "") != name) {
    throw Skip("promotion between kinds is not specified by the Array API; in weft an integer or bool takes the float's dtype: " + name);
  }
  Answer answer;
  answer.facts["dtype"] = name;
  return answer;
}

}  // namespace

Handler find_array_api(const std::string& op) {
  static const std::map<std::string, Handler> handlers = {
      {"broadcast_shapes", run_broadcast_shapes}, {"broadcast_to", run_broadcast_to}, {"expand", run_broadcast_to},
      {"broadcast_arrays", run_broadcast_arrays}, {"setitem", run_setitem}, {"inplace_alias", run_in_place_program},
      {"result_type", run_result_type}, {"promote_types", run_result_type}};
  const auto found = handlers.find(op);
  if (found != handlers.end()) return found->second;
  if (op.rfind("inplace_", 0) == 0) return run_named_in_place;
  if (op.size() > 2 && op.front() == 'i' && knows_elementwise(op.substr(1)) && !knows_elementwise(op)) return run_named_in_place;   // iadd
  return knows_elementwise(op) || find_reduction(op) ? run_elementwise : nullptr;
}

}  // namespace conformance
