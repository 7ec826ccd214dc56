#include "stable_form.h"

#include "maps.h"

namespace weft {
namespace {

class Reader {
 public:
  Reader(const Graph& graph, NodeId id, const std::function<bool(NodeId)>& keeps) : graph_(graph), node_(graph.node(id)), id_(id), keeps_(keeps) {}

  std::optional<StableForm> form() const {
    if (node_.kind != Kind::apply || !is_floating(node_.dtype)) return {};
    switch (node_.op) {
      case Op::log: return of(Op::softplus, false, one_and_exponent(operand(0)));
      case Op::log1p: return of(Op::softplus, false, exponent(operand(0)));
      case Op::reciprocal: return of(Op::sigmoid, true, one_and_exponent(operand(0)));
      case Op::divide: {
        const auto below = one_and_exponent(operand(1));
        if (is_one(operand(0))) return of(Op::sigmoid, true, below);
        const auto above = exponent(operand(0));
        return above && below && above->node == below->node && above->map == below->map ? of(Op::sigmoid, false, below) : std::nullopt;
      }
      default: return {};
    }
  }

 private:
  std::optional<StableForm> of(Op op, bool negated, std::optional<Operand> at) const {
    if (!at) return {};
    settle_parts(graph_, *at, node_.domain);
    return StableForm{op, negated, std::move(*at)};
  }
  Operand operand(int position) const { return {graph_.operand(id_, position), graph_.map(id_, position)}; }
  Operand operand_of(const Operand& user, int position) const { return {graph_.operand(user.node, position), compose(graph_.map(user.node, position), user.map)}; }

  bool is_one(const Operand& operand) const {
    const Node& node = graph_.node(operand.node);
    const auto* number = node.kind == Kind::constant ? std::get_if<Scalar>(&node.payload) : nullptr;
    return number && number->as_double() == 1;
  }
  bool is_plain(const Operand& operand, Op op) const {
    const Node& node = graph_.node(operand.node);
    return node.kind == Kind::apply && node.op == op && node.mode == Mode::broadcast && node.dtype == node_.dtype && !keeps_(operand.node);
  }
  // a of exp(a), and of 1 + exp(a).
  std::optional<Operand> exponent(const Operand& value) const {
    if (!is_plain(value, Op::exp)) return {};
    Operand a = operand_of(value, 0);
    return graph_.node(a.node).dtype == node_.dtype ? std::optional(std::move(a)) : std::nullopt;
  }
  std::optional<Operand> one_and_exponent(const Operand& value) const {
    if (!is_plain(value, Op::add)) return {};
    const Operand left = operand_of(value, 0), right = operand_of(value, 1);
    return is_one(left) ? exponent(right) : is_one(right) ? exponent(left) : std::nullopt;
  }

  const Graph& graph_;
  const Node& node_;
  const NodeId id_;
  const std::function<bool(NodeId)>& keeps_;
};

}  // namespace

std::optional<StableForm> stable_form(const Graph& graph, NodeId id, const std::function<bool(NodeId)>& keeps) { return Reader(graph, id, keeps).form(); }

}  // namespace weft
