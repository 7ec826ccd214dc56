// "InDim" first: the operand of lower rank gets the rank of the other one. Extents of 1 second. Both are one index map.
#include <weft/xla.h>

#include <weft/expr.h>

#include "expr/axes.h"
#include "align.h"

namespace weft::xla {
namespace {

using Names = std::vector<std::string>;

// The axes that operand `lower` (of two, whose shapes have ranks[0] and ranks[1]) follows.
std::vector<Index> matched_axes(std::string_view what, std::size_t lower, const std::size_t (&ranks)[2], const Names& names,
                                const std::vector<Index>& dimensions) {
  const std::size_t rank = ranks[lower], target = ranks[1 - lower];
  if (dimensions.empty() && (rank == 0 || rank == target)) return consecutive(rank);
  WEFT_REQUIRE(!dimensions.empty(), shape, what, ": ", names[0], " has rank ", ranks[0], " and ", names[1], " has rank ", ranks[1],
               ", and XLA aligns no axes by itself\n  give broadcast_dimensions: for each axis of ", names[lower], " the axis of ", names[1 - lower],
               " that it follows");
  check_axis_list(what, "broadcast_dimensions", dimensions, names[lower], rank, target);   // equal ranks: only 0, 1, 2, .. passes
  return dimensions;
}

std::size_t lower_of(const Shape& a, const Shape& b) { return a.size() < b.size() ? 0 : 1; }

Alignment align(std::string_view what, const Shape& a, const Shape& b, const Names& names, const std::vector<Index>& dimensions) {
  const Shape* shapes[] = {&a, &b};
  const std::size_t lower = lower_of(a, b), ranks[] = {a.size(), b.size()};
  const Shape &low = *shapes[lower], &high = *shapes[1 - lower];
  const std::vector<Index> axes = matched_axes(what, lower, ranks, names, dimensions);
  Alignment result{high, {}};
  for (std::size_t k = 0; k < low.size(); ++k) {
    Extent& common = result.domain[static_cast<std::size_t>(axes[k])];
    WEFT_REQUIRE(low[k] == common || low[k].is(1) || common.is(1), shape, what, ": axis ", k, " of ", names[lower], " has extent ", low[k], " but axis ",
                 axes[k], " of ", names[1 - lower], " has ", common, "\n  ",
                 mismatch_remedy(common, low[k], "extents must be equal, or one of them 1"));
    if (common.is(1)) common = low[k];
  }
  result.maps.resize(2);
  result.maps[lower] = follow_axes(low, result.domain, axes);
  result.maps[1 - lower] = follow_axes(high, result.domain, consecutive(high.size()));
  return result;
}

std::string call_name(Op op) { return concat("xla::apply(", info(op).name, ")"); }

void check_same_dtype(std::string_view what, const Expr& a, const Expr& b) {
  WEFT_REQUIRE(a.dtype() == b.dtype(), dtype, what, ": ", a.name(), " is ", a.dtype(), " but ", b.name(), " is ", b.dtype(),
               "\n  XLA promotes nothing: cast one of them");
}

// The map of an operand that has the shape of the result or is a scalar.
AxisMap same_or_scalar(std::string_view what, const Expr& operand, const Expr& like) {
  WEFT_REQUIRE(operand.rank() == 0 || operand.shape() == like.shape(), shape, what, ": ", operand.name(), " has shape ", to_text(operand.shape()), " but ",
               like.name(), " has ", to_text(like.shape()), "\n  it must be a scalar or have the same shape: broadcast_in_dim repeats it");
  return identity_map(operand.rank());
}

void check_not_negative(std::string_view what, const Shape& shape) {
  for (const Extent& extent : shape)
    WEFT_REQUIRE(!extent.is_number() || extent.constant() >= 0, shape, what, ": extent ", extent, " in ", to_text(shape), " is negative");
}

// XLA's table for one dimension: an unbounded size gives way to anything but 1.
std::optional<SizeRange> inferred_size(const SizeRange& a, const SizeRange& b) {
  const SizeRange any;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  if (a == any) return b;
  if (b == any) return a;
  return common_size(a, b);
}

}  // namespace

Expr apply(Op op, const Expr& a, const Expr& b, const std::vector<Index>& broadcast_dimensions) {
  const std::string what = call_name(op);
  WEFT_REQUIRE(info(op).arity == 2, usage, what, ": expected an op of two operands, ", info(op).name, " has ", info(op).arity);
  check_one_graph(what, {a, b});
  check_same_dtype(what, a, b);
  const DType dtypes[] = {a.dtype(), b.dtype()};
  const auto dtype = result_dtype(op, dtypes, a.dtype());
  WEFT_REQUIRE(dtype, dtype, what, ": no such operation on ", a.dtype(), "\n  cast both operands");
  Alignment alignment = align(what, a.shape(), b.shape(), {a.name(), b.name()}, broadcast_dimensions);
  std::vector<Operand> operands{{a.id(), std::move(alignment.maps[0])}, {b.id(), std::move(alignment.maps[1])}};
  return Expr(a.graph(), a.graph().apply(op, *dtype, std::move(alignment.domain), std::move(operands)));
}

Expr broadcast_in_dim(const Expr& x, const Shape& shape, const std::vector<Index>& broadcast_dimensions) {
  const std::string_view what = "xla::broadcast_in_dim";
  WEFT_REQUIRE(!x.is_empty(), usage, what, ": the operand is an empty Expr");
  check_not_negative(what, shape);
  const Shape own = x.shape();
  check_axis_list(what, "broadcast_dimensions", broadcast_dimensions, x.name(), own.size(), shape.size());
  for (std::size_t k = 0; k < own.size(); ++k) {
    const Extent& target = shape[static_cast<std::size_t>(broadcast_dimensions[k])];
    WEFT_REQUIRE(own[k].is(1) || own[k] == target, shape, what, ": axis ", k, " of ", x.name(), " has extent ", own[k], " but axis ", broadcast_dimensions[k],
                 " of the target ", to_text(shape), " has ", target, "\n  ", mismatch_remedy(target, own[k], "only an axis of extent 1 is repeated"));
  }
  return copy_through(x, shape, follow_axes(own, shape, broadcast_dimensions));
}

Expr broadcast(const Expr& x, const Shape& sizes) {
  WEFT_REQUIRE(!x.is_empty(), usage, "xla::broadcast: the operand is an empty Expr");
  check_not_negative("xla::broadcast", sizes);
  Shape shape = sizes;
  for (const Extent& extent : x.shape()) shape.push_back(extent);
  return copy_through(x, shape, follow_axes(x.shape(), shape, consecutive(static_cast<std::size_t>(x.rank()), sizes.size())));
}

Expr select(const Expr& pred, const Expr& a, const Expr& b) {
  const std::string_view what = "xla::select";
  check_one_graph(what, {pred, a, b});
  WEFT_REQUIRE(is_boolean(pred.dtype()), dtype, what, ": the predicate ", pred.name(), " is ", pred.dtype(), ", expected bool\n  compare it, as in ",
               pred.name(), " != 0");
  check_same_dtype(what, a, b);
  WEFT_REQUIRE(a.shape() == b.shape(), shape, what, ": ", a.name(), " has shape ", to_text(a.shape()), " but ", b.name(), " has ", to_text(b.shape()),
               "\n  XLA repeats neither: broadcast_in_dim does");
  std::vector<Operand> operands{{pred.id(), same_or_scalar(what, pred, a)}, {a.id(), identity_map(a.rank())}, {b.id(), identity_map(b.rank())}};
  return Expr(a.graph(), a.graph().apply(Op::where, a.dtype(), a.shape(), std::move(operands)));
}

Expr clamp(const Expr& low, const Expr& x, const Expr& high) {
  const std::string_view what = "xla::clamp";
  check_one_graph(what, {low, x, high});
  check_same_dtype(what, low, x);
  check_same_dtype(what, x, high);
  WEFT_REQUIRE(!is_boolean(x.dtype()), dtype, what, ": ", x.name(), " is bool, expected numbers");
  std::vector<Operand> operands{{x.id(), identity_map(x.rank())}, {low.id(), same_or_scalar(what, low, x)}, {high.id(), same_or_scalar(what, high, x)}};
  return Expr(x.graph(), x.graph().apply(Op::clip, x.dtype(), x.shape(), std::move(operands)));
}

Shape binary_shape(const Shape& a, const Shape& b, const std::vector<Index>& broadcast_dimensions) {
  return align("xla::binary_shape", a, b, {to_text(a), to_text(b)}, broadcast_dimensions).domain;
}

PartialShape infer_binary_shape(const PartialShape& a, const PartialShape& b, const std::vector<Index>& broadcast_dimensions) {
  const std::string_view what = "xla::infer_binary_shape";
  const std::size_t lower = a.size() < b.size() ? 0 : 1, ranks[] = {a.size(), b.size()};
  const PartialShape &low = lower == 0 ? a : b, &high = lower == 0 ? b : a;
  const Names names{to_text(a), to_text(b)};
  const std::vector<Index> axes = matched_axes(what, lower, ranks, names, broadcast_dimensions);
  PartialShape result = high;
  for (std::size_t k = 0; k < low.size(); ++k) {
    SizeRange& size = result[static_cast<std::size_t>(axes[k])];
    const bool matches = ranks[0] == ranks[1] || low[k] == size || low[k].is(1) || size.is(1);
    const auto common = matches ? inferred_size(low[k], size) : std::nullopt;
    WEFT_REQUIRE(common, shape, what, ": axis ", k, " of ", names[lower], " has size ", low[k], " but axis ", axes[k], " of ", names[1 - lower], " has ", size,
                 "\n  sizes must be equal, or one of them 1");
    size = *common;
  }
  return result;
}

Shape in_dim_shape(const Shape& a, const Shape& b, const std::vector<Index>& broadcast_dimensions) {
  align("xla::in_dim_shape", a, b, {to_text(a), to_text(b)}, broadcast_dimensions);
  const std::size_t lower = lower_of(a, b), ranks[] = {a.size(), b.size()};
  const Shape &low = lower == 0 ? a : b, &high = lower == 0 ? b : a;
  if (low.empty()) return low;
  const auto axes = matched_axes("xla::in_dim_shape", lower, ranks, {to_text(a), to_text(b)}, broadcast_dimensions);
  Shape result = high;
  for (std::size_t k = 0; k < low.size(); ++k) result[static_cast<std::size_t>(axes[k])] = low[k];
  return result;
}

}  // namespace weft::xla
