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

std::vector<Index> consecutive(std::size_t count, std::size_t first = 0);   // first, first + 1, ..
// Axis k of an operand follows axes[k] of the domain; one of extent 1 stays at 0 where the domain's is longer.
AxisMap follow_axes(const Shape& shape, const Shape& domain, const std::vector<Index>& axes);
// Error(shape) unless `axes`, called `list` in the message, has one entry for each of the `rank` axes of operand `name`, in
// strictly increasing order and each an axis of the target.
void check_axis_list(std::string_view what, std::string_view list, const std::vector<Index>& axes, const std::string& name, std::size_t rank,
                     std::size_t target_rank);

// Error(usage) unless both, neither empty, are of one graph; `role` is what b is called before its name.
void check_same_graph(std::string_view what, const Expr& a, const Expr& b, std::string_view role = "");
// Error(usage) unless the operands are Exprs of one graph.
void check_one_graph(std::string_view what, const std::vector<Expr>& operands);

// The letters of a domain's axes in messages, as graph text has them: i j k l p q .., without the symbols in `shapes`.
std::vector<std::string> axis_letters(std::size_t rank, const std::vector<Shape>& shapes);
// What to do about extents a and b that should have been equal; `numbers` is said when both are numbers.
std::string mismatch_remedy(const Extent& a, const Extent& b, std::string_view numbers);

}  // namespace weft
