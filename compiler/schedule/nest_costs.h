// What a nest costs along each of its axes, from which the vector axis, the root and the order of the loops between are chosen (arrange.cpp).
#pragma once
#include <cstdint>
#include <vector>

#include "axis_use.h"
#include "products.h"

namespace weft {

bool folds_axis(const Graph& graph, const Nest& nest, int axis);       // whether some node does

struct NestCosts {
  AxisUses uses;                        // by axis
  std::vector<double> stride;           // by axis: sum of |stride| over accesses, outermost if large
  std::vector<bool> neighbours;         // by axis: its elements lie side by side in an array
  std::vector<bool> apart;              // by axis: those of a few others, and further axes, lie between its elements
  std::vector<double> carried;          // by axis: cost of recurrences along it, in contiguous loads
  std::vector<double> volume;           // by axis: elements of all nodes along it
  double arithmetic = 0;                // of the whole nest, in contiguous loads
  double bytes = 0;                     // of the arrays that it reads and writes
  double all = 0;                       // elements of all nodes
  SharedOperands shared;

  NestCosts(const Graph& graph, const Hints& hints, const Schedule& schedule, const Nest& nest);

  // Whether it is more than an aside, as samples of a variance are: what does not run along the vector axis runs along what is innermost.
  bool has_much(std::size_t axis) const { return 4 * volume[axis] >= all; }
  // Of arrays in memory, short rows that lie far apart come at the pace of misses.
  double of_far(const Machine& machine, std::size_t axis) const { return is_in_memory(machine, bytes) ? far_in_loads * uses.along[axis].far : 0; }

 private:
  // What one dimension of an access runs along, and by how many elements of memory.
  struct Along {
    int axis;
    Index step;
    StrideClass known;
    double volume;
    Index rows = 0;                     // that share it, packed
    bool is_prepared = false;           // transposed before the loops that read it again (program/keep_transposed.h)
  };
  // One access of a node. folded: axes over which something folds.
  void add(const Nest& nest, const std::vector<Along>& access, std::vector<AxisUse>& own, bool masks, std::uint64_t folded);
  static bool lies_apart(const Nest& nest, const std::vector<Along>& access, const Along& along);
};

}  // namespace weft
