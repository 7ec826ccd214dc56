// Symbols that a call binds to so few elements that loops over them are worth code of their own: [n,d] with a million rows of four.
// Known as a number, such an extent merges with its neighbour, is written out, and is read in whole vectors; as a symbol it is a
// loop of four, or sixteen lanes far apart; what is left over of a row of fifty has masks that are known.
#pragma once
#include <weft/graph.h>

namespace weft {

// Axes of inputs and outputs, with the faster ones inside them, and folded axes, that are a symbol of so few elements (thin_extent_pays) in
// an array of many: small matrices down an axis are columns as well. Empty for most calls. Cost: linear in the nodes.
class ThinExtents {
 public:
  explicit ThinExtents(const Graph& graph);
  Bindings in(const Bindings& bindings, bool is_first_call) const;

  struct Candidate {
    std::string symbol;
    Shape shape;                        // of the array, or of the domain that is folded
    Shape inside;                       // faster axes of the array, which count with it
    bool is_fastest;                    // axis of an array
  };

 private:
  std::vector<Candidate> candidates_;
};

}  // namespace weft
