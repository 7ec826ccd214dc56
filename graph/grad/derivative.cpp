// The derivative columns of ops.def, evaluated on Locals.
#include "local.h"

#include <weft/error.h>

namespace weft {

// Only the column asked for is evaluated: evaluating adds nodes.
Local derivative(Op op, int position, const std::vector<Local>& operands, const Local& y, const Local& g) {
  const Local none = 0.0;
  const Local& a = operands[0];
  const Local& b = operands[operands.size() > 1 ? 1 : 0];
  const Local& c = operands.back();
  switch (op) {
#define WEFT_UNARY(name, rule, meaning, da) \
  case Op::name: return da;
#define WEFT_BINARY(name, rule, meaning, da, db) \
  case Op::name: return position == 0 ? Local(da) : Local(db);
#define WEFT_TERNARY(name, rule, meaning, da, db, dc) \
  case Op::name: return position == 0 ? Local(da) : position == 1 ? Local(db) : Local(dc);
#include <weft/ops.def>
  }
  WEFT_ASSERT(false, "an op without a row");
  return y * c;
}

}  // namespace weft
