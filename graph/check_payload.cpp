#include "check.h"

#include <weft/recurrence.h>
#include <weft/text.h>

namespace weft {

void check_payload(const Node& node) {
  const auto& payload = node.payload;
  switch (node.kind) {
    case Kind::input: WEFT_REQUIRE(std::holds_alternative<std::string>(payload), usage, "input: expected a name"); return;
    case Kind::constant: {
      if (const auto* scalar = std::get_if<Scalar>(&payload)) {
        WEFT_REQUIRE(node.domain.empty() && scalar->dtype() == node.dtype, usage, "constant: a ", scalar->dtype(), " scalar is not a ", node.dtype,
                     " of shape ", to_text(node.domain));
        return;
      }
      const auto* array = std::get_if<Array>(&payload);
      WEFT_REQUIRE(array != nullptr, usage, "constant: expected a value");
      Shape shape;
      for (Index size : array->shape()) shape.emplace_back(size);
      WEFT_REQUIRE(!shape.empty() && shape == node.domain && array->dtype() == node.dtype, usage, "constant: a ", array->dtype(), " array of shape ",
                   to_text(array->shape()), " is not a ", node.dtype, " of shape ", to_text(node.domain));
      return;
    }
    case Kind::iota:
      WEFT_REQUIRE(node.dtype == i64 && !node.domain.empty(), usage, "iota: expected i64 and at least one axis, got ", node.dtype, " and ",
                   node.domain.size());
      return;
    case Kind::extent:
      WEFT_REQUIRE(node.dtype == i64 && node.domain.empty() && std::holds_alternative<Extent>(payload), usage,
                   "extent: expected an i64 scalar with an extent");
      return;
    case Kind::update: WEFT_REQUIRE(std::holds_alternative<AxisMap>(payload), usage, "update: expected a reference per axis"); return;
    case Kind::recurrence: {
      const auto* recurring = std::get_if<Recurring>(&payload);
      WEFT_REQUIRE(recurring != nullptr && recurring->recurrence, usage, node.mode == Mode::scan ? "scan" : "fold", ": expected a recurrence");
      return;
    }
    case Kind::others: WEFT_REQUIRE(std::holds_alternative<Along>(payload), usage, "others: expected an axis"); return;
    case Kind::fit: WEFT_REQUIRE(std::holds_alternative<Fit>(payload), usage, "broadcast: expected a target"); return;
    case Kind::apply:
    case Kind::reshape: return;
  }
}

}  // namespace weft
