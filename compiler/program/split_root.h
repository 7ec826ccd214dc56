// A root that goes element by element, in units of several: for what is made once for all of them.
//
//   parallel i in n {                      parallel i in n by 16 {
//     t0 = load w[]                          t0 = load w[]
//     ..                          ->         serial i in n within unit { .. }
//   }                                      }
#pragma once
#include "program.h"

namespace weft {

// What does not depend on the root stays before the loop over a unit, which is the last item. The root folds nothing.
void split_root(Program& program, Index unit);

}  // namespace weft
