// What differs between machines, in numbers: what memory costs at each level of cache, a gather, an instruction, a thread.
//
//   weft calibrate --write          # measures them once, for every program of this user
//
// They are read at first use from the file $WEFT_MACHINE, else $XDG_CONFIG_HOME/weft/machine, else ~/.config/weft/machine: lines
// `key value`, # begins a comment. What the file does not name, or all if there is none, is the default. Only speed depends on
// them: results are the same bits with any (cost_model.h says why).
#pragma once
#include <filesystem>
#include <string>

#include <weft/shape.h>

namespace weft {

inline constexpr Index line_bytes = 64;  // of every cache

// Processors of one maker take 13 cycles for sixteen, in which 26 other instructions begin; those of another 10 for each (512 bits).
double usual_square_root();
double usual_quotient();                 // the same for quotients of f32
double ways_of_first_level();            // of this processor; 8 where it does not say
// The part of the third level that a call may count on finding its predecessor's results in: all of a small one. A large one is shared by
// many processors, slow to fetch lines for writing, and no system tells how large a part is. From 16 MiB on, two calls that read each
// other's results are faster with stores past the caches where it has 260 MiB (Emerald Rapids: 1.0, 1.2, 1.5 times for 16, 32, 64 MiB).
double usual_stream_bytes();
// Where the processor's own fetching keeps up with what a sum reads, instructions that fetch only add to it. Row sums of 8192 x 1024 floats, two
// threads: .031 ns an element, with them .022 (Zen 5); of 64 times as many 5 % less time with them. Zen 4 and Emerald Rapids gain 20 to 30 % from
// the end of the third level on.
double usual_fetch_bytes();

// Costs in vector instructions of a loop that stays in the first level, memory for each 64 bytes. An array lies in the second level if a
// quarter of that holds it: others need room too.
struct Machine {
  double first_level_ways = ways_of_first_level();     // lines that lie a power of two apart stay there up to so many
  double second_level_bytes = 1 << 20, second_level_read = 1, second_level_write = 1;
  double third_level_bytes = 1 << 24, third_level_read = 6, third_level_write = 10;
  double memory_read = 20, memory_write = 40;          // a write fetches the line first
  double gather = 8;                                   // an element of a gather, in elements of a contiguous load
  double square_root = usual_square_root();            // sixteen of f32 by the processor's instruction, in vector instructions
  double quotient = usual_quotient();                  // sixteen of f32, by the same unit
  double vector_ps = 400;                              // a vector instruction of an ordinary loop, second level included
  double wake_ns = 20000;                              // until a thread that sleeps has begun to work, in nanoseconds
  double stream_bytes = usual_stream_bytes();          // calls on more bytes store their results past the caches
  double fetch_bytes = usual_fetch_bytes();            // folds of more bytes fetch ahead of their reading
  friend bool operator==(const Machine&, const Machine&) = default;
};

std::string to_text(const Machine& machine);                                   // the content of a file
Machine parse_machine(const std::string& text, const std::string& file);      // throws Error(usage), with the name of the file and the line
std::filesystem::path machine_file();                                          // where it is read and written; empty: nowhere

// That of this process. Throws Error(usage) if the file is bad.
const Machine& this_machine();

}  // namespace weft
