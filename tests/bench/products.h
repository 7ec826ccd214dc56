// Products of matrices and what is like them, written as sums: weft beside Eigen.
#pragma once
#include <string_view>

#include <weft/options.h>

namespace bench {

// Measures and prints; 1 if a result is farther from Eigen's than sums of floats may be.
int products(std::string_view filter, bool csv, const weft::Options& options);

}  // namespace bench
