// What people write every day and the table does not have: pixels, points, small matrices, complex numbers, parts that are joined, scans, losses.
// Each beside a copy of as many bytes, which is the least that memory asks for.
#pragma once
#include <string_view>

#include <weft/options.h>

namespace bench {

// Measures and prints; 1 if a result has not the bits of the interpreter.
int everyday(std::string_view filter, bool csv, const weft::Options& options);

}  // namespace bench
