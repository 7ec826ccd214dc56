// Tangents: from the xs up to the ys. The derivative of a fold is the fold (sum) of what its elements contribute.
#include <weft/error.h>

#include "needed.h"
#include "recurrence.h"
#include "sweep.h"
#include "others.h"

namespace weft {

void Sweep::run_up(const std::vector<NodeId>& ys) {
  const std::vector<bool> needed = needed_by(graph_, ys);
  for (std::size_t k = 0; k < on_path_.size(); ++k) {
    if (!on_path_[k] || !needed[k] || adjoints_[k]) continue;                // an x keeps the tangent it is given
    const Node node = graph_.node(id_of(k));
    if (!is_floating(node.dtype)) continue;
    if (node.kind == Kind::apply) add(id_of(k), tangent_of(id_of(k), node));
    if (node.kind == Kind::recurrence) add(id_of(k), tangent_of_recurrence(id_of(k), node));
    if (node.kind == Kind::others) add(id_of(k), tangent_of_others(id_of(k), node));
    if (node.kind == Kind::reshape && adjoints_[graph_.operand(id_of(k), 0).value]) add(id_of(k), reshape_back(result(graph_.operand(id_of(k), 0)), node.shape()));
    if ((node.kind == Kind::update || node.kind == Kind::fit) && adjoints_[graph_.operand(id_of(k), 0).value]) {   // linear
      const Expr tangent = result(graph_.operand(id_of(k), 0));
      add(id_of(k), Adjoint{Operand{graph_.add(node, {Operand{tangent.id(), identity_map(tangent.rank())}}), identity_map(node.kept)}, {}});
    }
  }
}

std::optional<Local> Sweep::moved(Frame& frame, const Operand& operand) {
  const auto& tangent = adjoints_[operand.node.value];
  if (!tangent) return std::nullopt;
  Adjoint seen = *tangent;
  if (auto* value = std::get_if<Operand>(&seen.value)) value->map = compose(value->map, operand.map);
  if (seen.mask) seen.mask->value.map = compose(seen.mask->value.map, operand.map);
  return seen.in(frame);
}

Adjoint Sweep::tangent_of(NodeId id, const Node& node) {
  if (const auto found = log_sum_of(id)) {
    const Node sum = graph_.node(found->sum);
    Frame over(graph_, numbers_, sum.domain, sum.dtype, sum.order);
    const auto tangent = moved(over, found->at);
    return tangent ? pull_back(along_log_sum(over, *found, *tangent), identity_map(sum.kept), sum.shape(), sum.order) : Adjoint{};
  }
  Frame frame = element_frame(id, node);
  frame.convert_to = node.dtype;
  const Elements at = elements_of(frame, id, node);
  std::optional<Local> total;
  const auto add_term = [&](Local value) {
    if (!value.frame()) value = Local(frame, value.number());
    total = total ? *total + value : value;
  };
  if (const auto form = stable_form_of(id)) {
    if (const auto tangent = moved(frame, form->at)) add_term(along_form(frame, *form, node.dtype, *tangent));
  } else {
    for (int p = 0; p < graph_.arity(id); ++p)
      if (const auto tangent = moved(frame, at.plain[static_cast<std::size_t>(p)])) add_term(derivative(node.op, p, at.operands, at.y, *tangent));
  }
  if (!total) return {};
  if (node.mode == Mode::accumulate) total = through_fold(frame, node, *total, at.y, at.saved);
  if (!total->frame()) total = Local(frame, total->number());
  return pull_back(*total, identity_map(node.kept), node.shape(), node.order);
}

Adjoint Sweep::tangent_of_recurrence(NodeId id, const Node& node) {
  Frame frame(graph_, numbers_, node.domain, node.dtype, node.order);
  std::vector<std::optional<Operand>> tangents;
  bool any = false;
  for (int p = 0; p < graph_.arity(id); ++p) {
    const auto tangent = moved(frame, Operand{graph_.operand(id, p), graph_.map(id, p)});
    const DType dtype = graph_.node(graph_.operand(id, p)).dtype;
    tangents.push_back(tangent ? std::optional(tangent->resolved().node(dtype)) : std::nullopt);
    any |= tangent.has_value();
  }
  if (!any) return {};
  return Adjoint{Operand{recurrence_tangent(graph_, id, tangents), identity_map(node.kept)}, {}};
}

// That of a prefix times a suffix.
Adjoint Sweep::tangent_of_others(NodeId id, const Node& node) {
  Frame frame(graph_, numbers_, node.domain, node.dtype, node.order);
  const auto tangent = moved(frame, Operand{graph_.operand(id, 0), graph_.map(id, 0)});
  if (!tangent) return {};
  const Operand element{graph_.operand(id, 0), graph_.map(id, 0)}, along = tangent->resolved().node(node.dtype);
  const auto [before, after, flip] = products_before_and_after(graph_, node.dtype, node.domain, {std::get<Along>(node.payload).axis}, element, node.order);
  const AxisMap here = identity_map(node.kept);
  const Operand before_moves{recurrence_tangent(graph_, before.id(), {along}), here};
  const Operand after_moves{recurrence_tangent(graph_, after.id(), {Operand{along.node, compose(along.map, flip)}}), flip};
  const Local total = Local(frame, before_moves) * Local(frame, Operand{after.id(), flip}) + Local(frame, Operand{before.id(), here}) * Local(frame, after_moves);
  return Adjoint::of(total);
}

}  // namespace weft
