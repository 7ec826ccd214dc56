// Many copies of a computation at once: what y computes from x gets axes in front, one copy for each index of them.
#pragma once
#include <utility>

#include <weft/graph.h>

namespace weft {

// x repeated over `lead` (a copy), and y computed from that; what does not depend on x is shared by the copies.
std::pair<Expr, Expr> batched(const Expr& x, const Expr& y, const Shape& lead);

}  // namespace weft
