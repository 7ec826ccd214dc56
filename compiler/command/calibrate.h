// Measures what differs between machines (machine.h) with loops that weft compiles: what `weft calibrate` does.
#pragma once
#include <iosfwd>

#include "schedule/machine.h"

namespace weft {

// Takes about a second and 128 MiB. Other work on the machine makes memory and threads look dearer.
Machine measure_machine();

// Prints what it measured, as the content of machine_file(), and writes that file if asked to. Throws Error(usage) if it cannot.
void calibrate(bool write, std::ostream& out);

}  // namespace weft
