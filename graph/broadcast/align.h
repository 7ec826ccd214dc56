// Broadcasting rules as data for a node: the domain, and how each operand's axes follow it.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/graph.h>

namespace weft {

struct Alignment {
  Shape domain;
  std::vector<AxisMap> maps;                                   // one per operand
};

// The name of operand k in messages ("%x"), or "" to show its shape instead. Called only when something is wrong.
using NameOf = std::function<std::string(std::size_t)>;

// The Array API rule; `what` opens the error message.
Alignment align_array_api(std::string_view what, const std::vector<Shape>& shapes, const NameOf& name_of);
// The same onto a given domain: the map of an operand that may not change it (broadcast_to, assignment).
AxisMap align_onto(std::string_view what, const Expr& operand, const Shape& target);

// The letters of a domain's axes in messages, as graph text has them: i j k l p q .., without the symbols in `shapes`.
std::vector<std::string> axis_letters(std::size_t rank, const std::vector<Shape>& shapes);
// What to do about extents a and b that should have been equal; `numbers` is said when both are numbers.
std::string mismatch_remedy(const Extent& a, const Extent& b, std::string_view numbers);

}  // namespace weft
