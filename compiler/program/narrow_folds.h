// Folds whose numbers fit 32 bits, though they are of 64, run in 32: twice as many are in a vector. Before AVX-512 no instruction keeps the smaller of two
// 64-bit integers either.
//
// Indices, as argmax has them:
//
//   lanes j in b, folds %5 by min i64 {              lanes j in b, folds %5 by min i32 {
//     t6 = load index[j]                        ->     t6 = load index[j]                       of 32 bits
//     %5 += where t4 t6 9223372036854775807            %5 += where t4 t6 2147483647
//   }                                                }
//   t8 = %5                                          t9 = %5;  t8 = where (t9 = 2147483647) 9223372036854775807 t9
//
// and sums of conditions, which are counts:
//
//   lanes j in b, folds %5 by sum i64 {              lanes j in b, folds %5 by sum i32 {
//     %5 += cast t4                             ->     %5 += cast t4
//   }                                                }
//   t8 = %5                                          t9 = %5;  t8 = cast t9
//
// argmax down 1000 x 1000 floats takes .53 of the time, of rows of ten .64; counts of floats .36, of bytes .45 (Zen 3).
#pragma once
#include "program.h"

namespace weft {

// The same bits. Code relies on the extents along which the indices and the counts are: `relied` notes it.
void narrow_folds(Program& program, ReliedFacts& relied);

}  // namespace weft
