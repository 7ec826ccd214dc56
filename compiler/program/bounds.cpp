#include "bounds.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace weft {
namespace {

constexpr int deepest = 6;
constexpr int most_bits = 89;           // rounded up, they are below what quotients.cpp asks

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

class Known {
 public:
  explicit Known(const Graph& graph) : graph_(graph) {}

  Bounds of(NodeId id, int depth) const {
    const Node& node = graph_.node(id);
    if (!is_floating(node.dtype)) return {};
    if (node.kind == Kind::constant) return of_constant(node);
    if (node.kind != Kind::apply || depth == deepest) return {};
    if (node.mode != Mode::broadcast) return of_sum(node, id, depth);
    const auto operand = [&](int k) { return of(graph_.operand(id, k), depth + 1); };
    switch (node.op) {
      case Op::abs: case Op::square: case Op::cosh: case Op::softplus: return {true, false, false};
      case Op::sigmoid: return {true, false, true};
      case Op::exp: case Op::exp2: return {true, false, operand(0).nonpositive};
      case Op::copy: return operand(0);
      case Op::cast: return of_cast(graph_.node(graph_.operand(id, 0)).dtype, node.dtype);
      case Op::negative: return turned(operand(0));
      case Op::add: return both(operand(0), operand(1));
      case Op::subtract: return subtracts_maximum(graph_, id) ? Bounds{false, true, false} : difference(operand(0), operand(1));
      case Op::multiply: return graph_.map(id, 0) == graph_.map(id, 1) ? of_square(id, depth) : product(operand(0), operand(1));
      case Op::divide: return is_nonzero(graph_.node(graph_.operand(id, 1))) ? product(operand(0), operand(1)) : Bounds{};   // -1 / -0 is above 0
      default: return {};
    }
  }

 private:
  // A value times what is seen to have a sign.
  struct Multiple {
    NodeId of;
    Bounds times = {true};
  };
  Multiple multiple_of(NodeId id) const {
    constexpr int most_factors = 3;
    Multiple multiple{id};
    for (int k = 0; k < most_factors; ++k) {
      const Node& node = graph_.node(multiple.of);
      if (node.kind != Kind::apply || node.mode != Mode::broadcast) break;
      const auto seen = [&](int operand) { return of(graph_.operand(multiple.of, operand), deepest - 1); };
      int value = 0;
      Bounds times;
      if (node.op == Op::negative) times = {false, true};
      if (node.op == Op::divide && is_nonzero(graph_.node(graph_.operand(multiple.of, 1)))) times = seen(1);
      if (node.op == Op::multiply) {
        value = has_sign(seen(0)) ? 1 : 0;
        times = seen(1 - value);
      }
      if (!has_sign(times) || graph_.map(multiple.of, value) != identity_map(node.kept)) break;
      multiple = {graph_.operand(multiple.of, value), product(multiple.times, times)};
    }
    return multiple;
  }
  // Of two operands at the same place: products of multiples of one value, as in exp(-0.5 * x * x), have the sign of what it is multiplied with.
  Bounds of_square(NodeId id, int depth) const {
    constexpr int deepest_square = 2;
    const NodeId left = graph_.operand(id, 0), right = graph_.operand(id, 1);
    if (depth <= deepest_square)
      if (const Multiple a = multiple_of(left), b = multiple_of(right); a.of == b.of) return product(a.times, b.times);
    return left == right ? Bounds{true} : product(of(left, depth + 1), of(right, depth + 1));
  }
  static bool has_sign(const Bounds& bounds) { return bounds.nonnegative || bounds.nonpositive; }
  static bool is_nonzero(const Node& divisor) {
    const auto* scalar = divisor.kind == Kind::constant ? std::get_if<Scalar>(&divisor.payload) : nullptr;
    return scalar && scalar->real() != 0;
  }
  static Bounds of_constant(const Node& node) {
    const auto* scalar = std::get_if<Scalar>(&node.payload);
    if (!scalar) return {};
    const double value = scalar->real();
    const bool is_whole = std::abs(value) < 0x1p32 && value == std::floor(value) && !(value == 0 && std::signbit(value)) && !is_half(node.dtype);
    return {value >= 0, value <= 0, false, is_whole ? 32 : 0};
  }
  static Bounds of_cast(DType from, DType to) {
    return is_floating(from) || is_half(to) ? Bounds{} : Bounds{is_unsigned_integer(from) || from == DType::bool_, false, from == DType::bool_, 8 * static_cast<int>(size_of(from))};
  }
  // No array has more than 2^63 elements.
  Bounds of_sum(const Node& node, NodeId id, int depth) const {
    if (node.mode != Mode::accumulate || node.accumulator != AccumulatorId::sum || node.op != Op::copy) return {};
    const Bounds each = of(graph_.operand(id, 0), depth + 1);
    return {each.nonnegative, each.nonpositive, false, added(each.whole_bits, 1, 63)};
  }
  static int added(int a, int b, int more) { return a > 0 && b > 0 && std::max(a, b) + more <= most_bits ? std::max(a, b) + more : 0; }
  static Bounds turned(const Bounds& a) { return {a.nonpositive, a.nonnegative, false}; }
  static Bounds both(const Bounds& a, const Bounds& b) { return {a.nonnegative && b.nonnegative, a.nonpositive && b.nonpositive, false, added(a.whole_bits, b.whole_bits, 1)}; }
  static Bounds difference(const Bounds& a, const Bounds& b) {
    Bounds bounds = both(a, turned(b));
    bounds.whole_bits = added(a.whole_bits, b.whole_bits, 1);
    return bounds;
  }
  static Bounds product(const Bounds& a, const Bounds& b) {
    return {(a.nonnegative && b.nonnegative) || (a.nonpositive && b.nonpositive), (a.nonnegative && b.nonpositive) || (a.nonpositive && b.nonnegative), false};
  }

  const Graph& graph_;
};

}  // namespace

Bounds bounds_of(const Graph& graph, NodeId id) { return Known(graph).of(id, 0); }

}  // namespace weft
