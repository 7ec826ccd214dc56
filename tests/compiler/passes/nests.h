// A graph whose reshapes move: as many loop nests as are left, the interpreter's bits, and the values of the graph as it was built.
#pragma once
#include <vector>

#include "bits.h"

inline void check_nests(const weft::Expr& y, const std::vector<weft::Expr>& inputs, const std::vector<weft::Array>& arrays, int nests = 1) {
  const weft::Function f = check_bits({y}, inputs, arrays);
  CAPTURE(f.graph());
  CHECK(difference(f(arrays)[0], interpret({y}, inputs, arrays)[0]) == "");
  CHECK(f.bind(arrays, f(arrays)).loop_nests() == nests);
}
