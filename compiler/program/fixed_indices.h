// Arrays of which a program reads single elements along their first dimensions, as a step of an unrolled network reads its part of a sequence, are read
// from there on:
//
//   t3 = load %x[7,i,k]      ->      t3 = load %x[0,i,k]           and %x begins at [7]
//   t4 = load %x[9,i,k]              t4 = load %x[2,i,k]
//
// Programs that read other parts of the same arrays come out the same, and can share their code (common_form.h).
#pragma once
#include <vector>

#include "program.h"
#include "schedule/stride_class.h"

namespace weft {

struct FixedIndex {
  int buffer;
  std::size_t dim;
  Index at;
};

// What was taken off the accesses: of inputs and arrays between nests in order c that are only read, and whose other dimensions all run.
std::vector<FixedIndex> take_fixed_indices(Program& program, const StrideClasses& classes);

}  // namespace weft
