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

}  // namespace

Handler find_numpy_onnx(const std::string& op) {
  static const std::map<std::string, Handler> handlers = {{"expand", run_expand}, {"Expand", run_expand}};
  const auto found = handlers.find(op);
  return found == handlers.end() ? nullptr : found->second;
}

}  // namespace conformance
