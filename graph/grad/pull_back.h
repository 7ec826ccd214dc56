// The adjoint of reading an operand through a map: the one step that is the adjoint of broadcasting, reduction,
// transposition and slicing at once.
#pragma once
#include <optional>
#include <variant>

#include "local.h"

namespace weft {

// A contribution to the gradient of a node, over the node's own axes. Axes it does not mention repeat.
struct Adjoint {
  std::variant<double, Operand> value = 0.0;
  std::optional<Mask> mask;

  Local in(Frame& frame) const;                              // the frame's first axes are the node's
  static Adjoint of(const Local& local);                     // what waits becomes a node
};

// `value` lives in the loops of a user that reads an operand of `shape` through `map`: sums it over the loops that the map
// does not name (one fold node, the last op inside it), and puts it where the map reads (an update node for a slice).
// order: the operand's preferred layout. keeps_mask: sums are masked where all that they add is, and what a slice put somewhere as it was; otherwise
// they are 0 there, which is enough where slopes are numbers.
Adjoint pull_back(const Local& value, const AxisMap& map, const Shape& shape, Order order, bool keeps_mask = false);

// The adjoint of a fit: itself in the other mode.
Adjoint fit_back(const Expr& g, const Node& fit, const Node& operand);
// The adjoint of update, whose result is read back through the places it wrote.
Adjoint read_back(const Adjoint& adjoint, const AxisMap& places);
Adjoint read_back_within(const Expr& g, const AxisMap& places, const Shape& window);

// The adjoint of reshape, or its tangent: the same elements under the other shape.
Adjoint reshape_back(const Expr& elements, const Shape& shape);

}  // namespace weft
