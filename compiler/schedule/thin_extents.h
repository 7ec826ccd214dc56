// What the sizes of a call change of its code, beyond the order of loops that its first call fixes.
//
// Thin: symbols that a call binds to so few elements that loops over them are worth code of their own: [n,d] with a million rows of four.
// Known as a number, such an extent merges with its neighbour, is written out, and is read in whole vectors; as a symbol it is a
// loop of four, or sixteen lanes far apart. Short: rows of so few elements that what happens once a row, and the part of a vector at its
// end, is much of their cost: the schedule is another.
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

// The folded axes that are a symbol of so many elements, in a fold over many, and along which long functions run. Cost: linear in the
// nodes.
class ShortRows {
 public:
  explicit ShortRows(const Graph& graph);
  std::string in(const Bindings& bindings) const;              // as a part of a key: empty for most calls

 private:
  std::vector<ThinExtents::Candidate> candidates_;
};

}  // namespace weft
