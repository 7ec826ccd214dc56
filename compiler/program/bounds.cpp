#include "bounds.h"

#include <variant>

namespace weft {
namespace {

constexpr int deepest = 6;

bool is_copied_maximum(const Node& node) {
  return node.kind == Kind::apply && node.mode == Mode::accumulate && node.accumulator == AccumulatorId::max && node.op == Op::copy;
}

// Whether operand 1 is the maximum of operand 0 over some axes, at the same place on the others.
bool subtracts_maximum(const Graph& graph, NodeId difference) {
  const NodeId array = graph.operand(difference, 0), maximum = graph.operand(difference, 1);
  if (!is_copied_maximum(graph.node(maximum)) || graph.operand(maximum, 0) != array) return false;
  const AxisMap &read = graph.map(difference, 0), &at = graph.map(difference, 1), &folded = graph.map(maximum, 0);
  for (std::size_t d = 0; d < folded.size(); ++d) {
    if (!folded[d].is_identity()) return false;
    if (folded[d].axis < graph.node(maximum).kept && !(at[static_cast<std::size_t>(folded[d].axis)] == read[d])) return false;
  }
  return true;
}

class Signs {
 public:
  explicit Signs(const Graph& graph) : graph_(graph) {}

  Bounds of(NodeId id, int depth) const {
    const Node& node = graph_.node(id);
    if (!is_floating(node.dtype)) return {};
    if (node.kind == Kind::constant) return of_constant(node);
    if (node.kind != Kind::apply || node.mode != Mode::broadcast || depth == deepest) return {};
    const auto operand = [&](int k) { return of(graph_.operand(id, k), depth + 1); };
    switch (node.op) {
      case Op::abs: case Op::square: case Op::cosh: case Op::softplus: return {true, false, false};
      case Op::sigmoid: return {true, false, true};
      case Op::exp: case Op::exp2: return {true, false, operand(0).nonpositive};
      case Op::copy: return operand(0);
      case Op::negative: return turned(operand(0));
      case Op::add: return both(operand(0), operand(1));
      case Op::subtract: return subtracts_maximum(graph_, id) ? Bounds{false, true, false} : both(operand(0), turned(operand(1)));
      case Op::multiply:
        if (graph_.operand(id, 0) == graph_.operand(id, 1) && graph_.map(id, 0) == graph_.map(id, 1)) return {true, false, false};
        return product(operand(0), operand(1));
      case Op::divide: return is_nonzero(graph_.node(graph_.operand(id, 1))) ? product(operand(0), operand(1)) : Bounds{};   // -1 / -0 is above 0
      default: return {};
    }
  }

 private:
  static bool is_nonzero(const Node& divisor) {
    const auto* scalar = divisor.kind == Kind::constant ? std::get_if<Scalar>(&divisor.payload) : nullptr;
    return scalar && scalar->real() != 0;
  }
  static Bounds of_constant(const Node& node) {
    const auto* scalar = std::get_if<Scalar>(&node.payload);
    return scalar ? Bounds{scalar->real() >= 0, scalar->real() <= 0, false} : Bounds{};
  }
  static Bounds turned(const Bounds& a) { return {a.nonpositive, a.nonnegative, false}; }
  static Bounds both(const Bounds& a, const Bounds& b) { return {a.nonnegative && b.nonnegative, a.nonpositive && b.nonpositive, false}; }
  static Bounds product(const Bounds& a, const Bounds& b) {
    return {(a.nonnegative && b.nonnegative) || (a.nonpositive && b.nonpositive), (a.nonnegative && b.nonpositive) || (a.nonpositive && b.nonnegative), false};
  }

  const Graph& graph_;
};

}  // namespace

Bounds bounds_of(const Graph& graph, NodeId id) { return Signs(graph).of(id, 0); }

}  // namespace weft
