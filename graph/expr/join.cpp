// concat, stack, pad, roll and their relatives: windows in zeros, selected by the index.
#include <algorithm>
#include <limits>

#include <weft/broadcast.h>
#include <weft/rearrange.h>

#include "axes.h"
#include "broadcast/align.h"
#include "windows.h"

namespace weft {
namespace {

// The common dtype of the parts. Error unless they are Exprs of one graph with one rank.
DType check_parts(std::string_view what, const std::vector<Expr>& parts) {
  WEFT_REQUIRE(!parts.empty(), usage, what, ": expected at least one operand");
  check_one_graph(what, parts);
  DType dtype = parts[0].dtype();
  for (const Expr& part : parts) {
    WEFT_REQUIRE(part.rank() == parts[0].rank(), shape, what, ": ", parts[0].name(), " has shape ", to_text(parts[0].shape()), " but ", part.name(),
                 " has shape ", to_text(part.shape()), "\n  give all operands one rank");
    const auto common = common_dtype(dtype, part.dtype());
    WEFT_REQUIRE(common, dtype, what, ": ", part.name(), " is ", part.dtype(), " beside ", dtype, ", which have no common dtype\n  cast one of them");
    dtype = *common;
  }
  return dtype;
}

void check_extents(std::string_view what, const std::vector<Expr>& parts, int joined) {
  const Shape first = parts[0].shape();
  for (const Expr& part : parts) {
    const Shape shape = part.shape();
    for (std::size_t k = 0; k < shape.size(); ++k)
      WEFT_REQUIRE(static_cast<int>(k) == joined || shape[k] == first[k], shape, what, ": axis ", k, " has extent ", first[k], " in ", parts[0].name(), " but ",
                   shape[k], " in ", part.name(), "\n  ", mismatch_remedy(first[k], shape[k], "slice or pad one of them"));
  }
}

// The parts one after the other along an axis; all are checked and of one dtype.
Expr join(std::vector<Expr> parts, int axis) {
  const auto at = static_cast<std::size_t>(axis);
  if (parts.size() > 1) {
    const Expr last = parts.back();
    std::erase_if(parts, [&](const Expr& part) { return part.shape()[at].is(0); });
    if (parts.empty()) parts.push_back(last);
  }
  if (parts.size() == 1) return parts[0];
  Graph& graph = parts[0].graph();
  Shape shape = parts[0].shape();
  std::vector<Extent> starts;
  Extent total = 0;
  for (const Expr& part : parts) {
    starts.push_back(total);
    total = total + part.shape()[at];
  }
  shape[at] = total;
  Expr joined;
  for (std::size_t k = parts.size(); k-- > 0;) {
    AxisMap places = identity_map(static_cast<int>(shape.size()));
    places[at].start = starts[k];
    const Expr part = scatter(parts[k], shape, std::move(places));
    joined = joined.is_empty() ? part : select_along(index_below(graph, total, starts[k + 1]), axis, part, joined, shape);
  }
  return joined;
}

std::vector<Expr> cast_all(std::vector<Expr> parts, DType dtype) {
  for (Expr& part : parts) part = cast(part, dtype);
  return parts;
}

}  // namespace

Expr concat(const std::vector<Expr>& parts, int axis) {
  const DType dtype = check_parts("concat", parts);
  axis = normalize_axis("concat", parts[0], axis);
  check_extents("concat", parts, axis);
  return join(cast_all(parts, dtype), axis);
}

Expr stack(const std::vector<Expr>& parts, int axis) {
  const DType dtype = check_parts("stack", parts);
  check_extents("stack", parts, -1);
  const int rank = parts[0].rank();
  WEFT_REQUIRE(axis >= -rank - 1 && axis <= rank, shape, "stack: axis ", axis, " is outside the result, which has rank ", rank + 1,
               "\n  the new axis may be at ", -rank - 1, " to ", rank);
  if (axis < 0) axis += rank + 1;
  std::vector<Expr> wide = cast_all(parts, dtype);
  if (wide.size() == 1) return expand_dims(wide[0], axis);
  Graph& graph = wide[0].graph();
  Shape shape = wide[0].shape();
  shape.insert(shape.begin() + axis, Extent(wide.size()));
  AxisMap map = identity_map(rank);
  for (AxisRef& ref : map) ref.axis += ref.axis >= axis ? 1 : 0;
  const AxisMap along{AxisRef{axis, 0, 1}};
  Operand stacked{wide.back().id(), map};                                      // every part repeats along the new axis
  for (std::size_t k = wide.size() - 1; k-- > 0;) {
    const Expr condition = index_below(graph, Extent(wide.size()), Extent(k + 1));
    stacked = Operand{graph.apply(Op::where, dtype, shape, {Operand{condition.id(), along}, Operand{wide[k].id(), map}, stacked}), identity_map(rank + 1)};
  }
  return Expr(graph, stacked.node);
}

std::vector<Expr> unstack(const Expr& x, int axis) {
  axis = normalize_axis("unstack", x, axis);
  const Extent count = x.shape()[static_cast<std::size_t>(axis)];
  WEFT_REQUIRE(count.is_number(), unsupported, "unstack: axis ", axis, " of ", x.name(), " has extent ", count, ", which is symbolic",
               "\n  declare the axis with a number");
  std::vector<Slice> slices(static_cast<std::size_t>(axis), Slice::all);
  slices.emplace_back(0);
  std::vector<Expr> result;
  for (Index k = 0; k < count.constant(); ++k) {
    slices.back() = Slice(k);
    result.push_back(x.slice(slices));
  }
  return result;
}

std::vector<Expr> broadcast_arrays(const std::vector<Expr>& xs) {
  check_one_graph("broadcast_arrays", xs);
  std::vector<Shape> shapes;
  for (const Expr& x : xs) shapes.push_back(x.shape());
  const Shape shape = align_array_api("broadcast_arrays", shapes, [&](std::size_t k) { return xs[k].name(); }).domain;
  std::vector<Expr> result;
  for (const Expr& x : xs) result.push_back(x.shape() == shape ? x : broadcast_to(x, shape));
  return result;
}

Expr moveaxis(const Expr& x, const std::vector<int>& from, const std::vector<int>& to) {
  normalize_axes("moveaxis", x, from);
  normalize_axes("moveaxis", x, to);
  WEFT_REQUIRE(from.size() == to.size(), usage, "moveaxis: ", from.size(), " axes of ", x.name(), " move to ", to.size(), " places");
  std::vector<int> axes(static_cast<std::size_t>(x.rank()), -1);
  std::vector<bool> moves(axes.size(), false);
  for (std::size_t k = 0; k < from.size(); ++k) {
    const int axis = normalize_axis("moveaxis", x, from[k]);
    axes[static_cast<std::size_t>(normalize_axis("moveaxis", x, to[k]))] = axis;
    moves[static_cast<std::size_t>(axis)] = true;
  }
  int next = 0;
  for (int& axis : axes) {
    if (axis >= 0) continue;
    while (moves[static_cast<std::size_t>(next)]) ++next;
    axis = next++;
  }
  return permute_dims(x, axes);
}

Expr pad(const Expr& x, const Padding& widths, const Value& value) {
  WEFT_REQUIRE(!x.is_empty(), usage, "pad: the operand is an empty Expr");
  WEFT_REQUIRE(static_cast<int>(widths.size()) == x.rank(), shape, "pad: ", x.name(), " has rank ", x.rank(), " but ", widths.size(),
               " pairs of widths are given\n  give one for each axis");
  check_fill("pad", value, x.dtype());
  if (!value.is_literal()) check_one_graph("pad", {x, value.expr()});
  const Shape own = x.shape();
  Shape shape = own;
  AxisMap places = identity_map(x.rank());
  bool is_padded = false;
  for (std::size_t k = 0; k < widths.size(); ++k) {
    const auto& [before, after] = widths[k];
    for (const Extent& width : {before, after})
      WEFT_REQUIRE(!width.is_number() || width.constant() >= 0, shape, "pad: axis ", k, " of ", x.name(), " is padded by ", width, "\n  slice it to make it shorter");
    shape[k] = before + own[k] + after;
    places[k].start = before;
    is_padded |= !before.is(0) || !after.is(0);
  }
  if (!is_padded) return x;
  Graph& graph = x.graph();
  Expr padded = scatter(x, shape, places);
  if (value.is_literal() && value.literal().cast(x.dtype()) == Scalar::of(bool_, false).cast(x.dtype())) return padded;   // not -0.0
  const Expr fill = fill_of(graph, value, x.dtype());
  for (std::size_t k = 0; k < widths.size(); ++k)
    if (!widths[k].first.is(0) || !widths[k].second.is(0))
      padded = select_along(index_reached(graph, shape[k], places[k], own[k]), static_cast<int>(k), padded, fill, shape);
  return padded;
}

Expr pad(const Expr& x, const Padding& widths) {
  WEFT_REQUIRE(!x.is_empty(), usage, "pad: the operand is an empty Expr");
  return pad(x, widths, is_boolean(x.dtype()) ? Value(false) : Value(0));
}

namespace {

Expr roll_axis(const Expr& x, Index shift, int axis) {
  const Extent extent = x.shape()[static_cast<std::size_t>(axis)];
  if (extent.is(0) || extent.is(1)) return x;
  if (extent.is_number()) shift = ((shift % extent.constant()) + extent.constant()) % extent.constant();
  WEFT_REQUIRE(shift != std::numeric_limits<Index>::min(), shape, "roll: ", x.name(), " is shifted by ", shift, ", which has no opposite");
  if (shift == 0) return x;
  // x[-s:] and x[:-s]; for a shift to the left, x[s:] and x[:s] with a stop that a slice of a symbolic extent does not take.
  std::vector<Slice> tail(static_cast<std::size_t>(axis), Slice::all), head = tail;
  tail.emplace_back(Slice{-shift, {}});
  head.emplace_back(Slice{{}, -shift});
  if (shift > 0) return join({x.slice(tail), x.slice(head)}, axis);
  Window front = window_of("roll", x, tail);
  front.shape[static_cast<std::size_t>(axis)] = Extent(-shift);
  front.map[static_cast<std::size_t>(axis)] = AxisRef{axis, 0, 1, true};
  return join({x.slice(tail), copy_through(x, front.shape, front.map)}, axis);
}

}  // namespace

Expr roll(const Expr& x, const std::vector<Index>& shifts, const std::vector<int>& axes) {
  normalize_axes("roll", x, axes);
  WEFT_REQUIRE(shifts.size() == axes.size() || shifts.size() == 1, usage, "roll: ", shifts.size(), " shifts are given for ", axes.size(), " axes of ", x.name(),
               "\n  give one for all, or one for each");
  Expr rolled = x;
  for (std::size_t k = 0; k < axes.size(); ++k)
    rolled = roll_axis(rolled, shifts.size() == 1 ? shifts[0] : shifts[k], normalize_axis("roll", x, axes[k]));
  return rolled;
}

Expr diff(const Expr& x, int n, int axis) {
  axis = normalize_axis("diff", x, axis);
  WEFT_REQUIRE(n >= 0, usage, "diff: expected an order of 0 or more, got ", n);
  const Extent extent = x.shape()[static_cast<std::size_t>(axis)];
  WEFT_REQUIRE(!extent.is_number() || extent.constant() >= 1 || n == 0, shape, "diff: axis ", axis, " of ", x.name(), " has extent 0, expected 1 or more");
  std::vector<Slice> later(static_cast<std::size_t>(axis), Slice::all), earlier = later;
  later.emplace_back(Slice{1, {}});
  earlier.emplace_back(Slice{{}, -1});
  Expr result = x;
  for (int k = 0; k < n && !result.shape()[static_cast<std::size_t>(axis)].is(0); ++k) {
    const Expr a = result.slice(later), b = result.slice(earlier);
    result = is_boolean(x.dtype()) ? not_equal(a, b) : subtract(a, b);
  }
  return result;
}

}  // namespace weft
