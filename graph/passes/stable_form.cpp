#include "stable_form.h"

#include <algorithm>

#include "maps.h"
#include "node_parts.h"

namespace weft {
namespace {

class Reader {
 public:
  Reader(const Graph& graph, NodeId id, const std::function<bool(NodeId)>& keeps) : graph_(graph), node_(graph.node(id)), id_(id), keeps_(keeps) {}

  std::optional<StableForm> form() const {
    if (node_.kind != Kind::apply || !is_floating(node_.dtype)) return {};
    switch (node_.op) {
      case Op::log:
        if (const auto at = one_and_exponent(operand(0))) return of(Op::softplus, *at);
        if (const auto inner = sigmoid(operand(0))) return of(Op::softplus, inner->at, !inner->negated, true);
        return {};
      case Op::log1p:
        if (const auto at = exponent(operand(0))) return of(Op::softplus, *at);
        if (!is_plain(operand(0), Op::negative)) return {};
        if (const auto inner = sigmoid(operand_of(graph_, operand(0), 0))) return of(Op::softplus, inner->at, inner->negated, true);
        return {};
      default: {
        const auto inner = quotient(node_.op, [this](int position) { return operand(position); });
        return inner ? of(Op::sigmoid, inner->at, inner->negated) : std::nullopt;
      }
    }
  }

  std::optional<LogSum> log_sum() const {
    if (node_.kind != Kind::apply || node_.op != Op::log || (node_.dtype != f32 && node_.dtype != f64)) return {};
    const NodeId sum = graph_.operand(id_, 0);
    const Node& fold = graph_.node(sum);
    if (fold.kind != Kind::apply || fold.mode != Mode::accumulate || fold.accumulator != AccumulatorId::sum || fold.dtype != node_.dtype || keeps_(sum)) return {};
    const Operand folded{graph_.operand(sum, 0), graph_.map(sum, 0)};
    std::optional<Operand> at = fold.op == Op::exp ? std::optional(folded) : fold.op == Op::copy ? exponent(folded) : std::nullopt;
    if (!at || graph_.node(at->node).dtype != node_.dtype || is_shifted(*at, fold)) return {};
    settle_parts(graph_, *at, fold.domain);
    return LogSum{sum, std::move(*at)};
  }

 private:
  bool is_shifted(const Operand& value, const Node& fold) const {
    const Node& node = graph_.node(value.node);
    if (node.kind != Kind::apply || node.op != Op::subtract || node.mode != Mode::broadcast) return false;
    std::vector<bool> mentioned(fold.domain.size(), false);
    mark_axes(operand_of(graph_, value, 1).map, mentioned);
    return std::find(mentioned.begin() + fold.kept, mentioned.end(), true) == mentioned.end();
  }
  std::optional<StableForm> of(Op op, Operand at, bool negated = false, bool negative = false) const {
    settle_parts(graph_, at, node_.domain);
    return StableForm{op, negated, negative, std::move(at)};
  }
  Operand operand(int position) const { return {graph_.operand(id_, position), graph_.map(id_, position)}; }

  bool is_one(const Operand& operand) const {
    const Scalar* number = scalar_of(graph_.node(operand.node));
    return number && number->as_double() == 1;
  }
  bool is_plain(const Operand& operand, Op op) const {
    const Node& node = graph_.node(operand.node);
    return node.kind == Kind::apply && node.op == op && node.mode == Mode::broadcast && node.dtype == node_.dtype && !keeps_(operand.node);
  }
  // a of exp(a), and of 1 + exp(a).
  std::optional<Operand> exponent(const Operand& value) const {
    if (!is_plain(value, Op::exp)) return {};
    Operand a = operand_of(graph_, value, 0);
    return graph_.node(a.node).dtype == node_.dtype ? std::optional(std::move(a)) : std::nullopt;
  }
  std::optional<Operand> one_and_exponent(const Operand& value) const {
    if (!is_plain(value, Op::add)) return {};
    const Operand left = operand_of(graph_, value, 0), right = operand_of(graph_, value, 1);
    return is_one(left) ? exponent(right) : is_one(right) ? exponent(left) : std::nullopt;
  }
  // sigmoid(at), or sigmoid(-at).
  struct Sigmoid {
    bool negated;
    Operand at;
  };
  // A quotient that is one; part(k): its operand k.
  template <class Part> std::optional<Sigmoid> quotient(Op op, Part part) const {
    if (op != Op::reciprocal && op != Op::divide) return {};
    const auto below = one_and_exponent(part(op == Op::divide ? 1 : 0));
    if (!below) return {};
    if (op == Op::reciprocal || is_one(part(0))) return Sigmoid{true, *below};
    const auto above = exponent(part(0));
    return above && below->node == above->node && below->map == above->map ? std::optional(Sigmoid{false, *below}) : std::nullopt;
  }
  // The function itself, such a quotient, or 1 less one of these.
  std::optional<Sigmoid> sigmoid(const Operand& value) const {
    if (!is_plain(value, Op::subtract)) return sigmoid_itself(value);
    auto found = is_one(operand_of(graph_, value, 0)) ? sigmoid_itself(operand_of(graph_, value, 1)) : std::nullopt;
    if (found) found->negated = !found->negated;
    return found;
  }
  std::optional<Sigmoid> sigmoid_itself(const Operand& value) const {
    if (is_plain(value, Op::sigmoid)) {
      Operand a = operand_of(graph_, value, 0);
      return graph_.node(a.node).dtype == node_.dtype ? std::optional(Sigmoid{false, std::move(a)}) : std::nullopt;
    }
    const Op op = graph_.node(value.node).op;
    return is_plain(value, op) ? quotient(op, [&](int position) { return operand_of(graph_, value, position); }) : std::nullopt;
  }

  const Graph& graph_;
  const Node& node_;
  const NodeId id_;
  const std::function<bool(NodeId)>& keeps_;
};

}  // namespace

std::optional<LogSum> log_sum(const Graph& graph, NodeId id, const std::function<bool(NodeId)>& keeps) { return Reader(graph, id, keeps).log_sum(); }
std::optional<StableForm> stable_form(const Graph& graph, NodeId id, const std::function<bool(NodeId)>& keeps) { return Reader(graph, id, keeps).form(); }

ShiftedSum shifted_sum(Graph& graph, const Node& sum, const Operand& a, bool stops_gradient) {
  const AxisMap kept = identity_map(sum.kept), whole = identity_map(static_cast<int>(sum.domain.size()));
  const auto folded = [&](AccumulatorId accumulator, const Operand& operand) {
    Node node = sum;
    node.op = Op::copy;
    node.accumulator = accumulator;
    return graph.add(std::move(node), {operand});
  };
  NodeId top = folded(AccumulatorId::supremum, a);
  if (stops_gradient) top = graph.apply(Op::stop_gradient, sum.dtype, sum.shape(), {{top, kept}}, sum.order);
  const NodeId is_finite = graph.apply(Op::isfinite, bool_, sum.shape(), {{top, kept}}), zero = graph.constant(Scalar::of(sum.dtype, 0.0)).id();
  const Operand shift{graph.apply(Op::where, sum.dtype, sum.shape(), {{is_finite, kept}, {top, kept}, {zero, {}}}, sum.order), kept};
  const NodeId off = graph.apply(Op::subtract, sum.dtype, sum.domain, {a, shift}, sum.order);
  const Operand exponential{graph.apply(Op::exp, sum.dtype, sum.domain, {{off, whole}}, sum.order), whole};
  return {shift, exponential, {folded(AccumulatorId::sum, exponential), kept}};
}

}  // namespace weft
