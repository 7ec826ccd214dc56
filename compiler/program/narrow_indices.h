// Folds of indices, as argmax has them, run in 32 bits where every index of a call fits: twice as many are in a vector, and before AVX-512 no
// instruction keeps the smaller of two 64-bit integers. argmax down 1000 x 1000 floats takes .53 of the time, of rows of ten .64 (Zen 3).
//
//   lanes j in b, folds %5 by min i64 {              lanes j in b, folds %5 by min i32 {
//     t6 = load index[j]                        ->     t6 = load index[j]                       of 32 bits
//     %5 += where t4 t6 9223372036854775807            %5 += where t4 t6 2147483647
//   }                                                }
//   t8 = %5                                          t9 = %5;  t8 = where (t9 = 2147483647) 9223372036854775807 t9
#pragma once
#include "program.h"

namespace weft {

// The same bits. Code relies on the extents along which the indices are: `relied` notes it.
void narrow_indices(Program& program, ReliedFacts& relied);

}  // namespace weft
