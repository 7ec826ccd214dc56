// Views of arrays as cases spell them.
//
// attrs.views (or view) is applied to the arrays before the op sees them: one entry for all inputs, a list with one entry for
// each, or an object by input name or position. An entry is null, a step, or a list of steps:
//   "T", "transpose", "transposed"                       all axes reversed;  {"transpose": [1, 0]} or {"permute": ..}: permuted
//   "flip", "flipped", "reversed", "[::-1]"              the first axis backwards;  {"flip": [0, 2]}, {"flip": 1}: those
//   "[1:, ::2]", {"slice": [[1, null, 2], 0, "..."]}     as in NumPy; integers drop their axis
#pragma once
#include <optional>
#include <vector>

#include "case.h"

namespace conformance {

// One axis of an index expression: a slice of NumPy, or one index.
struct AxisIndex {
  std::optional<Index> start, stop;
  Index step = 1;
  bool is_index = false;                         // `start`; the axis goes away
};

// One entry for each axis: `[1, "..."]`, `[[0, null, 2], ":"]`; missing axes are whole. BadCase for anything else.
std::vector<AxisIndex> read_index(const Json& index, int rank);
// The same from text: "1:, ::2" without the brackets.
std::vector<AxisIndex> parse_index(const std::string& text, int rank);
// First index, number and step of the elements that `index` names along an axis of that size; BadCase if out of bounds.
struct Range { Index start, count, step; };
Range range_of(const AxisIndex& index, Index size);

Array view_of(const Array& array, const std::vector<AxisIndex>& index);
Array apply_views(const Case& test, std::size_t input, const Array& array);

}  // namespace conformance
