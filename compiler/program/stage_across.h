// Arrays that lie across the vector loops of rows, where those are too large to be emitted for sixteen rows at once, or would crowd a set of the first level with results: sixteen rows of
// such an array are transposed into rows of scratch before the loops, and results after them.
//
//   parallel i {                            parallel i by 16 {
//     lanes j, folds s {                      serial i { lanes j { row[i,j] = x[i,j] } }       // tiles: emit_tile.cpp
//       s += exp(x[i,j])           ->         serial i { lanes j, folds s { s += exp(row[i,j]) }; .. }
//     }                                     }
//     ..
//   }
//
// Every line of memory is read once and as a whole, whatever the loops are: several of them, with folds, with long functions.
#pragma once
#include "loop_choices.h"

namespace weft {

// Results are the same bits: the same loops in the same order. Leaves the program alone where it does not pay.
void stage_across(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine, bool past_caches);

}  // namespace weft
