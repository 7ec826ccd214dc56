#include <weft/grad.h>

#include <algorithm>

#include <weft/error.h>

#include "local.h"
#include "pull_back.h"

namespace weft {
namespace {

bool is_scalar_constant(const Node& node) { return node.kind == Kind::constant && std::holds_alternative<Scalar>(node.payload); }

// One sweep from the ys down to the xs. Ids only grow, so nodes added on the way are never visited.
class Sweep {
 public:
  Sweep(Graph& graph, const std::vector<NodeId>& xs) : graph_(graph), numbers_(graph), on_path_(graph.size(), false), adjoints_(graph.size()) {
    for (NodeId id : xs) on_path_[id.value] = true;
    for (std::size_t k = 0; k < on_path_.size(); ++k)
      for (int p = 0; p < graph.arity(id_of(k)); ++p)
        if (on_path_[graph.operand(id_of(k), p).value]) on_path_[k] = true;
  }

  void add(NodeId id, Adjoint term) {
    if (std::holds_alternative<double>(term.value) && std::get<double>(term.value) == 0) return;
    auto& total = adjoints_[id.value];
    if (!total) {
      total = std::move(term);
      return;
    }
    Frame frame = own_frame(id);
    total = Adjoint::of(total->in(frame) + term.in(frame));
  }

  void run() {
    for (std::size_t k = on_path_.size(); k-- > 0;) {
      if (!on_path_[k] || !adjoints_[k]) continue;
      const Node node = graph_.node(id_of(k));               // a copy: adding nodes moves them
      if (node.kind == Kind::apply) visit(id_of(k), node);
      if (node.kind == Kind::update) add(graph_.operand(id_of(k), 0), read_back(*adjoints_[k], std::get<AxisMap>(node.payload)));
    }
  }

  // The gradient as a node of the right shape.
  Expr result(NodeId id) {
    Frame frame = own_frame(id);
    const DType dtype = graph_.node(id).dtype;
    const Local total = (adjoints_[id.value] ? adjoints_[id.value]->in(frame) : Local(frame, 0.0)).resolved();
    if (const auto* waiting = total.waiting()) return Expr(graph_, frame.fold(AccumulatorId::sum, waiting->op, dtype, waiting->operands, all(frame)));
    return whole(frame, total.node());
  }

 private:
  Frame own_frame(NodeId id) {
    const Node& node = graph_.node(id);
    return Frame(graph_, numbers_, node.shape(), node.dtype, node.order);
  }
  static std::vector<int> all(const Frame& frame) {
    std::vector<int> axes;
    for (std::size_t k = 0; k < frame.domain.size(); ++k) axes.push_back(static_cast<int>(k));
    return axes;
  }
  Expr whole(Frame& frame, Operand value) {
    if (is_whole(graph_, value, frame.domain)) return Expr(graph_, value.node);
    const DType dtype = graph_.node(value.node).dtype;
    return Expr(graph_, frame.fold(AccumulatorId::sum, Op::copy, dtype, {std::move(value)}, all(frame)));
  }

  Local operand_local(Frame& frame, NodeId user, int position) {
    const NodeId id = graph_.operand(user, position);
    if (is_scalar_constant(graph_.node(id))) return Local(frame, std::get<Scalar>(graph_.node(id).payload).as_double());
    return Local(frame, Operand{id, graph_.map(user, position)});
  }

  void visit(NodeId id, const Node& node) {
    const int arity = graph_.arity(id);
    const DType dtype = graph_.node(graph_.operand(id, arity - 1)).dtype;   // of numbers in the columns
    Frame frame(graph_, numbers_, node.domain, is_floating(dtype) ? dtype : node.dtype, node.order);
    std::vector<Local> operands;
    std::vector<Operand> plain;
    for (int p = 0; p < arity; ++p) {
      operands.push_back(operand_local(frame, id, p));
      plain.push_back(Operand{graph_.operand(id, p), graph_.map(id, p)});
    }
    const Operand saved{id, identity_map(node.kept)};
    const bool folds = node.mode == Mode::accumulate;
    const Local y = !folds ? Local(frame, saved) : node.op == Op::copy ? operands[0] : Local(frame, node.op, node.dtype, plain);
    Local g = adjoints_[id.value]->in(frame);
    if (folds) g = through_fold(frame, node, g, y, saved);
    for (int p = 0; p < arity; ++p) {
      const NodeId operand = plain[static_cast<std::size_t>(p)].node;
      const Node& target = graph_.node(operand);
      if (!on_path_[operand.value] || !is_floating(target.dtype)) continue;
      frame.convert_to = target.dtype;
      const Shape shape = target.shape();
      const Order order = target.order;
      Local value = derivative(node.op, p, operands, y, g);
      if (!value.frame()) value = Local(frame, value.number());
      add(operand, pull_back(value, plain[static_cast<std::size_t>(p)].map, shape, order));
    }
  }

  // The cotangent of one element of a fold.
  Local through_fold(Frame& frame, const Node& node, const Local& g, const Local& y, const Operand& saved) {
    switch (node.accumulator) {
      case AccumulatorId::sum: return g;
      case AccumulatorId::prod: return g * product_of_others(frame, node, y);
      case AccumulatorId::max:
      case AccumulatorId::min:
      case AccumulatorId::supremum:
      case AccumulatorId::infimum: return share_among_ties(frame, node, g, y, saved);
      default: return 0.0;
    }
  }

  // Ties are found among the elements themselves: y has the bits that were folded.
  Local share_among_ties(Frame& frame, const Node& node, const Local& g, const Local& y, const Operand& saved) {
    const Local tie = y == Local(frame, saved);
    std::vector<bool> mentioned(frame.domain.size(), false);
    tie.mark(mentioned);
    std::vector<int> keep;
    AxisMap seen;
    for (int axis = 0; axis < node.kept; ++axis) {
      if (!mentioned[static_cast<std::size_t>(axis)]) continue;
      keep.push_back(axis);
      seen.push_back(AxisRef{axis, 0, 1});
    }
    const NodeId count = frame.fold(AccumulatorId::sum, Op::cast, node.dtype, {tie.node()}, keep);
    return select(tie, g / Local(frame, Operand{count, std::move(seen)}), 0.0);
  }

  // For element i the product over j of (j == i ? 1 : y[j]), j running over copies of the folded axes. Exact with zeros,
  // overflow and underflow, and differentiable again; N products of N - 1 factors.
  Local product_of_others(Frame& frame, const Node& node, const Local& y) {
    const std::size_t rank = frame.domain.size();
    Frame wide(graph_, numbers_, node.domain, node.dtype, node.order);
    std::vector<int> position(rank), keep;
    for (std::size_t axis = 0; axis < rank; ++axis) position[axis] = static_cast<int>(axis);
    Local is_self = 1.0;
    for (std::size_t axis = static_cast<std::size_t>(node.kept); axis < rank; ++axis) {
      position[axis] = static_cast<int>(wide.domain.size());
      wide.domain.push_back(node.domain[axis]);
      const NodeId index = iota(node.domain[axis]);
      const Local self = Local(wide, Operand{index, {{static_cast<int>(axis), 0, 1}}}) == Local(wide, Operand{index, {{position[axis], 0, 1}}});
      is_self = is_self & self;
    }
    Operand other = y.node(node.dtype);
    other.map = renumber(std::move(other.map), position);
    const std::vector<Operand> operands{is_self.node(), Operand{numbers_.get(node.dtype, 1), {}}, std::move(other)};
    std::vector<bool> mentioned(wide.domain.size(), false);
    for (const Operand& operand : operands) mark_axes(operand.map, mentioned);
    AxisMap seen;
    for (std::size_t axis = 0; axis < rank; ++axis)
      if (mentioned[axis]) {
        keep.push_back(static_cast<int>(axis));
        seen.push_back(AxisRef{static_cast<int>(axis), 0, 1});
      }
    return Local(frame, Operand{wide.fold(AccumulatorId::prod, Op::where, node.dtype, operands, keep), std::move(seen)});
  }

  NodeId iota(const Extent& extent) {
    Node node;
    node.kind = Kind::iota;
    node.dtype = i64;
    node.domain = {extent};
    node.kept = 1;
    return graph_.add(std::move(node));
  }

  Graph& graph_;
  NumberPool numbers_;
  std::vector<bool> on_path_;                                // depends on some x
  std::vector<std::optional<Adjoint>> adjoints_;
};

// ---- checks

void require_same_graph(std::string_view what, const Graph& graph, const std::vector<Expr>& exprs) {
  for (const Expr& expr : exprs) {
    WEFT_REQUIRE(expr, usage, what, ": got an empty Expr");
    WEFT_REQUIRE(&expr.graph() == &graph, usage, what, ": ", expr.name(), " belongs to graph \"", expr.graph().name, "\", not to \"", graph.name, "\"");
  }
}

void require_floating(std::string_view what, const std::vector<Expr>& exprs) {
  for (const Expr& expr : exprs)
    WEFT_REQUIRE(is_floating(expr.dtype()), dtype, what, ": ", expr.name(), " is ", expr.dtype(), ", and only floating values have gradients\n",
                 "  cast it to a floating dtype before it is used");
}

void require_connected(std::string_view what, const Graph& graph, const std::vector<Expr>& ys, const std::vector<Expr>& xs) {
  std::vector<bool> needed(graph.size(), false);
  for (const Expr& y : ys) needed[y.id().value] = true;
  for (std::size_t k = graph.size(); k-- > 0;)
    if (needed[k])
      for (int p = 0; p < graph.arity(id_of(k)); ++p) needed[graph.operand(id_of(k), p).value] = true;
  for (const Expr& x : xs)
    WEFT_REQUIRE(needed[x.id().value], usage, what, ": ", ys.size() == 1 ? ys[0].name() + " does" : std::string("the ys do"), " not depend on ", x.name(),
                 "\n  pass Disconnected::zero to get zeros");
}

// Walks from the ys down as the sweep will, along edges that have a derivative.
void require_derivatives(std::string_view what, Graph& graph, const std::vector<Expr>& ys, const std::vector<Expr>& xs) {
  std::vector<bool> depends(graph.size(), false), reached(graph.size(), false);
  for (const Expr& x : xs) depends[x.id().value] = true;
  for (std::size_t k = 0; k < graph.size(); ++k)
    for (int p = 0; p < graph.arity(id_of(k)); ++p) depends[k] = depends[k] || depends[graph.operand(id_of(k), p).value];
  for (const Expr& y : ys) reached[y.id().value] = true;
  for (std::size_t k = graph.size(); k-- > 0;) {
    const Node& node = graph.node(id_of(k));
    for (int p = 0; reached[k] && p < graph.arity(id_of(k)); ++p) {
      const NodeId operand = graph.operand(id_of(k), p);
      if (!depends[operand.value] || !is_floating(graph.node(operand).dtype)) continue;
      WEFT_REQUIRE(node.kind != Kind::recurrence, unsupported, what, ": the derivative of ", Expr(graph, id_of(k)).name(),
                   ", which carries a state along an axis, is not available\n  use sum, prod, max, min or logsumexp, or stop_gradient");
      const auto column = node.kind == Kind::apply ? derivative_column(node.op, p) : DerivativeColumn::formula;
      WEFT_REQUIRE(column != DerivativeColumn::missing, unsupported, what, ": the derivative of ", info(node.op).name, " is not available, and ", ys[0].name(),
                   " needs it at ", Expr(graph, id_of(k)).name(), "\n  use stop_gradient, or another formula");
      reached[operand.value] = reached[operand.value] || column == DerivativeColumn::formula;
    }
  }
}

void check(std::string_view what, const std::vector<Expr>& ys, const std::vector<Expr>& xs, Disconnected disconnected) {
  require_same_graph(what, ys[0].graph(), ys);
  require_same_graph(what, ys[0].graph(), xs);
  require_floating(what, ys);
  require_floating(what, xs);
  if (disconnected == Disconnected::error) require_connected(what, ys[0].graph(), ys, xs);
  require_derivatives(what, ys[0].graph(), ys, xs);
}

std::vector<Expr> sweep(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Adjoint>& seeds) {
  Graph& graph = ys[0].graph();
  std::vector<NodeId> ids;
  for (const Expr& x : xs) ids.push_back(x.id());
  Sweep state(graph, ids);
  for (std::size_t k = 0; k < ys.size(); ++k) state.add(ys[k].id(), seeds[k]);
  state.run();
  std::vector<Expr> results;
  for (NodeId id : ids) results.push_back(state.result(id));
  return results;
}

}  // namespace

std::vector<Expr> grad(const Expr& loss, const std::vector<Expr>& wrt, Disconnected disconnected) {
  WEFT_REQUIRE(loss, usage, "grad: got an empty Expr");
  check("grad", {loss}, wrt, disconnected);
  WEFT_REQUIRE(loss.rank() == 0, usage, "grad: ", loss.name(), " has shape ", to_text(loss.shape()),
               ", and a loss has rank 0\n  sum it, or use vjp with a seed of that shape");
  return sweep({loss}, wrt, {Adjoint{1.0, {}}});
}

std::vector<Expr> vjp(const std::vector<Expr>& ys, const std::vector<Expr>& xs, const std::vector<Expr>& seeds, Disconnected disconnected) {
  WEFT_REQUIRE(!ys.empty() && seeds.size() == ys.size(), usage, "vjp: expected one seed for each y, got ", ys.size(), " ys and ", seeds.size(), " seeds");
  WEFT_REQUIRE(ys[0], usage, "vjp: got an empty Expr");
  check("vjp", ys, xs, disconnected);
  require_same_graph("vjp", ys[0].graph(), seeds);
  std::vector<Adjoint> adjoints;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    WEFT_REQUIRE(seeds[k].shape() == ys[k].shape(), shape, "vjp: the seed ", seeds[k].name(), " has shape ", to_text(seeds[k].shape()), " but ", ys[k].name(),
                 " has shape ", to_text(ys[k].shape()));
    WEFT_REQUIRE(seeds[k].dtype() == ys[k].dtype(), dtype, "vjp: the seed ", seeds[k].name(), " is ", seeds[k].dtype(), " but ", ys[k].name(), " is ",
                 ys[k].dtype());
    const Node& seed = seeds[k].graph().node(seeds[k].id());
    if (is_scalar_constant(seed)) adjoints.push_back(Adjoint{std::get<Scalar>(seed.payload).as_double(), {}});
    else adjoints.push_back(Adjoint{Operand{seeds[k].id(), identity_map(seeds[k].rank())}, {}});
  }
  return sweep(ys, xs, adjoints);
}

}  // namespace weft
