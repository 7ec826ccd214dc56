// What nodes do along the axes of a nest. The choices of lanes and of roots go by it.
#pragma once
#include <vector>

#include "schedule.h"
#include "stride_class.h"

namespace weft {

using AxisUses = std::vector<AxisUse>;                 // by nest axis

// The strides of the memory of a node, in elements, in the call that compiles.
Dims strides_of(const Graph& graph, const Hints& hints, NodeId id);
std::vector<StrideClass> classes_of(const Graph& graph, const Hints& hints, NodeId id);

// Elements of the first `count` of these axes of a node, in the call that compiles.
double volume_of(const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, std::size_t count);

void add_folds(const Node& node, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, AxisUses& uses);

}  // namespace weft
