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
inline constexpr Index page_bytes = 4096;

// Processors of one maker take 13 cycles for sixteen, in which 26 other instructions begin; those of another 10 for each (512 bits).
double usual_square_root();
double usual_quotient();                 // the same for quotients of f32
// Of as many registers as sixteen floats take.
double usual_vector_ps();
double bytes_of_first_level();           // of this processor; 32 KiB where it does not say
double ways_of_first_level();            // likewise; 8
// The part of the third level that a call may count on finding its predecessor's results in: all of a small one. A large one is shared by
// many processors, slow to fetch lines for writing, and no system tells how large a part is. From 16 MiB on, two calls that read each
// other's results are faster with stores past the caches where it has 260 MiB (Emerald Rapids: 1.0, 1.2, 1.5 times for 16, 32, 64 MiB).
double usual_stream_bytes();
// Stores past the caches take turns on the way to memory of a group of processors, those through them do not: twice as much where that was
// measured. 2 x + 1 of 24, 40, 50, 64 MiB past and through the caches, us: 451 and 415, 769 and 942, 959 and 1209, 1253 and 1918; on two
// threads 440 and 172, 734 and 503, 920 and 825, 1195 and 1306 (Zen 4).
double usual_shared_stream_bytes();
// Where the processor's own fetching keeps up with what a sum reads, instructions that fetch only add to it. Row sums of 8192 x 1024 floats, two
// threads: .031 ns an element, with them .022 (Zen 5); of 64 times as many 5 % less time with them. Zen 4 and Emerald Rapids gain 20 to 30 % from
// the end of the third level on. Zen 3 loses as much at any size: sums in memory .20 ns an element, with them .26.
double usual_fetch_bytes();

// If values of whole rows cost such a part of a row, those of a block run as vectors (blocks_pay); of rows in memory it may take more. Layer norm in
// memory, in blocks and row by row, ns an element: of 64 floats .21 and .27, of 256 .19 and .16, of 1024 .19 and .15 (Zen 5); of 1024 .21 and .24,
// and 256 floats divided by their length .17 and .20 (Zen 4).
inline constexpr double least_along_root = 0.015, one_by_one = 0.2;      // such a part; if long rows in memory go one by one
double usual_blocks_in_memory();
// Where several loops run over a row in memory, by one of the next rows, at least so many bytes ahead; any number up to a row's: the next one. Of rows of
// 1024 floats, if that is the next row and the one after it: layer norm .18 and .15 ns an element, softmax .24 and .22 (Zen 5); .21 and .21, .30
// and .29, but divided by their lengths .17 and .27 (Zen 4).
inline constexpr double next_row = 1, after_next_row = 8192;
double usual_row_bytes_ahead();
// Large transposes past the caches, in blocks of tiles: how many elements of the outer loop a block has. Short blocks fetch lines of the next, long ones
// leave that to the processor and take two vectors at a time. 2 x^T of 4096^2 floats, ns an element: .26 in blocks of 64, .28 and .32 of 128 and
// 256 (Zen 5); x^T + y 1.2 and .92, 2 x^T .73 and .56 in short and long ones (Zen 3).
inline constexpr double short_tile_block = 64, long_tile_block = 512;
double usual_tile_block();
// Of larger arrays tiles in blocks fetch the next vectors of each row. 1.5 x + y of F matrices into a C one, ns an element: of 768 x 1024 floats .17,
// without .14; of 3000 x 4000 .31 and .39 (Zen 5). Zen 4 gains 10 to 30 % from 768 x 1024 on.
double usual_tile_fetch_bytes();

// Costs in vector instructions of a loop that stays in the first level, memory for each 64 bytes. An array lies in the second level if a
// quarter of that holds it: others need room too.
struct Machine {
  double first_level_bytes = bytes_of_first_level();
  double first_level_ways = ways_of_first_level();     // lines that lie a power of two apart stay there up to so many
  double second_level_bytes = 1 << 20, second_level_read = 1, second_level_write = 1;
  double third_level_bytes = 1 << 24, third_level_read = 6, third_level_write = 10;
  double memory_read = 20, memory_write = 40;          // a write fetches the line first
  double gather = 8;                                   // an element of a gather, in elements of a contiguous load
  double square_root = usual_square_root();            // sixteen of f32 by the processor's instruction, in vector instructions
  double quotient = usual_quotient();                  // sixteen of f32, by the same unit
  double vector_ps = usual_vector_ps();                // a vector instruction of an ordinary loop, of sixteen floats
  double wake_ns = 20000;                              // until a thread that sleeps has begun to work, in nanoseconds
  double stream_bytes = usual_stream_bytes();          // calls on more bytes, half of them results, store these past the caches
  double shared_stream_bytes = usual_shared_stream_bytes();   // the same of calls on several threads
  double fetch_bytes = usual_fetch_bytes();            // folds of more bytes fetch ahead of their reading
  double blocks_in_memory = usual_blocks_in_memory();  // such a part of rows in memory
  double row_bytes_ahead = usual_row_bytes_ahead();    // of rows in memory
  double tile_block = usual_tile_block();              // of transposes past the caches
  double tile_fetch_bytes = usual_tile_fetch_bytes();  // blocks of tiles fetch ahead of larger arrays
  friend bool operator==(const Machine&, const Machine&) = default;

  // Calls on more bytes, `written` of `all` results, store these past the caches.
  Index bytes_within_caches(double all, double written, int threads) const;
};

std::string to_text(const Machine& machine);                                   // the content of a file
Machine parse_machine(const std::string& text, const std::string& file);      // throws Error(usage), with the name of the file and the line
Machine read_machine(const std::filesystem::path& file);                       // likewise; the defaults if there is no such file
std::filesystem::path machine_file();                                          // where it is read and written; empty: nowhere

// That of this process. Throws Error(usage) if the file is bad.
const Machine& this_machine();

}  // namespace weft
