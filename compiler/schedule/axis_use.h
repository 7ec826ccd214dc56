// What nodes do along the axes of a nest. The choices of lanes and of roots go by it.
#pragma once
#include <cstdint>
#include <vector>

#include "schedule.h"
#include "stride_class.h"

namespace weft {

struct AxisUses {
  std::vector<AxisUse> along;                          // by nest axis
  double least = 0;                                    // cost of what all nodes read and write as vectors, each along the best axis of its own

  // A node over these axes: axes[k] is the one of domain axis k, or -1. Bits of `folded`: axes of the nest over which something folds, which along few
  // elements is the end of a row for each of them. Variances over the first and the last axis of 300 x 500 x 7 floats take .4 of the time along others (Zen 3).
  void add(const Machine& machine, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, std::uint64_t folded, const std::vector<AxisUse>& own);
  // Of one axis as vectors. Nodes that do not run along it are in other loops, over another axis.
  double cost(const Machine& machine, std::size_t axis) const { return access_cost(machine, along[axis]) + (least - along[axis].least); }
};

// The strides of the memory of a node, in elements, in the call that compiles.
Dims strides_of(const Graph& graph, const Hints& hints, NodeId id);
std::vector<StrideClass> classes_of(const Graph& graph, const Hints& hints, NodeId id);

// Elements of the first `count` of these axes of a node, in the call that compiles.
double volume_of(const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, std::size_t count);

bool has_folds(const Graph& graph, const Nest& nest);  // of any of its nodes
void add_folds(const Node& node, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, AxisUses& uses);

}  // namespace weft
