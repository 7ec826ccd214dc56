// Estimates of how long programs take.
#pragma once
#include <functional>
#include <vector>

#include "program.h"
#include "schedule/machine.h"

namespace weft {

// Picoseconds of one unit of the root: of its instructions, or of its part of the arrays that depend on the root, whichever is more in the call that compiles.
// Of 17 functions, each on 64 KB, 512 KB and 16 MB: 1.07 of the time on one thread in the mean, by a factor of 1.7 more or less, with the machine as
// calibrated; 1.6 and 2.3 with the defaults, which know less of its memory (Zen 5).
using LoopWeight = std::function<int(const Loop&)>;      // instructions of a loop's body
Extent work_of_unit(const Program& program, const Machine& machine, const LoopWeight& weight);

// Marks vector loops that take next to none of the time of all programs: more than one vector at a time would cost compile time that no call gains
// back. Of the variance of columns, what follows the sums over 8192 rows takes .04 % of the time, and took a third of the code. And those that
// run long in each call, which gains it back soon.
void mark_run_times(std::vector<Program>& programs, const Bindings& bindings, const Machine& machine);

}  // namespace weft
