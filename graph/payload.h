// What a node holds beside its operands, compared and hashed.
#pragma once
#include <weft/graph.h>

namespace weft {

// The same alternative and value. Arrays: dtype, shape and every element; NaN equals NaN.
bool same_payload(const Payload& a, const Payload& b);

}  // namespace weft
