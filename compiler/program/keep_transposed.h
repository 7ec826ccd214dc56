// Arrays that lie across the vectors of a nest whose root runs as vectors, and that several of its loops read: the first of them keeps
// what it has transposed in rows of scratch, which the others read.
//
//   parallel i by 64 {                               parallel i by 64 {
//     serial j, folds m { lanes i { m max= x[i,j] } }  ->    serial j, folds m { lanes i { t = x[i,j]; row[j,i] = t; m max= t } }
//     serial j { lanes i { .. exp(x[i,j] - m) } }          serial j { lanes i { .. exp(row[j,i] - m) } }
//   }                                                }
//
// A transposition is dear twice: when it runs, and as code.
#pragma once
#include "loop_choices.h"

namespace weft {

// Results are the same bits. Leaves the program alone where rows would not stay in the second level.
void keep_transposed(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine);

}  // namespace weft
