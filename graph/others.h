// Nodes of Kind::others: for every element the product of all others along one axis.
#pragma once
#include <weft/graph.h>

namespace weft {

// Whether such a node may run along an axis of this extent: known, and few enough that a row of them stays in registers.
inline bool fits_others(DType dtype, const Extent& extent) {
  return (dtype == f32 || dtype == f64) && extent.is_number() && extent.constant() >= 2 && extent.constant() <= most_others;
}

// Over `domain`, along `axis` of it.
Expr product_of_others(Graph& graph, DType dtype, Shape domain, int axis, Operand element, Order order);

// The same as a prefix times a suffix along `axes`, which any extents have and which is differentiated: for each element what comes before it,
// and at `flip` of it what comes after.
struct BeforeAndAfter {
  Expr before, after;
  AxisMap flip;
};
BeforeAndAfter products_before_and_after(Graph& graph, DType dtype, const Shape& domain, const std::vector<int>& axes, const Operand& element, Order order);

}  // namespace weft
