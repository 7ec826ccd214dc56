// Rows of a result that begin within lines, on their way past the caches: they are put together in memory of the first level, and leave it as whole lines.
#pragma once
#include <weft/shape.h>

namespace weft {

// Of what is staged: the line of the result that it begins in, which bytes of the stage are there.
struct LineStage {
  char* line = nullptr;
  Index begin = 0, end = 0;
};
inline constexpr Index staged_bytes = 1024;      // from which on lines leave the stage

// void weft_move_stage(stage, memory, to): what is staged goes where it belongs; the next bytes are of `to`, and none if that is null.
// void weft_store_lines(stage, memory): whole lines do. The memory begins a line, and goes on for one behind the last of what is staged.
inline constexpr const char *move_stage_symbol = "weft_move_stage", *store_lines_symbol = "weft_store_lines";
void move_stage(LineStage* stage, char* memory, char* to);
void store_lines(LineStage* stage, char* memory);

}  // namespace weft
