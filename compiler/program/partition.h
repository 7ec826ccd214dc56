// Vector loops whose bodies ask where they are: windows read backwards, as concatenation, padding and gradients of slices have them, and
// comparisons of an index. From one bound of these to the next the answers are the same. So whole vectors between two bounds along the loop run a
// body of their own that does not ask, and so do all between two bounds along a loop outside: loads are plain, or their zero is known, and what
// only the other side of a selection needs is gone.
//
//   lanes j in p+q {                                        lanes j in p+q { .. }     the vectors around a bound
//     t0 = load %x[i,j] where written                 ->      from 0 to p { store %z[i,j] = load %x[i,j] }
//     t1 = load %y[i,-p+j] where written                      from p to p+q { store %z[i,j] = load %y[i,-p+j] }
//     store %z[i,j] = where (j < p) t0 t1
//   }
//
// Halide's name for it is loop partitioning.
#pragma once
#include "program.h"

namespace weft {

// Adds parts to the loops that are worth it; the same bits. The sizes of the call that compiles tell which bounds are far from each other;
// code for other sizes is correct.
void partition_loops(Program& program, const Bindings& bindings);

}  // namespace weft
