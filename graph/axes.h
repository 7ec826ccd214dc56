// Axes given by a user, as sorted positions.
#pragma once
#include <string_view>
#include <vector>

#include <weft/expr.h>

namespace weft {

int normalize_axis(std::string_view what, const Expr& x, int axis);                            // 0 .. rank-1; Error(shape)
std::vector<int> normalize_axes(std::string_view what, const Expr& x, const Axes& axes);       // ascending, each once

// Copies x through a map: x may not be an empty Expr.
Expr copy_through(const Expr& x, Shape domain, AxisMap map);

}  // namespace weft
