// Partial results of units become one: a stage without code of its own.
//
// A reduction over the outer axis leaves one row of partial results for each unit of its stage. The stage after it folds the rows of each of its
// results in a fixed tree (the same bits for any number of threads) and copies what comes out to its array. Machine code for that would
// take longer to generate than most sums take to run.
//
// Where there are no units, the stage before does not run: results are values of nothing.
//
// Plain numbers, as all of a Kernel: slots and entries of the sizes table. Runs on one thread.
#pragma once
#include <vector>

#include <weft/dtype.h>
#include <weft/shape.h>

namespace weft {

// rows[0] = the tree over `units` rows of `count` elements, which are `pitch` apart; the others hold anything afterwards, or what they held where any
// order gives the same.
using MergeFn = void (*)(void* rows, Index count, Index pitch, Index units);

struct Merge {
  struct Axis {                           // entries of sizes
    int extent, from, to;                 // elements; bytes from one to the next, in a row and in the array
  };
  struct Result {
    MergeFn fold = nullptr;
    int rows = -1, array = -1;            // slots
    int count = -1, pitch = -1;           // entries of sizes: elements of a row, and from one to the next
    int units = -1;                       // likewise: rows
    Scalar nothing;                       // the value of no rows, of the dtype of all of this
    std::vector<Axis> axes;               // of both, outermost first
  };
  std::vector<Result> results;            // in order

  void run(void* const* slots, const Index* sizes) const;
};

}  // namespace weft
