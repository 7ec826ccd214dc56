#include "local.h"

#include <bit>
#include <cmath>

#include <weft/error.h>

namespace weft {

NodeId NumberPool::get(DType dtype, double value) {
  auto [place, is_new] = ids_.try_emplace({dtype, std::bit_cast<std::uint64_t>(value)});
  if (is_new) place->second = graph_->constant(Scalar::of(dtype, value)).id();
  return place->second;
}

// ---- Frame

Operand Frame::apply(Op op, DType dtype, std::vector<Operand> operands) {
  for (Operand& operand : operands) settle_parts(graph, operand, domain);
  const auto same = [](const Operand& a, const Operand& b) { return a.node == b.node && a.map == b.map; };
  for (const Done& done : done_)
    if (done.op == op && done.dtype == dtype && std::equal(done.operands.begin(), done.operands.end(), operands.begin(), operands.end(), same))
      return done.result;
  Operand result = apply_over_mentioned(graph, op, dtype, domain, operands, order);
  done_.push_back(Done{op, dtype, std::move(operands), result});
  return result;
}

NodeId Frame::fold(AccumulatorId acc, Op op, DType dtype, std::vector<Operand> operands, const std::vector<int>& keep) {
  std::vector<bool> mentioned(domain.size(), false);
  for (const Operand& operand : operands) mark_axes(operand.map, mentioned);
  std::vector<int> position(domain.size(), -1);
  Shape own;
  auto add_axis = [&](std::size_t axis) {
    position[axis] = static_cast<int>(own.size());
    own.push_back(domain[axis]);
  };
  for (int axis : keep) add_axis(static_cast<std::size_t>(axis));
  for (std::size_t axis = 0; axis < domain.size(); ++axis)
    if (mentioned[axis] && position[axis] < 0) add_axis(axis);
  for (Operand& operand : operands) operand.map = renumber(std::move(operand.map), position);
  return graph.fold(acc, op, dtype, std::move(own), static_cast<int>(keep.size()), std::move(operands), order);
}

// ---- Local

const Local::Waiting* Local::waiting() const {
  const auto* held = std::get_if<std::shared_ptr<Waiting>>(&value_);
  return held && !(*held)->result ? held->get() : nullptr;
}

DType Local::dtype() const {
  if (const Operand* operand = view()) return frame_->graph.node(operand->node).dtype;
  if (const auto* held = std::get_if<std::shared_ptr<Waiting>>(&value_)) return (*held)->dtype;
  WEFT_ASSERT(frame_, "a number without a frame has no dtype");
  return frame_->number_dtype;
}

Operand Local::node(DType number_dtype) const {
  if (const Operand* operand = view()) return *operand;
  if (is_number()) {
    WEFT_ASSERT(frame_, "a number needs a frame to become a node");
    return Operand{frame_->numbers.get(number_dtype, number()), {}};
  }
  Waiting& held = *std::get<std::shared_ptr<Waiting>>(value_);
  if (!held.result) held.result = frame_->apply(held.op, held.dtype, held.operands);
  return *held.result;
}

Local Local::bare() const {
  Local result = *this;
  result.mask_.reset();
  return result;
}

Local Local::resolved() const {
  if (!mask_) return *this;
  const DType type = dtype();
  Operand value = node(), zero{frame_->numbers.get(type, 0), {}};
  if (mask_->inverted) std::swap(value, zero);
  return Local(*frame_, Op::where, type, {mask_->value, std::move(value), std::move(zero)});
}

void Local::mark(std::vector<bool>& mentioned) const {
  if (mask_) mark_axes(mask_->value.map, mentioned);
  if (const Operand* operand = view()) mark_axes(operand->map, mentioned);
  if (const auto* held = std::get_if<std::shared_ptr<Waiting>>(&value_))
    for (const Operand& operand : (*held)->operands) mark_axes(operand.map, mentioned);
}

namespace {

Frame* frame_of(const Local& a, const Local& b) { return a.frame() ? a.frame() : b.frame(); }

// A number takes the dtype of what stands beside it.
Operand beside(const Local& a, const Local& other, Frame& frame) {
  if (!a.is_number()) return a.node();
  return Local(frame, a.number()).node(other.is_number() ? frame.number_dtype : other.dtype());
}

Local binary(Op op, const Local& a, const Local& b) {
  Frame& frame = *frame_of(a, b);
  std::vector<Operand> operands{beside(a, b, frame), beside(b, a, frame)};
  const DType dtype = info(op).rule == DTypeRule::comparison ? bool_ : frame.graph.node(operands[0].node).dtype;
  return Local(frame, op, dtype, std::move(operands));
}

Local compare(Op op, const Local& a, const Local& b, bool both_numbers) {
  return a.is_number() && b.is_number() ? Local(both_numbers) : binary(op, a, b);
}

bool same(const Mask& a, const Mask& b) { return a.inverted == b.inverted && a.value.node == b.value.node && a.value.map == b.value.map; }

std::optional<Mask> both(const std::optional<Mask>& a, const std::optional<Mask>& b, Frame* frame) {
  if (!a || !b) return a ? a : b;
  if (same(*a, *b)) return a->strict ? a : b;
  return Mask{frame->apply(Op::logical_and, bool_, {truth(*a, *frame), truth(*b, *frame)}), false, a->strict || b->strict};
}

}  // namespace

Operand truth(const Mask& mask, Frame& frame) {
  return mask.inverted ? frame.apply(Op::logical_not, bool_, {mask.value}) : mask.value;
}

Local Local::masked(const Local& condition, bool inverted) const {
  if (is_number(0)) return *this;
  if (condition.is_number()) return (condition.number() != 0) != inverted ? *this : Local(0.0);
  Local result = *this;
  result.frame_ = frame_of(*this, condition);
  result.mask_ = both(mask_, Mask{condition.node(), inverted}, result.frame_);
  return result;
}

Local operator-(const Local& a) {
  if (a.is_number() && !a.mask_) return a.frame_ ? Local(*a.frame_, -a.number()) : Local(-a.number());
  Local result = a.is_number() ? Local(*a.frame_, -a.number()) : Local(*a.frame_, Op::negative, a.dtype(), {a.node()});
  result.mask_ = a.mask_;
  return result;
}

Local operator+(const Local& a, const Local& b) {
  if (a.is_number(0)) return b;
  if (b.is_number(0)) return a;
  Frame* frame = frame_of(a, b);
  if (a.mask_ && b.mask_ && same(*a.mask_, *b.mask_)) {
    Local result = a.bare() + b.bare();
    result.frame_ = frame;
    result.mask_ = a.mask_;
    return result;
  }
  if (!a.mask_ && !b.mask_) {
    if (!a.is_number() || !b.is_number()) return binary(Op::add, a, b);
    return frame ? Local(*frame, a.number() + b.number()) : Local(a.number() + b.number());
  }
  Local result = binary(Op::add, a.resolved(), b.resolved());
  if (a.mask_ && b.mask_) result.mask_ = Mask{frame->apply(Op::logical_or, bool_, {truth(*a.mask_, *frame), truth(*b.mask_, *frame)}), false, a.mask_->strict || b.mask_->strict};
  return result;
}

Local operator-(const Local& a, const Local& b) {
  if (b.is_number(0)) return a;
  if (a.is_number(0)) return -b;
  if (a.is_number() && b.is_number()) return a + -b;
  return binary(Op::subtract, a.resolved(), b.resolved());
}

Local operator*(const Local& a, const Local& b) {
  if (a.is_number(0) || b.is_number(0)) return 0.0;
  Frame* frame = frame_of(a, b);
  Local result = [&]() -> Local {
    if (a.is_number() && b.is_number()) return a.number() * b.number();
    if (a.is_number(1)) return b.bare();
    if (b.is_number(1)) return a.bare();
    if (a.is_number(-1)) return -b.bare();
    if (b.is_number(-1)) return -a.bare();
    return binary(Op::multiply, a, b);
  }();
  result.frame_ = frame;
  result.mask_ = both(a.mask_, b.mask_, frame);
  return result;
}

Local operator/(const Local& a, const Local& b) {
  if (a.is_number(0)) return 0.0;
  WEFT_ASSERT(!b.mask_, "a derivative divides by a masked value");
  Local result = a.is_number() && b.is_number() ? Local(a.number() / b.number()) : b.is_number(1) ? a : binary(Op::divide, a, b);
  result.frame_ = frame_of(a, b);
  result.mask_ = a.mask_;
  return result;
}

#define WEFT_COMPARISON(symbol, op) \
  Local operator symbol(const Local& a, const Local& b) { return compare(op, a, b, a.is_number() && b.is_number() && a.number() symbol b.number()); }
WEFT_COMPARISON(>, Op::greater)
WEFT_COMPARISON(<, Op::less)
WEFT_COMPARISON(>=, Op::greater_equal)
WEFT_COMPARISON(<=, Op::less_equal)
WEFT_COMPARISON(==, Op::equal)
WEFT_COMPARISON(!=, Op::not_equal)
#undef WEFT_COMPARISON

Local operator&(const Local& a, const Local& b) {
  if (a.is_number()) return a.number() != 0 ? b : a;
  if (b.is_number()) return b & a;
  return binary(Op::logical_and, a, b);
}
Local operator|(const Local& a, const Local& b) {
  if (a.is_number()) return a.number() != 0 ? a : b;
  if (b.is_number()) return b | a;
  return binary(Op::logical_or, a, b);
}

Local select(const Local& condition, const Local& yes, const Local& no) {
  if (condition.is_number()) return condition.number() != 0 ? yes : no;
  if (no.is_number(0)) return yes.masked(condition);
  if (yes.is_number(0)) return no.masked(condition, true);
  if (yes.is_number() && no.is_number() && !yes.mask_ && !no.mask_ && yes.number() == no.number()) return yes;
  Frame& frame = *condition.frame_;
  const bool same_mask = yes.mask_ && no.mask_ && same(*yes.mask_, *no.mask_);
  const Local a = same_mask ? yes.bare() : yes.resolved(), b = same_mask ? no.bare() : no.resolved();
  const Operand first = beside(a, b, frame), second = beside(b, a, frame);
  Local result(frame, Op::where, frame.graph.node(first.node).dtype, {condition.node(), first, second});
  if (same_mask) result.mask_ = yes.mask_;
  return result;
}

Local convert(const Local& a) {
  if (a.is_number() || a.dtype() == a.frame_->convert_to) return a;
  Local result(*a.frame_, Op::cast, a.frame_->convert_to, {a.node()});
  result.mask_ = a.mask_;
  return result;
}

namespace {
// A size: a divisor that is 0 only where there are no elements.
bool is_size(const Local& a) {
  if (!a.view()) return false;
  const Graph& graph = a.frame()->graph;
  NodeId id = a.view()->node;
  if (graph.node(id).kind == Kind::apply && graph.node(id).op == Op::cast) id = graph.operand(id, 0);
  return graph.node(id).kind == Kind::extent;
}
}  // namespace

Local guard(const Local& g, const Local& d, const Local& value) {
  if ((g.is_number() && !g.is_number(0)) || (d.is_number() && !d.is_number(0)) || is_size(d)) return value;
  return value.masked((d.bare() != 0.0) | (g.bare() != 0.0));
}

Local power(const Local& a, const Local& b) {
  if (b.is_number(0)) return 1.0;
  if (b.is_number(1)) return a;
  if (b.is_number(2)) return call(Op::square, a);
  return call(Op::power, a, b);
}

Local call(Op op, const Local& a) {
  Frame& frame = *a.frame_;
  const Operand operand = a.resolved().node();
  return Local(frame, op, frame.graph.node(operand.node).dtype, {operand});
}
Local call(Op op, const Local& a, const Local& b) { return binary(op, a.resolved(), b.resolved()); }

}  // namespace weft
