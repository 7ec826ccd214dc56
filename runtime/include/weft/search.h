// Units of a stage that looks for where extremes stand, which the stages before folded: what is not the extreme of its own unit is nowhere in it. Nearly all
// units are left out, so the index of the largest number of an array takes one pass over it instead of two.
//
//   unit            0     1     2     3
//   row of max()    2.0   3.5   1.0   3.5      the merge made row 0 the largest of all, 3.5: unit 0 always runs
//   runs            yes   yes   no    yes
//
// Plain numbers, as all of a Kernel: slots and entries of the sizes table. Immutable; safe to use from several threads at once. Costs a few nanoseconds a unit.
#pragma once
#include <vector>

#include <weft/dtype.h>
#include <weft/shape.h>

namespace weft {

struct UnitSearch {
  struct Extreme {
    DType dtype = f64;
    int rows = -1;                          // slot: of each unit, as a merge leaves them (merge.h)
    int count = -1, pitch = -1;             // entries of sizes: elements of a row, and from one to the next
  };
  struct Found {                            // what a unit leaves, likewise
    int rows = -1, count = -1, pitch = -1;
    Scalar nothing;                         // where it finds nothing
  };
  std::vector<Extreme> extremes;
  std::vector<Found> results;

  // Whether an element of some extreme is, or may be, in the unit. A NaN is an extreme, and is where NaNs are.
  bool may_hold(void* const* slots, const Index* sizes, Index unit) const;
  void find_nothing(void* const* slots, const Index* sizes, Index unit) const;
};

}  // namespace weft
