// Results whose rows of a few elements have no gaps, written one element of each row at a time by loops that cannot run side by side in
// registers: what they write is kept in rows of scratch, one for each of the few, and written from there as whole rows.
//
//   serial j in 3 {                                     serial j in 3 {
//     ..                                                  ..
//     lanes i { y[i,j] = a }                    ->        lanes i { row[j,i] = a }
//   }                                                   }
//                                                       serial j in 3 { lanes i { y[i,j] = row[j,i] } }
//
// The second loop has all three in registers. Points times a 3 x 3 matrix would store every third float.
//
// So are operands of five elements and more that several of those vector loops load: a loop before them brings them to rows. Softmax over the middle
// axis of 300 x 500 x 7 floats takes .75 of the time (Zen 3).
#pragma once
#include "loop_choices.h"

namespace weft {

// The same bits. Leaves the program alone where there is nothing of the kind.
void join_results(Program& program, const StrideClasses& classes, const std::string& features, const Machine& machine);

}  // namespace weft
