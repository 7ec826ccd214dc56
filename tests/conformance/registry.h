// Which function runs a case: by dialect and op.
#pragma once
#include "answer.h"

namespace conformance {

using Handler = Answer (*)(const Case& test);

// One for each rule system: the handler of `op` in that dialect, null if there is none.
Handler find_array_api(const std::string& op);
Handler find_shapes(const std::string& op);          // scans, permute_dims, reshape, ..
Handler find_numpy_onnx(const std::string& op);      // what NumPy and ONNX name or mean differently
Handler find_theano(const std::string& op);
Handler find_xla(const std::string& op);
Handler find_openvino(const std::string& op);
Handler find_tml(const std::string& op);
Handler find_cross_dialect(const Case& test);         // by its expectation

Handler find_handler(const Case& test);               // null if nothing runs it

}  // namespace conformance
