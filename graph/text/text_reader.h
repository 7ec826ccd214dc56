// Reads the small pieces of graph text: dtypes, extents, axes, literals, indices. parse.cpp puts them together.
#pragma once
#include <string>
#include <vector>

#include <weft/node.h>

#include "cursor.h"

namespace weft {

// An axis of a domain as written: "i:n", or "n" without a letter.
struct WrittenAxis {
  std::string letter;
  Extent extent;
  std::size_t begin = 0;                                             // where it stands
};

class TextReader : public Cursor {
 public:
  using Cursor::Cursor;
  std::string graph_name();                                          // a word, or any text in quotes
  DType dtype();
  Extent extent();                                                   // up to a comma or a closing bracket
  WrittenAxis axis();
  // The literal `text`, which begins at `begin`, as a value of `dtype`.
  Scalar scalar(DType dtype, std::size_t begin, std::string_view text);
  // "2*i+1", "n-1-i", "0": a sum in which at most one term is an axis; letters by domain position. "i+0" is a part of an axis.
  AxisRef index(const std::vector<std::string>& letters);

 private:
  Extent extent_in(std::size_t begin, std::string_view text);
};

}  // namespace weft
