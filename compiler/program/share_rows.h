// Rows of one unit that are not needed at the same time share memory, so that a long chain of loops keeps two or three rows in the first
// level instead of one for each loop.
//
//   lanes i { row0[i] = .. }  lanes i { row1[i] = f(row0[i]) }  lanes i { row2[i] = g(row1[i]) }      row2 is row0
#pragma once
#include "program.h"

namespace weft {

// Rows that vector loops directly in the root write and read; others keep their own. Buffers that remain keep their order. Cost: rows times
// those that are needed at once.
void share_rows(Program& program);

// Buffer k becomes buffer same[k]: itself, or one that remains.
void join_buffers(Program& program, const std::vector<std::size_t>& same);

}  // namespace weft
