// How a reshape changes a shape: group after group of axes into others of as many elements.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include <weft/graph.h>

namespace weft {

// Axes [first, last) of a shape, and those of another that have as many elements and stand in their place.
struct ReshapeGroup {
  int first, last, to_first, to_last;
  bool changes = true;                          // more than the number of the axis
};

// The smallest groups; all axes in one where nothing smaller is known to have as many elements.
std::vector<ReshapeGroup> groups_of_reshape(const Shape& from, const Shape& to);

inline const ReshapeGroup& group_of(const std::vector<ReshapeGroup>& groups, int axis) {
  return *std::find_if(groups.begin(), groups.end(), [&](const ReshapeGroup& group) { return axis >= group.first && axis < group.last; });
}
// Whether a map names an axis of a group that changes.
bool changes(const std::vector<ReshapeGroup>& groups, const AxisMap& map);
// Of a map that names none.
AxisMap renumbered(const std::vector<ReshapeGroup>& groups, AxisMap map);

// A value of this shape, read over the axes of `from`, under the shape that its dimensions have where each group that changes is what it became in `to`; and
// how it is read over the axes of that. None unless it follows all axes of such a group, one after the other.
struct RegroupedValue {
  Shape shape;
  AxisMap map;
};
std::optional<RegroupedValue> regrouped(const std::vector<ReshapeGroup>& groups, const Shape& from, const Shape& to, const Shape& shape, const AxisMap& map);

NodeId add_reshape(Graph& graph, NodeId source, Shape shape);      // of the whole of a node

}  // namespace weft
