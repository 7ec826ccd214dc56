// NumPy and ONNX, where they name or mean something differently from the Array API.
#include <map>

#include "evaluate.h"
#include "ops.h"
#include "registry.h"

namespace conformance {
namespace {

// ONNX Expand: bidirectional broadcasting with a shape, an attribute or the second input.
Answer run_expand(const Case& test) {
  Operands operands(test);
  Dims dims;
  if (test.has("shape")) {
    dims = read_dims(test.attrs["shape"]);
  } else {
    const Array shape = read_array(test.inputs.at(1));
    for (Index k = 0; k < shape.size(); ++k) dims.push_back(shape.get({k}).integer());
  }
  Answer answer;
  answer.values = evaluate(operands, {weft::broadcast_to(operands[0], weft::broadcast_shapes(operands[0].shape(), {dims.begin(), dims.end()}))});
  return answer;
}

// Bounds are inputs, either of which may be left out, or attributes. The first is the lower one unless it is named max or is
// the third input of the case.
Answer run_clip(const Case& test) {
  Operands operands(test);
  std::optional<Expr> low, high;
  for (std::size_t k = 1; k < operands.exprs.size(); ++k) {
    const std::string& name = operands.names[k];
    (name == "max" || name == "a_max" || name == "in2" || k == 2 ? high : low) = operands[k];
  }
  const Expr result = clipped(operands[0], low, high);
  Answer answer;
  answer.values = evaluate(operands, {apply_elementwise("clip", {result}, test.attrs, test.dialect)});
  return answer;
}

}  // namespace

Handler find_numpy_onnx(const std::string& op) {
  static const std::map<std::string, Handler> handlers = {{"expand", run_expand}, {"Expand", run_expand}, {"clip", run_clip}, {"Clip", run_clip}};
  const auto found = handlers.find(op);
  return found == handlers.end() ? nullptr : found->second;
}

}  // namespace conformance
