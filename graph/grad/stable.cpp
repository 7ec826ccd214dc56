// The derivatives of stable functions in other words (stable_form.h): those of the functions they are.
#include "sweep.h"
#include "maps.h"
#include "storage.h"

namespace weft {

std::optional<StableForm> Sweep::stable_form_of(NodeId id) const {
  return stable_form(graph_, id, [this](NodeId inner) { return is_x_[inner.value] || graph_.storage().custom.contains(inner); });
}

// The derivative of such a form times what passes. Its own value may have overflowed: that of the function it is does not.
Local Sweep::along_form(Frame& frame, const StableForm& form, DType dtype, const Local& passes) {
  const Local own(frame, form.at), at = form.negated ? -own : own;
  const Local value = derivative(form.op, 0, {at}, Local(frame, form.op, dtype, {at.node(dtype)}), passes);
  return form.negated != form.negative ? -value : value;
}

// The logarithm of a sum of exponentials, read as the whole fold gives it.
std::optional<LogSum> Sweep::log_sum_of(NodeId id) const {
  const auto found = log_sum(graph_, id, [this](NodeId inner) { return is_x_[inner.value] || graph_.storage().custom.contains(inner); });
  const Node& node = graph_.node(id);
  if (!found || node.mode != Mode::broadcast || !is_whole(graph_, Operand{found->sum, graph_.map(id, 0)}, node.domain)) return {};
  return found;
}

// What passes, shared out as the exponentials are; nothing where they add up to nothing. exp(a - y) would be as wrong as y is large.
Local Sweep::along_log_sum(Frame& frame, const LogSum& found, const Local& passes) {
  const Node sum = graph_.node(found.sum);
  const auto [shift, exponential, all] = shifted_sum(graph_, sum, found.at, true);
  const Local total(frame, all);
  return passes * select(total == 0.0, 0.0, Local(frame, exponential) / total);
}

void Sweep::visit_log_sum(NodeId id, const LogSum& found) {
  const Node sum = graph_.node(found.sum);
  Frame frame(graph_, numbers_, sum.domain, sum.dtype, sum.order);
  if (on_path_[found.at.node.value]) pass_to(found.at, along_log_sum(frame, found, adjoints_[id.value]->in(frame)));
}

}  // namespace weft
