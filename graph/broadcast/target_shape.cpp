// Each mode says which axes of the target those of the data follow, and which extents the result has.
#include <weft/target_shape.h>

#include <algorithm>
#include <ostream>

#include <weft/broadcast.h>
#include <weft/expr.h>
#include <weft/interpret.h>
#include <weft/text.h>

#include "expr/axes.h"
#include "align.h"

namespace weft {
namespace {

constexpr std::string_view what = "broadcast";

void check_mode_and_axes(BroadcastMode mode, bool has_axes) {
  WEFT_REQUIRE(mode != BroadcastMode::explicit_axes || has_axes, usage, what, ": mode explicit needs axes_mapping\n  give one axis of the target for ",
               "each axis of the data");
  WEFT_REQUIRE(mode == BroadcastMode::explicit_axes || !has_axes, usage, what, ": mode ", mode, " takes no axes_mapping\n  ",
               "leave it out, or use mode explicit");
}

void check_not_negative(std::string_view caller, const Shape& target) {
  for (const Extent& extent : target)
    WEFT_REQUIRE(!extent.is_number() || extent.constant() >= 0, shape, caller, ": extent ", extent, " in the target ", to_text(target), " is negative");
}

// Data of shape `own` along `axes` of the target: the result has the target's shape.
AxisMap one_way(std::string_view caller, const std::string& name, const Shape& own, const Shape& target, const std::vector<Index>& axes) {
  for (std::size_t k = 0; k < own.size(); ++k) {
    const Extent& extent = target[static_cast<std::size_t>(axes[k])];
    WEFT_REQUIRE(own[k].is(1) || own[k] == extent, shape, caller, ": axis ", k, " of ", name, " has extent ", own[k], " but axis ", axes[k],
                 " of the target ", to_text(target), " has ", extent, "\n  ", mismatch_remedy(extent, own[k], "only an axis of extent 1 is repeated"));
  }
  return follow_axes(own, target, axes);
}

Expr build(const Expr& data, const Shape& target, BroadcastMode mode, const std::vector<Index>* axes_mapping) {
  WEFT_REQUIRE(!data.is_empty(), usage, what, ": the data is an empty Expr");
  check_mode_and_axes(mode, axes_mapping != nullptr);
  check_not_negative(what, target);
  const Shape own = data.shape();
  switch (mode) {
    case BroadcastMode::explicit_axes:
      check_axis_list(what, "axes_mapping", *axes_mapping, data.name(), own.size(), target.size());
      return copy_through(data, target, one_way(what, data.name(), own, target, *axes_mapping));
    case BroadcastMode::bidirectional: {
      Alignment alignment = align_array_api(what, {own, target}, [&](std::size_t k) { return k == 0 ? data.name() : std::string(); });
      return copy_through(data, std::move(alignment.domain), std::move(alignment.maps[0]));
    }
    case BroadcastMode::numpy: return copy_through(data, target, align_onto(what, data, target));
  }
  return {};
}

// The values of an integer vector that depends on no input.
std::vector<Index> known_integers(std::string_view list, const Expr& values) {
  const Graph& graph = values.graph();
  for (NodeId id : live_nodes(graph, {values.id()}))
    WEFT_REQUIRE(graph.node(id).kind != Kind::input, unsupported, what, ": ", list, " ", values.name(), " depends on the input ", name_of(graph, id),
                 "\n  it must be known when the graph is built, or a target be an input itself");
  const Array array = interpret({values}, {}, {}).at(0);
  std::vector<Index> result;
  const auto* bytes = static_cast<const std::byte*>(array.data());
  for (Index k = 0; k < array.size(); ++k)
    result.push_back(Scalar::load(array.dtype(), bytes + static_cast<std::size_t>(k) * size_of(array.dtype())).cast(i64).integer());
  return result;
}

// Requirements 110 and 128.
void check_integer_vector(std::string_view list, const Expr& values) {
  WEFT_REQUIRE(is_integer(values.dtype()), dtype, what, ": ", list, " ", values.name(), " is ", values.dtype(), ", expected an integer dtype");
  WEFT_REQUIRE(values.rank() == 1, shape, what, ": ", list, " ", values.name(), " has rank ", values.rank(), ", expected rank 1");
  WEFT_REQUIRE(values.shape()[0].is_number(), shape, what, ": ", list, " ", values.name(), " has length ", values.shape()[0],
               ", which is not a number\n  the rank of the result must be known when the graph is built");
}

// The extents of an input's elements: s[0], s[1], ..
Shape elements_of(const Expr& input) {
  Shape target;
  for (Index k = 0; k < input.shape()[0].constant(); ++k) target.emplace_back(concat(input.graph().node(input.id()).name(), "[", k, "]"));
  return target;
}

// The extent of the result where data of extent d meets an extent t that is an element of an argument.
Extent met(const Extent& d, const Extent& t, bool both_ways) {
  if (d.is(1)) return t;
  return d.is_number() ? d : both_ways ? common_extent(d, t) : t;
}

// As build, onto a target that calls decide: a fit node along the data's own axes, then the axes it does not have.
Expr build_at_call(const Expr& data, const Shape& target, BroadcastMode mode, const std::vector<Index>* axes_mapping) {
  WEFT_REQUIRE(!data.is_empty(), usage, what, ": the data is an empty Expr");
  check_mode_and_axes(mode, axes_mapping != nullptr);
  const Shape own = data.shape();
  const bool both_ways = mode == BroadcastMode::bidirectional;
  WEFT_REQUIRE(both_ways || own.size() <= target.size(), shape, what, ": ", data.name(), " has rank ", own.size(), " but the target ", to_text(target),
               " has rank ", target.size(), "\n  squeeze or reduce the surplus axes first");
  if (axes_mapping) check_axis_list(what, "axes_mapping", *axes_mapping, data.name(), own.size(), target.size());
  const std::size_t rank = std::max(own.size(), target.size()), offset = rank - target.size();
  const std::vector<Index> axes = axes_mapping ? *axes_mapping : consecutive(own.size(), rank - own.size());
  Shape result(offset, Extent(1));
  result.insert(result.end(), target.begin(), target.end());
  Node fit;
  fit.kind = Kind::fit;
  fit.dtype = data.dtype();
  fit.domain = own;
  fit.kept = data.rank();
  Fit meeting{own, both_ways};
  for (std::size_t k = 0; k < own.size(); ++k) {
    const auto axis = static_cast<std::size_t>(axes[k]);
    if (axis >= offset && !own[k].is(1) && !(own[k] == result[axis])) {
      meeting.target[k] = result[axis];
      fit.domain[k] = met(own[k], result[axis], both_ways);
    }
    if (!own[k].is(1)) result[axis] = fit.domain[k];
  }
  Expr fitted = data;
  if (meeting.target != own) {
    fit.payload = std::move(meeting);
    fitted = Expr(data.graph(), data.graph().add(std::move(fit), {{data.id(), identity_map(data.rank())}}));
  }
  AxisMap map = follow_axes(fitted.shape(), result, axes);
  return copy_through(fitted, std::move(result), std::move(map));
}

Expr build(const Expr& data, const Expr& target, BroadcastMode mode, const std::vector<Index>* axes_mapping) {
  check_one_graph(what, {data, target});
  check_integer_vector("the target", target);
  if (target.graph().node(target.id()).kind == Kind::input) return build_at_call(data, elements_of(target), mode, axes_mapping);
  const std::vector<Index> sizes = known_integers("the target", target);
  return build(data, Shape(sizes.begin(), sizes.end()), mode, axes_mapping);
}

// Where axis k of b goes; b without its trailing extents of 1.
std::vector<Index> pdpd_axes(std::string_view caller, const Shape& a, Shape& b, Index axis) {
  const Shape whole = b;
  const Index first = axis == -1 ? static_cast<Index>(a.size()) - static_cast<Index>(b.size()) : axis;
  while (!b.empty() && b.back().is(1)) b.pop_back();
  WEFT_REQUIRE(first >= 0 && first + static_cast<Index>(b.size()) <= static_cast<Index>(a.size()), shape, caller, ": ", to_text(whole),
               " from axis ", axis, " on does not fit ", to_text(a), "\n  the second shape follows axes of the first one");
  return consecutive(b.size(), static_cast<std::size_t>(first));
}

AxisMap pdpd_map(std::string_view caller, const std::string& name, const Shape& own, const Shape& target, Index axis) {
  Shape trimmed = own;
  const std::vector<Index> axes = pdpd_axes(caller, target, trimmed, axis);
  AxisMap map = one_way(caller, name, trimmed, target, axes);
  map.resize(own.size());                                    // dropped axes have extent 1 and stay at 0
  return map;
}

}  // namespace

BroadcastMode broadcast_mode(std::string_view text) {
  for (const BroadcastMode mode : {BroadcastMode::numpy, BroadcastMode::explicit_axes, BroadcastMode::bidirectional})
    if (to_text(mode) == text) return mode;
  fail(ErrorKind::usage, concat("broadcast_mode: expected numpy, explicit or bidirectional, got \"", text, "\""));
}

std::string_view to_text(BroadcastMode mode) {
  return mode == BroadcastMode::numpy ? "numpy" : mode == BroadcastMode::explicit_axes ? "explicit" : "bidirectional";
}
std::ostream& operator<<(std::ostream& out, BroadcastMode mode) { return out << to_text(mode); }

Expr broadcast(const Expr& data, const Shape& target, BroadcastMode mode) { return build(data, target, mode, nullptr); }
Expr broadcast(const Expr& data, const Shape& target, BroadcastMode mode, const std::vector<Index>& axes_mapping) {
  return build(data, target, mode, &axes_mapping);
}

Expr broadcast(const Expr& data, const Expr& target, BroadcastMode mode) { return build(data, target, mode, nullptr); }
Expr broadcast(const Expr& data, const Expr& target, BroadcastMode mode, const std::vector<Index>& axes_mapping) {
  return build(data, target, mode, &axes_mapping);
}
Expr broadcast(const Expr& data, const Expr& target, BroadcastMode mode, const Expr& axes_mapping) {
  check_one_graph(what, {data, target, axes_mapping});
  check_integer_vector("axes_mapping", axes_mapping);
  return broadcast(data, target, mode, known_integers("axes_mapping", axes_mapping));
}

std::optional<PartialShape> infer_broadcast(const std::optional<PartialShape>& data, const std::optional<PartialShape>& target, BroadcastMode mode,
                                            const std::optional<std::vector<Index>>& axes_mapping) {
  const std::string_view caller = "infer_broadcast";
  if (!target || (!data && mode == BroadcastMode::bidirectional)) return std::nullopt;
  if (!data || (mode == BroadcastMode::explicit_axes && !axes_mapping)) return target;
  const std::size_t rank = data->size(), wide = std::max(rank, target->size());
  WEFT_REQUIRE(mode != BroadcastMode::numpy || rank <= target->size(), shape, caller, ": data of shape ", to_text(*data),
               " has a higher rank than the target ", to_text(*target));
  if (mode == BroadcastMode::explicit_axes) check_axis_list(caller, "axes_mapping", *axes_mapping, "the data", rank, target->size());
  const std::vector<Index> axes = axes_mapping ? *axes_mapping : consecutive(rank, wide - rank);
  PartialShape result(wide, SizeRange(1));
  std::copy_backward(target->begin(), target->end(), result.end());
  for (std::size_t k = 0; k < rank; ++k) {
    const SizeRange& size = (*data)[k];
    SizeRange& wanted = result[static_cast<std::size_t>(axes[k])];
    const auto common = common_size(size, wanted);
    const bool fits = mode == BroadcastMode::bidirectional ? common.has_value() : size.contains(1) || size.overlaps(wanted);
    WEFT_REQUIRE(fits, shape, caller, ": axis ", k, " of data of shape ", to_text(*data), " cannot become ", wanted, " of the target ", to_text(*target));
    if (mode == BroadcastMode::bidirectional) wanted = *common;
  }
  return result;
}

Shape broadcast_shapes_pdpd(const Shape& a, const Shape& b, Index axis) {
  pdpd_map("broadcast_shapes_pdpd", to_text(b), b, a, axis);
  return a;
}

Expr elementwise_pdpd(Op op, const Expr& a, const Expr& b, Index axis) {
  const std::string caller = concat("elementwise_pdpd(", info(op).name, ")");
  WEFT_REQUIRE(info(op).arity == 2, usage, caller, ": expected an op of two operands, ", info(op).name, " has ", info(op).arity);
  check_one_graph(caller, {a, b});
  AxisMap map = pdpd_map(caller, b.name(), b.shape(), a.shape(), axis);
  return elementwise(op, {a, copy_through(b, a.shape(), std::move(map))});
}

Expr broadcast_pdpd(const Expr& data, const Shape& target, Index axis) {
  WEFT_REQUIRE(!data.is_empty(), usage, "broadcast_pdpd: the data is an empty Expr");
  check_not_negative("broadcast_pdpd", target);
  return copy_through(data, target, pdpd_map("broadcast_pdpd", data.name(), data.shape(), target, axis));
}

}  // namespace weft
