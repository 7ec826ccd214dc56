// Rows of a result that begin within lines, on their way past the caches: they are put together in memory of the first level, and leave it as whole lines.
#pragma once
#include <weft/shape.h>

namespace weft {

// The line of the result that its bytes begin in, and which bytes of its memory are there.
struct WriteCombiner {
  char* line = nullptr;
  Index begin = 0, end = 0;
};
inline constexpr Index combined_bytes = 1024;      // from which on lines leave it

// void weft_combine_at(combiner, memory, to): what is there goes where it belongs; the next bytes are of `to`, and none if that is null.
// void weft_flush_lines(combiner, memory): whole lines do. The memory begins a line, and goes on for one behind the last byte.
inline constexpr const char *combine_at_symbol = "weft_combine_at", *flush_lines_symbol = "weft_flush_lines";
void combine_at(WriteCombiner* combiner, char* memory, char* to);
void flush_lines(WriteCombiner* combiner, char* memory);

}  // namespace weft
