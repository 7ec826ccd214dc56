// Stores of parts of vectors, where a processor has no masks for them or microcode: fifteen floats from where they were put as a whole take 4.4 ns,
// with masks of AVX2 12.6 and by memcpy, which reads across what was stored there, 7.7 (Zen 3).
#pragma once
#include <weft/shape.h>

namespace weft {

// void weft_move_part(to, from, bytes): of a vector, no more than some hundred bytes; the two do not overlap.
inline constexpr const char* move_symbol = "weft_move_part";
void move_part(char* to, const char* from, Index bytes);

}  // namespace weft
