// Where readers take what they read: at the index it is made at, in the same iteration of a loop, or elsewhere.
#pragma once
#include <cstdint>
#include <vector>

#include <weft/graph.h>

namespace weft {

// A recurrence that keeps its states.
inline bool is_scan(const Node& node) { return node.kind == Kind::recurrence && node.mode == Mode::scan; }

// Whether a reader takes an operand at the index it is made at, along one dimension of it.
bool reads_in_place(const Graph& graph, NodeId reader, int operand, std::size_t dimension);

// Whether it does so along all dimensions of a value that runs over these axes.
bool reads_in_place(const Graph& graph, NodeId reader, int operand, const std::vector<int>& axes);

// The axes that a reader over these axes takes an operand along, where it does so in place.
std::vector<int> axes_of_operand(const Graph& graph, NodeId reader, int operand, const std::vector<int>& reader_axes);

// Whether a reader over these axes takes `id` at the index it is made at, wherever it reads it; then `axes` follow. `elsewhere`: other
// indices are no objection, and leave their axes open.
bool follow_reader(const Graph& graph, NodeId id, NodeId reader, const std::vector<int>& reader_axes, std::vector<int>& axes, bool elsewhere = false);

// Two axes of a node cannot run over one loop: x[i] + x[j] reads x twice.
bool are_distinct(const std::vector<int>& axes);

inline std::uint64_t bits_of(const std::vector<int>& axes) {
  std::uint64_t bits = 0;
  for (int axis : axes) if (axis >= 0) bits |= std::uint64_t{1} << axis;
  return bits;
}

}  // namespace weft
