// Programs of short calls: one unit takes the whole axis of the root, which a call's facts tell and code then relies on. It need not find out which part
// of the axis it is given, and what it folds over the axis are results: nothing to merge after it.
//
//   parallel i in n by 1024 {                                   parallel i in n by 1024, one unit {
//     lanes i in n within unit, folds %0 { .. }          ->       lanes i in n within unit, folds %0 { .. }
//     store partial(%0)[] = t1                                    store %0[] = t1
//   }                                                           }
//   merges %0
#pragma once
#include "program.h"

namespace weft {

// The same bits. Leaves the program alone where a longer call would pay, by code of its own for a large body, for what a short one hardly notices.
void run_as_one_unit(Program& program);

}  // namespace weft
