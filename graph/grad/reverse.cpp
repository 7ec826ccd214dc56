// Cotangents: from the ys down to the xs. Ids only grow, so nodes added on the way are never visited.
#include <algorithm>

#include <weft/error.h>
#include <weft/recurrence.h>

#include "recurrence.h"
#include "sweep.h"
#include "node_parts.h"
#include "others.h"
#include "storage.h"

namespace weft {
namespace {

std::vector<int> all_axes_of(const Frame& frame) {
  std::vector<int> axes;
  for (std::size_t k = 0; k < frame.domain.size(); ++k) axes.push_back(static_cast<int>(k));
  return axes;
}

// Whose value is one operand or another, or a bound: the slope is 1 or 0.
bool is_piecewise(Op op) {
  switch (op) {
    case Op::relu: case Op::maximum: case Op::minimum: case Op::fmax: case Op::fmin: case Op::clip: case Op::clip_min: case Op::clip_max: return true;
    default: return false;
  }
}

// Whether the slope depends on values, which may be infinite or NaN: 0 times it is then no 0.
bool has_slopes_of_values(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.kind != Kind::apply) return node.kind == Kind::recurrence || node.kind == Kind::others;
  if (node.mode == Mode::accumulate && node.accumulator == AccumulatorId::prod) return true;
  const auto is_number = [&](int position) { return is_scalar_constant(graph.node(graph.operand(id, position))); };
  switch (node.op) {
    case Op::copy: case Op::cast: case Op::stop_gradient: case Op::negative: case Op::add: case Op::subtract: case Op::where: return false;
    case Op::multiply: case Op::fma: return !is_number(0) && !is_number(1);
    case Op::divide: return !is_number(1);
    default: return !is_piecewise(node.op);
  }
}

}  // namespace

Sweep::Sweep(Graph& graph, const std::vector<NodeId>& xs)
    : graph_(graph), numbers_(graph), is_x_(graph.size(), false), has_values_behind_(graph.size(), false), adjoints_(graph.size()) {
  for (NodeId id : xs) is_x_[id.value] = true;
  on_path_ = is_x_;
  for (std::size_t k = 0; k < on_path_.size(); ++k) {
    bool passes_on = false;
    for (int p = 0; p < graph.arity(id_of(k)); ++p) {
      const std::size_t operand = graph.operand(id_of(k), p).value;
      passes_on |= on_path_[operand];
      if (has_values_behind_[operand]) has_values_behind_[k] = true;
    }
    if (passes_on) on_path_[k] = true;
    if (passes_on && has_slopes_of_values(graph, id_of(k))) has_values_behind_[k] = true;
  }
}

void Sweep::pass_to(const Operand& at, const Local& value) {
  if (!on_path_[at.node.value]) return;
  const Shape shape = graph_.node(at.node).shape();
  const Order order = graph_.node(at.node).order;
  add(at.node, pull_back(value, at.map, shape, order, has_values_behind_[at.node.value]));
}

void Sweep::add(NodeId id, Adjoint term) {
  if (std::holds_alternative<double>(term.value) && std::get<double>(term.value) == 0) return;
  auto& total = adjoints_[id.value];
  if (!total) {
    total = std::move(term);
    return;
  }
  Frame frame = own_frame(id);
  total = Adjoint::of(total->in(frame) + term.in(frame));
}

void Sweep::run_down() {
  for (std::size_t k = on_path_.size(); k-- > 0;) {
    if (!on_path_[k] || !adjoints_[k]) continue;
    const Node node = graph_.node(id_of(k));               // a copy: adding nodes moves them
    if (visit_custom(id_of(k))) continue;
    if (node.kind == Kind::apply) visit(id_of(k), node);
    if (node.kind == Kind::recurrence) visit_recurrence(id_of(k), node);
    if (node.kind == Kind::others) visit_others(id_of(k), node);
    if (node.kind == Kind::reshape) visit_reshape(id_of(k));
    if (node.kind == Kind::fit) visit_fit(id_of(k), node);
    if (node.kind == Kind::update) {
      const auto& places = std::get<AxisMap>(node.payload);
      const NodeId window = graph_.operand(id_of(k), 0);
      if (are_within(places)) add(window, whole_and_mask(id_of(k), [&](const Expr& g) { return read_back_within(g, places, graph_.node(window).shape()); }));
      else add(window, read_back(*adjoints_[k], places));
    }
  }
}

// What a node has got, and the mask of that, each taken back as a whole node.
template <class TakeBack> Adjoint Sweep::whole_and_mask(NodeId id, const TakeBack& take_back) {
  Adjoint back = take_back(result(id));
  const auto& mask = adjoints_[id.value]->mask;
  if (mask && mask->strict && has_values_behind_[id.value]) {
    Frame frame = own_frame(id);
    back.mask = Mask{std::get<Operand>(take_back(whole(frame, truth(*mask, frame))).value)};
  }
  return back;
}

void Sweep::visit_reshape(NodeId id) {
  const NodeId operand = graph_.operand(id, 0);
  add(operand, whole_and_mask(id, [&](const Expr& g) { return reshape_back(g, graph_.node(operand).shape()); }));
}

// The gradient as a node of the right shape.
Expr Sweep::result(NodeId id) {
  Frame frame = own_frame(id);
  const DType dtype = graph_.node(id).dtype;
  const Local total = (adjoints_[id.value] ? adjoints_[id.value]->in(frame) : Local(frame, 0.0)).resolved();
  if (const auto* waiting = total.waiting()) return Expr(graph_, frame.fold(AccumulatorId::sum, waiting->op, dtype, waiting->operands, all_axes_of(frame)));
  return whole(frame, total.node());
}

Frame Sweep::own_frame(NodeId id) {
  const Node& node = graph_.node(id);
  return Frame(graph_, numbers_, node.shape(), node.dtype, node.order);
}

Expr Sweep::whole(Frame& frame, Operand value) {
  if (is_whole(graph_, value, frame.domain)) return Expr(graph_, value.node);
  const DType dtype = graph_.node(value.node).dtype;
  return Expr(graph_, frame.fold(AccumulatorId::sum, Op::copy, dtype, {std::move(value)}, all_axes_of(frame)));
}

Local Sweep::operand_local(Frame& frame, NodeId user, int position) {
  const NodeId id = graph_.operand(user, position);
  if (const Scalar* number = scalar_of(graph_.node(id))) return Local(frame, number->as_double());
  return Local(frame, Operand{id, graph_.map(user, position)});
}

// Numbers in the columns have the dtype of the last operand.
Frame Sweep::element_frame(NodeId id, const Node& node) {
  const DType dtype = graph_.node(graph_.operand(id, graph_.arity(id) - 1)).dtype;
  return Frame(graph_, numbers_, node.domain, is_floating(dtype) ? dtype : node.dtype, node.order);
}

Sweep::Elements Sweep::elements_of(Frame& frame, NodeId id, const Node& node) {
  std::vector<Local> operands;
  std::vector<Operand> plain;
  for (int p = 0; p < graph_.arity(id); ++p) {
    operands.push_back(operand_local(frame, id, p));
    plain.push_back(Operand{graph_.operand(id, p), graph_.map(id, p)});
  }
  const Operand saved{id, identity_map(node.kept)};
  Local y = node.mode != Mode::accumulate ? Local(frame, saved) : node.op == Op::copy ? operands[0] : Local(frame, node.op, node.dtype, plain);
  return {std::move(plain), std::move(operands), saved, std::move(y)};
}

// With how many powers of `factor` the node multiplies what does not depend on any x; -1 if it is no such product, if it has many nodes, or if
// one of them is an x itself and wants its own part.
int Sweep::power_of(NodeId factor, NodeId id, int& nodes) const {
  if (id == factor) return 1;
  if (!on_path_[id.value]) return 0;
  const Node& node = graph_.node(id);
  constexpr int most = 8;                                    // nodes looked at: the sweep stays linear
  if (++nodes > most || is_x_[id.value] || node.kind != Kind::apply || node.mode != Mode::broadcast || (node.op != Op::multiply && node.op != Op::square) ||
      node.dtype != graph_.node(factor).dtype || graph_.storage().custom.contains(id))
    return -1;
  int power = 0;
  for (int p = 0; p < graph_.arity(id); ++p) {
    const NodeId operand = graph_.operand(id, p);
    const int own = power_of(factor, operand, nodes);
    if (own < 0 || (own > 0 && !is_whole(graph_, Operand{operand, graph_.map(id, p)}, node.domain))) return -1;
    power += own;
  }
  return node.op == Op::square ? 2 * power : power;
}

// Of a product x * a, where a is a product of x and of what does not depend on any x: the powers of x in the whole; 0 elsewhere.
int Sweep::power_beside(NodeId id, const Node& node, int position) const {
  const NodeId factor = graph_.operand(id, position);
  if (node.op != Op::multiply || !on_path_[factor.value] || !is_floating(node.dtype)) return 0;
  int nodes = 0;
  return std::max(0, power_of(factor, id, nodes));
}

void Sweep::visit(NodeId id, const Node& node) {
  if (const auto found = log_sum_of(id)) return visit_log_sum(id, *found);
  Frame frame = element_frame(id, node);
  const Elements at = elements_of(frame, id, node);
  Local g = adjoints_[id.value]->in(frame);
  const bool sums_products = node.mode == Mode::accumulate && node.accumulator == AccumulatorId::sum && node.op == Op::multiply;
  const std::optional<Mask> of_sums = sums_products ? g.mask() : std::nullopt;
  if (node.mode == Mode::accumulate) g = through_fold(frame, node, g, at.y, at.saved);
  if (const auto form = stable_form_of(id)) return pass_to(form->at, along_form(frame, *form, node.dtype, g));
  // The power rule: x * x * x passes 3 g (x * x) to x at once, not one term for each factor.
  int of_power = -1, power = 0;
  for (int p = graph_.arity(id); p-- > 0 && power < 2;)
    if (const int found = power_beside(id, node, p); found >= 2) of_power = p, power = found;
  for (int p = 0; p < graph_.arity(id); ++p) {
    if (of_power >= 0 && p != of_power) continue;
    const auto& [operand, map] = at.plain[static_cast<std::size_t>(p)];
    const Node& target = graph_.node(operand);
    if (!on_path_[operand.value] || !is_floating(target.dtype)) continue;
    frame.convert_to = target.dtype;
    std::vector<Local> operands = at.operands;
    const bool early = of_sums && mask_factor(frame, *of_sums, operands[static_cast<std::size_t>(1 - p)]);
    Local value = derivative(node.op, p, operands, at.y, early ? g.resolved() : g);
    if (power >= 2) value = value * Local(power);
    if (!value.frame()) value = Local(frame, value.number());
    if (value.mask() && is_piecewise(node.op)) value.set_strict(g.mask() && g.mask()->strict);
    pass_to({operand, map}, value);
  }
}

// Whether a mask of sums of products counts before these: zeros once for each sum, and a product of matrices again, not a choice in each of its
// terms. What a strict mask hides in every term that reads an element of the other factor becomes 0 in that factor.
bool Sweep::mask_factor(Frame& frame, const Mask& mask, Local& factor) {
  std::vector<bool> read(frame.domain.size(), false), masked(frame.domain.size(), false);
  factor.mark(read);
  mark_axes(mask.value.map, masked);
  if (!mask.strict) return true;
  if (std::find(read.begin(), read.end(), false) == read.end() || factor.is_number()) return false;       // no axis repeats it: a choice in each term costs no more
  std::vector<int> keep;
  for (std::size_t axis = 0; axis < read.size(); ++axis)
    if (read[axis] && masked[axis]) keep.push_back(static_cast<int>(axis));
  if (keep.empty()) return true;
  AxisMap seen;
  for (int axis : keep) seen.push_back(AxisRef{axis, 0, 1});
  const NodeId chosen = frame.fold(AccumulatorId::any, Op::copy, bool_, {truth(mask, frame)}, keep);
  factor = factor.masked(Local(frame, Operand{chosen, std::move(seen)})).resolved();
  return true;
}

// The cotangent of one element of a fold.
Local Sweep::through_fold(Frame& frame, const Node& node, const Local& g, const Local& y, const Operand& saved) {
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
Local Sweep::share_among_ties(Frame& frame, const Node& node, const Local& g, const Local& y, const Operand& saved) {
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

// For each element the product of all others: along few elements as one node, otherwise as that of those visited before it times that of
// those after it. Never divides, so it is exact with zeros and where the whole product under- or overflows, and differentiable again.
Local Sweep::product_of_others(Frame& frame, const Node& node, const Local& y) {
  const Operand element = y.node(node.dtype);
  std::vector<int> carried;
  for (int axis = node.kept; axis < static_cast<int>(node.domain.size()); ++axis) carried.push_back(axis);
  const AxisMap here = identity_map(static_cast<int>(node.domain.size()));
  if (carried.size() == 1 && fits_others(node.dtype, node.domain.back())) {
    const Node& read = graph_.node(element.node);
    const auto along = std::find(element.map.begin(), element.map.end(), AxisRef{carried[0], 0, 1});
    const bool permutes = element.map.size() == here.size() && std::is_permutation(element.map.begin(), element.map.end(), here.begin());
    if (!permutes) return Local(frame, Operand{weft::product_of_others(graph_, node.dtype, node.domain, carried[0], element, node.order).id(), here});
    const Operand own{element.node, here};               // in the order of its own axes: the gradient has that too
    const Order order = read.order;
    return Local(frame, Operand{weft::product_of_others(graph_, node.dtype, read.shape(), static_cast<int>(along - element.map.begin()), own, order).id(), element.map});
  }
  const auto [before, after, flip] = products_before_and_after(graph_, node.dtype, node.domain, carried, element, node.order);
  return Local(frame, Operand{before.id(), here}) * Local(frame, Operand{after.id(), flip});
}

// The cotangents of a prefix and a suffix, whose product the node is.
void Sweep::visit_others(NodeId id, const Node& node) {
  const Operand element{graph_.operand(id, 0), graph_.map(id, 0)};
  const auto parts = products_before_and_after(graph_, node.dtype, node.domain, {std::get<Along>(node.payload).axis}, element, node.order);
  const AxisMap here = identity_map(node.kept);
  const auto pass_on = [&](const Expr& part, const AxisMap& part_to_node, const Expr& factor, const AxisMap& factor_to_part, const AxisMap& map) {
    Frame frame(graph_, numbers_, node.domain, node.dtype, node.order);
    Adjoint seen = *adjoints_[id.value];
    if (auto* operand = std::get_if<Operand>(&seen.value)) operand->map = compose(operand->map, part_to_node);
    if (seen.mask) seen.mask->value.map = compose(seen.mask->value.map, part_to_node);
    const Local g = seen.in(frame) * Local(frame, Operand{factor.id(), factor_to_part});
    const auto gradient = recurrence_adjoints(graph_, part.id(), g.resolved().node(node.dtype), {true})[0];
    if (gradient) pass_to({element.node, map}, Local(frame, *gradient));
  };
  pass_on(parts.before, here, parts.after, parts.flip, element.map);
  pass_on(parts.after, parts.flip, parts.before, parts.flip, compose(element.map, parts.flip));
}

void Sweep::visit_recurrence(NodeId id, const Node& node) {
  Frame frame(graph_, numbers_, node.domain, node.dtype, node.order);
  const int arity = graph_.arity(id);
  std::vector<bool> wanted;
  for (int p = 0; p < arity; ++p) wanted.push_back(on_path_[graph_.operand(id, p).value]);
  const Operand g = adjoints_[id.value]->in(frame).resolved().node(node.dtype);
  std::vector<AxisMap> maps;
  for (int p = 0; p < arity; ++p) maps.push_back(graph_.map(id, p));
  const auto gradients = recurrence_adjoints(graph_, id, g, wanted);
  for (int p = 0; p < arity; ++p) {
    const auto& gradient = gradients[static_cast<std::size_t>(p)];
    if (!gradient) continue;
    pass_to({graph_.operand(id, p), maps[static_cast<std::size_t>(p)]}, Local(frame, *gradient));
  }
}

void Sweep::visit_fit(NodeId id, const Node& node) {
  const NodeId operand = graph_.operand(id, 0);
  const Expr g = result(id);
  add(operand, fit_back(g, node, graph_.node(operand)));
}

// A function whose author says what its gradient is.
bool Sweep::visit_custom(NodeId id) {
  const auto found = graph_.storage().custom.find(id);
  if (found == graph_.storage().custom.end()) return false;
  const CustomGradient rule = *found->second;
  const Expr g = result(id);
  const std::vector<Expr> gradients = rule.vjp(rule.xs, Expr(graph_, id), g);
  WEFT_REQUIRE(gradients.size() == rule.xs.size(), usage, "custom_gradient: expected a gradient for each of ", rule.xs.size(), " arguments, got ", gradients.size());
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const Expr &x = rule.xs[k], &gradient = gradients[k];
    if (!on_path_[x.id().value] || !is_floating(x.dtype())) continue;
    WEFT_REQUIRE(!gradient.is_empty() && &gradient.graph() == &graph_, usage, "custom_gradient: the gradient of ", x.name(), " is not an Expr of its graph");
    WEFT_REQUIRE(gradient.shape() == x.shape() && gradient.dtype() == x.dtype(), shape, "custom_gradient: the gradient of ", x.name(), " is ", gradient.dtype(), " of shape ",
                 to_text(gradient.shape()), ", expected ", x.dtype(), " of shape ", to_text(x.shape()));
    add(x.id(), Adjoint{Operand{gradient.id(), identity_map(x.rank())}, {}});
  }
  return true;
}

}  // namespace weft
