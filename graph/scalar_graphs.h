// Graphs of scalars, as the steps of recurrences are: put into others, without what nothing needs, and run.
#pragma once
#include <vector>

#include <weft/graph.h>

namespace weft {

std::vector<Expr> add_inputs(Graph& graph, const char* prefix, const std::vector<DType>& dtypes);
// The nodes of one graph of scalars added to another, its inputs being `inputs`; the outputs there.
std::vector<Expr> inlined(Graph& to, const Graph& from, const std::vector<Expr>& inputs);
// The graph without what its outputs do not need; of its inputs the first `fixed` stay. used[k]: whether input k does.
Graph pruned(const Graph& graph, std::size_t fixed, std::vector<bool>& used);
// A graph of scalars at every point of `domain`.
std::vector<Operand> everywhere(Graph& graph, const Graph& scalars, const std::vector<Operand>& inputs, const Shape& domain);

// Runs a graph of scalars on numbers.
class ScalarGraph {
 public:
  explicit ScalarGraph(const Graph& graph, OpLoops loops = op_loop);   // keep the graph alive
  // inputs in declaration order; the result is valid until the next call
  const std::vector<Scalar>& operator()(const std::vector<Scalar>& inputs);

 private:
  const Graph& graph_;
  OpLoops loops_;
  std::vector<Scalar> values_, results_;
};

}  // namespace weft
