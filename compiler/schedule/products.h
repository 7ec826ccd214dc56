// Products of matrices and what is like them, with any accumulator: rows of folds that share operands. Of sum over k of x[i,k] * y[k,j] the rows i all read y. Where
// a vector loop runs along j, such an operand is packed for many rows, in whatever order it lies, and read by blocks of them
// (program/register_block.cpp).
#pragma once
#include <optional>

#include "schedule.h"

namespace weft {

// A fold over one long axis, of elements of four bytes or more, which keeps two axes or more: one that fills vectors, and another of at least so many elements.
// None of its operands has them all.
struct Product {
  int sums = -1;                        // the nest axis that is folded
  std::vector<int> kept;                // and those that are not, in order
  std::vector<int> batches;             // of these: that all operands have
  int instructions = 0;                 // of a term, with its loads
  friend bool operator==(const Product& a, const Product& b) { return a.sums == b.sums && a.kept == b.kept; }
};
// Of a node over these axes of a nest; axes[d] is the one of domain axis d, or -1.
std::optional<Product> product_of(const Graph& graph, NodeId id, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, Index least);

// Whether a value that is made over these axes had better be an array before a product reads it: it has the axis of the sums, and many rows or columns
// of the product read each of its elements, which loops of the product would make one by one, or again for each block.
bool is_factor(const Graph& graph, NodeId id, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, const Product& product, const Machine& machine);

inline int instructions_with_loads(const Graph& graph, NodeId id) { return 1 + graph.arity(id); }

class SharedOperands {
 public:
  SharedOperands(const Graph& graph, const Nest& nest);
  bool is_product() const { return product_.sums >= 0; }
  // How many rows share the operand of this map, of a node of the nest, if it is one; else 0.
  Index rows_of(const Placed& placed, const AxisMap& map, int lanes) const;
  // If the nest has some along these vectors: the loops over its rows and over its sums, which are to be the last ones outside the vectors.
  struct Loops {
    int rows = -1, sums = -1;
  };
  Loops loops(const Graph& graph, const Nest& nest, int lanes) const;

 private:
  int rows_for(const Placed& placed, const AxisMap& map, int lanes) const;

  const std::vector<NestAxis>& axes_;
  Product product_;                     // sums: -1 if it does not fit registers
};

}  // namespace weft
