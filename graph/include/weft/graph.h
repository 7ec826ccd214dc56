// A Graph owns nodes; an Expr is a cheap handle into it. Append-only: passes build new graphs.
//
//   weft::Graph g;
//   auto x = g.input("x", weft::f32, {"n", 64});
//   auto w = g.input("w", weft::f32, {64});
//   auto z = sum(x * w, {1});                       // functions and operators: weft/expr.h
//
// Every node is checked as it is added (node.h lists the invariants); a wrong one throws weft::Error and leaves the graph
// unchanged. Building is single-threaded; a finished graph may be read from several threads. Keep the Graph in place while
// its Exprs are used. Cost: one allocation or so per node; a graph of 10^5 nodes builds in well under a second.
#pragma once
#include <concepts>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <weft/node.h>

namespace weft {

class Graph;
struct Slice;                                                // weft/expr.h
class Nesting;                                               // weft/tml.h
namespace tml { class Tensor; }

class Expr {
 public:
  Expr() = default;
  Expr(Graph& graph, NodeId id) : graph_(&graph), id_(id) {}
  Graph& graph() const { return *graph_; }
  NodeId id() const { return id_; }
  DType dtype() const;
  Shape shape() const;
  int rank() const;
  std::string name() const;                                  // as in the graph's text: "%x", "%7", "2:f64"; or as given:
  Expr name(const std::string& text) const;                  // names the node in messages, "%loss"; gives the Expr back
  Expr slice(const std::vector<Slice>& slices) const;        // NumPy's x[...]: weft/expr.h
  bool is_empty() const { return graph_ == nullptr; }
  // Not empty. A condition has no truth while a graph is built: one of dtype bool throws Error(usage), as `if (x > 0)` would be always true.
  explicit operator bool() const;

 private:
  Graph* graph_ = nullptr;
  NodeId id_;
};

class Graph {
 public:
  explicit Graph(std::string name = "graph");
  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  // ---- what users call
  Expr input(const std::string& name, DType dtype, const Shape& shape, Order order = Order::c);   // names are unique
  template <std::same_as<Nesting> N>                         // a template: {} is a shape
  tml::Tensor input(const std::string& name, DType dtype, const N& nesting, Order order = Order::c);
  Expr constant(DType dtype, const Dims& dims, const std::vector<double>& row_major);
  Expr constant(const Array& array);                         // copied
  Expr constant(const Scalar& value);
  template <class T> requires std::is_arithmetic_v<T> Expr constant(T value) { return constant(Scalar(value)); }
  template <class E> requires requires { typename E::PlainObject; } Expr constant(const E& eigen) { return constant(Array::from(eigen)); }   // weft/eigen.h
  Expr extent(const Extent& extent);                         // i64 scalar

  // ---- what the layers call
  NodeId add(Node node, std::vector<Operand> operands = {}); // checks G1..G7; throws Error
  // y = op(operands) over `domain`, its axes from `kept` on folded by `acc` (none: kept == |domain|).
  NodeId apply(Op op, DType dtype, Shape domain, std::vector<Operand> operands, Order order = Order::c);
  NodeId fold(AccumulatorId acc, Op op, DType dtype, Shape domain, int kept, std::vector<Operand> operands, Order order = Order::c);

  std::size_t size() const;
  const Node& node(NodeId id) const;
  int arity(NodeId id) const;
  NodeId operand(NodeId id, int position) const;
  const AxisMap& map(NodeId id, int position) const;
  const std::vector<ElementSymbol>& element_symbols() const; // s[0], .. wherever they occur, each once
  std::vector<NodeId> users(NodeId id) const;                // in id order; a node using it twice appears twice
  int user_count(NodeId id) const;

  std::string name;
  std::vector<NodeId> inputs;                                // in declaration order (compile chooses its own order)
  std::vector<NodeId> outputs;

  struct Storage;                                            // graph/storage.h: a boost::adjacency_list
  const Storage& storage() const;                            // throws Error(usage) if it was moved from

 private:
  friend class Expr;
  friend struct CustomGradient;                              // graph/grad/sweep.h
  Storage& owned() const;
  std::unique_ptr<Storage> storage_;
};

inline NodeId id_of(std::size_t index) { return NodeId{static_cast<std::uint32_t>(index)}; }

}  // namespace weft
