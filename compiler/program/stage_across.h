// Arrays that lie across the vector loops of rows, where those are too large to be emitted for sixteen rows at once, or would crowd a set of the
// first level with results: sixteen rows of such an array are transposed into rows of scratch before the loops, and results after them.
//
//   parallel i {                            parallel i by 16 {
//     lanes j, folds s {                      serial i { lanes j { row[i,j] = x[i,j] } }       // tiles: emit_tile.cpp
//       s += exp(x[i,j])           ->         serial i { lanes j, folds s { s += exp(row[i,j]) }; .. }
//     }                                     }
//     ..
//   }
//
// Where rows go in blocks anyway, an array that several loops of a block read is transposed once for all of them.
//
// So are arrays that lie across with a few elements of another loop inside, without a gap: pixels of three floats, where an image is turned or its
// planes become pixels. The copies run through both at once, 48 elements of each row:
//
//   parallel i {                            parallel i by 16 {
//     serial k in 3 {                         serial l in 3*i { lanes j { row[l,j] = x[j,l] } }
//       lanes j { y[j,i,k] = .. }     ->      serial i { serial k { lanes j { row2[i,k,j] = .. } } }
//     }                                       serial l in 3*i { lanes j { y[j,l] = row2[l,j] } }
//   }                                       }
//
// Every line of memory is read once and as a whole, whatever the loops are: several of them, with folds, with long functions.
#pragma once
#include "loop_choices.h"

namespace weft {

// Results are the same bits: the same loops in the same order. Leaves the program alone where it does not pay.
void stage_across(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine, bool past_caches);

}  // namespace weft
