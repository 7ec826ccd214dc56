// Symbols that a call binds to so few elements that loops over them are worth code of their own: [n,d] with a million rows of four.
// Known as a number, such an extent merges with its neighbour, is written out, and is read in whole vectors; as a symbol it is a
// loop of four, or sixteen lanes far apart.
#pragma once
#include <weft/graph.h>

namespace weft {

// The fastest axes of inputs and outputs, and folded axes, that are a symbol of two to sixteen elements in an array of many. Empty for
// most calls. Cost: linear in the nodes.
class ThinExtents {
 public:
  explicit ThinExtents(const Graph& graph);
  Bindings in(const Bindings& bindings) const;

  struct Candidate {
    std::string symbol;
    Shape shape;                        // of the array, or of the domain that is folded
  };

 private:
  std::vector<Candidate> candidates_;
};

}  // namespace weft
