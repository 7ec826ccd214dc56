// What is known of a node's elements from what it is made of, for code that may then do less. Exponentials of differences from a maximum, as in softmax
// and logsumexp, are at most 1; so are Gaussians. Pixels are whole numbers, and so are their sums.
#pragma once
#include <weft/graph.h>

namespace weft {

// Of every element that is not NaN. Nothing is known of a node that is not floating.
struct Bounds {
  bool nonnegative = false;             // 0 or more, either zero
  bool nonpositive = false;             // 0 or less, either zero
  bool unit = false;                    // in [+0, 1]: never -0
  int whole_bits = 0;                   // whole numbers below two to this power, never -0; 0: perhaps others
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

// Looks a few nodes deep: constant time.
Bounds bounds_of(const Graph& graph, NodeId id);

}  // namespace weft
