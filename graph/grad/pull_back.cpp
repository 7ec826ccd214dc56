#include "pull_back.h"

#include <cstdlib>

#include <weft/expr.h>

#include "expr/windows.h"

namespace weft {
namespace {

// One reading of an operand in a loop nest.
class Reading {
 public:
  Reading(const Local& value, const AxisMap& map, const Shape& shape, Order order, bool keeps_mask)
      : value_(value), frame_(*value.frame()), map_(map), shape_(shape), order_(order), keeps_mask_(keeps_mask), back_(frame_.domain.size()),
        mentioned_(frame_.domain.size(), false), scattered_(map.size(), false) {
    for (std::size_t k = 0; k < map.size(); ++k) {
      const AxisRef& ref = map[k];
      if (ref.axis < 0) {
        scattered_[k] = !shape[k].is(1);
        continue;
      }
      const Extent& loop = frame_.domain[static_cast<std::size_t>(ref.axis)];
      back_[static_cast<std::size_t>(ref.axis)] = AxisRef{static_cast<int>(k), ref.start, ref.step};   // loop = (k - start) * step
      scattered_[k] = !is_forward(ref, shape[k], loop) && !is_backward(ref, shape[k], loop);
    }
    value_.mark(mentioned_);
  }

  Adjoint adjoint() {
    multiply_by_unmentioned();
    if (value_.is_number(0)) return {};
    if (!folds_several() && !scatters()) return through(Adjoint::of(value_));
    const bool is_kept = keeps_mask_ && value_.mask() && value_.mask()->strict;
    const std::optional<Mask> mask = is_kept ? value_.mask() : std::nullopt;
    value_ = value_.resolved();
    const std::vector<int> keep = kept_loops();
    if (!scatters()) {
      AxisMap seen;
      for (int loop : keep) seen.push_back(back_[static_cast<std::size_t>(loop)]);
      return Adjoint{Operand{fold(value_, keep), std::move(seen)}, mask ? std::optional(mask_of_sums(*mask)) : std::nullopt};
    }
    Adjoint result{scattered(value_, keep), {}};
    if (mask) result.mask = Mask{scattered(Local(frame_, truth(*mask, frame_)), keep)};
    return result;
  }

 private:
  bool is_named(std::size_t loop) const { return back_[loop].axis >= 0; }
  bool folds() const {
    for (std::size_t loop = 0; loop < mentioned_.size(); ++loop)
      if (mentioned_[loop] && !is_named(loop)) return true;
    return false;
  }
  // A sum of one element is that element, and where it is masked so is the sum.
  bool folds_several() const {
    for (std::size_t loop = 0; loop < mentioned_.size(); ++loop)
      if (mentioned_[loop] && !is_named(loop) && !frame_.domain[loop].is(1)) return true;
    return false;
  }
  bool scatters() const {
    for (bool scattered : scattered_)
      if (scattered) return true;
    return false;
  }

  // The sum of a value that does not depend on a loop.
  void multiply_by_unmentioned() {
    Extent count = 1;
    for (std::size_t loop = 0; loop < mentioned_.size(); ++loop)
      if (!mentioned_[loop] && !is_named(loop)) count = count * frame_.domain[loop];
    if (count.is(1)) return;
    if (count.is_number()) {
      value_ = value_ * Local(frame_, static_cast<double>(count.constant()));
      return;
    }
    const DType dtype = value_.dtype();
    const Operand size{frame_.graph.extent(count).id(), {}};
    value_ = value_ * Local(frame_, frame_.apply(Op::cast, dtype, {size}));
  }

  // The loops that become axes of the result, in the operand's order.
  std::vector<int> kept_loops() const {
    std::vector<int> keep;
    for (std::size_t k = 0; k < map_.size(); ++k)
      if (map_[k].axis >= 0 && (scattered_[k] || mentioned_[static_cast<std::size_t>(map_[k].axis)])) keep.push_back(map_[k].axis);
    return keep;
  }

  // No folds and no scattering: loops are the operand's axes under other names, some of them reversed.
  Adjoint through(Adjoint adjoint) const {
    if (auto* operand = std::get_if<Operand>(&adjoint.value)) operand->map = compose(operand->map, back_);
    if (adjoint.mask) adjoint.mask->value.map = compose(adjoint.mask->value.map, back_);
    return adjoint;
  }

  // Where any of what was summed counts.
  Mask mask_of_sums(const Mask& mask) {
    const Local chosen(frame_, truth(mask, frame_));
    std::vector<bool> masked(frame_.domain.size(), false);
    chosen.mark(masked);
    std::vector<int> keep;
    AxisMap seen;
    for (std::size_t loop = 0; loop < masked.size(); ++loop) {
      if (!masked[loop] || !is_named(loop)) continue;
      keep.push_back(static_cast<int>(loop));
      seen.push_back(back_[loop]);
    }
    return Mask{Operand{fold(chosen, keep), std::move(seen)}};
  }

  // Of masks: whether any counts.
  NodeId fold(const Local& value, const std::vector<int>& keep) {
    const Order before = std::exchange(frame_.order, order_);
    const DType dtype = value.dtype();
    const AccumulatorId acc = is_boolean(dtype) ? AccumulatorId::any : AccumulatorId::sum;
    const auto* waiting = value.waiting();
    const NodeId id = waiting ? frame_.fold(acc, waiting->op, dtype, waiting->operands, keep) : frame_.fold(acc, Op::copy, dtype, {value.node()}, keep);
    frame_.order = before;
    return id;
  }

  // The values to scatter, and for each scattered or mentioned axis of the operand where they go.
  NodeId window_of(const Local& value, const std::vector<int>& keep, AxisMap& places) {
    std::vector<AxisRef> loop_of_axis(frame_.domain.size());       // loop = start + step * window axis
    const Operand* view = value.view();
    const bool is_direct = view && !folds() && is_renaming(*view, keep);
    for (std::size_t k = 0; k < keep.size(); ++k)
      loop_of_axis[static_cast<std::size_t>(keep[k])] = AxisRef{static_cast<int>(k), 0, 1};
    if (is_direct)
      for (std::size_t k = 0; k < view->map.size(); ++k) {
        const AxisRef& ref = view->map[k];                          // axis k = start + step * loop, step 1 or -1
        loop_of_axis[static_cast<std::size_t>(ref.axis)] = AxisRef{static_cast<int>(k), Extent(-ref.step) * ref.start, ref.step};
      }
    for (std::size_t k = 0; k < map_.size(); ++k)
      if (is_result_axis(k)) {
        places.push_back(map_[k].axis < 0 ? map_[k] : compose({map_[k]}, loop_of_axis)[0]);
        places.back().part = false;                                 // said of operands only
      }
    return is_direct ? view->node : fold(value, keep);
  }

  // Whether the view is a whole node with its axes renamed or reversed.
  bool is_renaming(const Operand& view, const std::vector<int>& keep) const {
    if (view.map.size() != keep.size()) return false;
    const Shape shape = frame_.graph.node(view.node).shape();
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const AxisRef& ref = view.map[k];
      if (ref.axis < 0) return false;
      const Extent& loop = frame_.domain[static_cast<std::size_t>(ref.axis)];
      if (!is_forward(ref, shape[k], loop) && !is_backward(ref, shape[k], loop)) return false;
    }
    return true;
  }

  bool is_result_axis(std::size_t k) const {
    return scattered_[k] || (map_[k].axis >= 0 && mentioned_[static_cast<std::size_t>(map_[k].axis)]);
  }

  Operand scattered(const Local& value, const std::vector<int>& keep) {
    AxisMap places;
    const NodeId window = window_of(value, keep, places);
    Node node;
    AxisMap seen;
    for (std::size_t k = 0; k < map_.size(); ++k)
      if (is_result_axis(k)) {
        node.domain.push_back(shape_[k]);
        seen.push_back(AxisRef{static_cast<int>(k), 0, 1});
      }
    node.kind = Kind::update;
    node.dtype = frame_.graph.node(window).dtype;
    node.kept = static_cast<int>(node.domain.size());
    node.order = order_;
    node.payload = std::move(places);
    return Operand{frame_.graph.add(std::move(node), {Operand{window, identity_map(frame_.graph.node(window).kept)}}), std::move(seen)};
  }

  Local value_;
  Frame& frame_;
  const AxisMap& map_;
  const Shape& shape_;
  Order order_;
  bool keeps_mask_;
  AxisMap back_;                                             // per loop: the operand axis that follows it; axis < 0: none
  std::vector<bool> mentioned_;                              // per loop
  std::vector<bool> scattered_;                              // per operand axis
};

}  // namespace

Local Adjoint::in(Frame& frame) const {
  Local local = std::holds_alternative<double>(value) ? Local(frame, std::get<double>(value)) : Local(frame, std::get<Operand>(value));
  local.set_mask(mask);
  return local;
}

Adjoint Adjoint::of(const Local& local) {
  if (local.is_number()) return Adjoint{local.number(), local.mask()};
  return Adjoint{local.node(), local.mask()};
}

Adjoint pull_back(const Local& value, const AxisMap& map, const Shape& shape, Order order, bool keeps_mask) {
  if (value.is_number(0)) return {};
  return Reading(value, map, shape, order, keeps_mask).adjoint();
}

Adjoint fit_back(const Expr& g, const Node& fit, const Node& operand) {
  const bool was_forward = fit.mode == Mode::broadcast;
  Node node;
  node.kind = Kind::fit;
  node.dtype = fit.dtype;
  node.domain = operand.shape();
  node.kept = operand.kept;
  node.order = operand.order;
  node.mode = was_forward ? Mode::accumulate : Mode::broadcast;
  node.accumulator = was_forward ? AccumulatorId::sum : AccumulatorId::none;
  node.payload = fit.payload;
  const AxisMap whole = identity_map(node.kept);
  return Adjoint{Operand{g.graph().add(std::move(node), {Operand{g.id(), whole}}), whole}, {}};
}

Adjoint read_back(const Adjoint& adjoint, const AxisMap& places) {
  Adjoint result = adjoint;
  const AxisMap read = as_parts(places);
  if (auto* operand = std::get_if<Operand>(&result.value)) operand->map = compose(operand->map, read);
  if (result.mask) result.mask->value.map = compose(result.mask->value.map, read);
  return result;
}

// Window element w landed at start + step * w, with step its own inverse: places within again.
Adjoint read_back_within(const Expr& g, const AxisMap& places, const Shape& window) {
  AxisMap back(window.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    const AxisRef& place = places[k];
    back[static_cast<std::size_t>(place.axis)] = {static_cast<int>(k), Extent(-place.step) * place.start, place.step, true};
  }
  return Adjoint{Operand{scatter(g, window, std::move(back)).id(), identity_map(static_cast<int>(window.size()))}, {}};
}

Adjoint reshape_back(const Expr& elements, const Shape& shape) {
  return Adjoint{Operand{reshape(elements, shape).id(), identity_map(static_cast<int>(shape.size()))}, {}};
}

}  // namespace weft
