// Rows of scratch, and the loops that copy between them and arrays: what passes over programs add.
#pragma once
#include <vector>

#include "program.h"

namespace weft {

// For elements of another buffer along these axes, so many of each; which buffer it is.
int add_row(Program& program, int of, std::vector<int> axes, Shape extents);
// Rows apart by a line more than they are long: those of a power of two would share a few sets of a cache.
Shape apart_by_a_line(Shape extents, DType dtype);

// Copies elements of `from` to `to`: a vector loop over the last of the axes, the others around it.
Loop copying(Program& program, int from, const std::vector<Subscript>& from_at, int to, const std::vector<Subscript>& to_at, const std::vector<LoopVar>& loops);

}  // namespace weft
