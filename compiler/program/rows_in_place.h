// Products of others read rows of scratch and write rows of scratch. Where a loop only copies the elements of an array there, or from there to
// an array, that lie side by side along the vectors, they read and write the array itself.
//
//   lanes j { row1[j] = x[i,j] }
//   row2[j] = product of others along j of row1[j]       ->     y[i,j] = product of others along j of x[i,j]
//   lanes j { y[i,j] = row2[j] }
//
// Elements that lie across are copied: their loops transpose them.
#pragma once
#include "loop_choices.h"

namespace weft {

// The same bits. Leaves the program alone where there is nothing of the kind.
void use_rows_in_place(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine);

}  // namespace weft
