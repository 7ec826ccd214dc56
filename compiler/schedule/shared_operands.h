// Operands that rows of sums share: of x[i,k] * y[k,j] over k the rows i all read y. Where a vector loop runs along j, such an operand is packed
// for many rows, in whatever order it lies, and read by blocks of them (program/register_block.h).
#pragma once
#include "schedule.h"

namespace weft {

class SharedOperands {
 public:
  SharedOperands(const Graph& graph, const Nest& nest);
  // How many rows share the operand of this map, of a node of the nest, if it is one; else 0.
  Index rows_of(const Placed& placed, const AxisMap& map, int lanes) const;
  // If the nest has some along these vectors: the loops over its rows and over its sums, which are to be the last ones outside the vectors.
  struct Loops {
    int rows = -1, sums = -1;
  };
  Loops loops(const Graph& graph, const Nest& nest, int lanes) const;

 private:
  int rows_for(const Placed& placed, const AxisMap& map, int lanes) const;

  const std::vector<NestAxis>& axes_;
  std::vector<int> kept_;               // axes of the results of all large sums
  int sums_ = -1;                       // the axis that these run over; -1: there are none, or they differ
};

}  // namespace weft
