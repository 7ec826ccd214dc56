#include "registry.h"

namespace conformance {

Handler find_handler(const Case& test) {
  const auto first = [](Handler handler, Handler otherwise) { return handler ? handler : otherwise; };
  const std::string& op = test.op;
  if (const Handler handler = find_cross_dialect(test)) return handler;
  if (test.dialect == "tml") return find_tml(op);
  if (test.dialect == "xla") return find_xla(op);
  if (test.dialect == "openvino") return first(find_openvino(op), find_array_api(op));
  if (test.dialect == "theano") return first(find_theano(op), find_array_api(op));
  if (test.dialect == "numpy" || test.dialect == "onnx") return first(find_numpy_onnx(op), first(find_array_api(op), find_shapes(op)));
  if (test.dialect == "array_api") return first(find_array_api(op), find_shapes(op));
  return nullptr;
}

}  // namespace conformance
