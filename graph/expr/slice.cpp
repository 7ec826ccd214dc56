#include <algorithm>

#include <weft/expr.h>

#include "axes.h"

namespace weft {
namespace {

constexpr Index longest_step = Index{1} << 40;   // that no array has, and with which extents can be reckoned

// Where a slice walks on one axis: extent indices from start by step.
struct Walk {
  Extent start, extent;
};

std::string show(const Slice& s) {
  std::string text = (s.start ? std::to_string(*s.start) : "") + (s.is_index ? "" : ":");
  if (s.is_index) return text;
  if (s.stop) text += std::to_string(*s.stop);
  if (s.step != 1) text += ":" + std::to_string(s.step);
  return text;
}

Index ceil_div(Index a, Index b) { return a <= 0 ? 0 : (a - 1) / b + 1; }

// NumPy: slice.indices(size).
Walk static_walk(const Slice& s, Index size) {
  const Index low = s.step > 0 ? 0 : -1, high = s.step > 0 ? size : size - 1;
  auto clamp = [&](std::optional<Index> value, Index otherwise) {
    if (!value) return otherwise;
    return std::clamp(*value < 0 ? *value + size : *value, low, high);
  };
  const Index start = clamp(s.start, s.step > 0 ? low : high), stop = clamp(s.stop, s.step > 0 ? high : low);
  const Index extent = s.step > 0 ? ceil_div(stop - start, s.step) : ceil_div(start - stop, -s.step);
  return {extent == 0 ? Extent(0) : Extent(start), Extent(extent)};
}

// No clamping: the far end of the walk must be known to lie inside whatever the symbol is bound to.
Walk symbolic_walk(std::string_view what, const Slice& s, const Extent& size, int axis, const Expr& x) {
  auto place = [&](std::optional<Index> value, const Extent& otherwise) {
    return !value ? otherwise : *value < 0 ? size + *value : Extent(*value);
  };
  const std::optional<Index> far_end = s.step > 0 ? s.stop : s.start;
  WEFT_REQUIRE(!far_end || *far_end < 0, unsupported, what, ": ", s.step > 0 ? "stop " : "start ", *far_end, " on axis ", axis, " of ", x.name(),
               ", whose extent ", size, " is symbolic\n  count from the end with a negative number, or declare the axis with a number");
  const bool forward = s.step > 0;
  const Extent start = place(s.start, forward ? Extent(0) : size - 1), stop = place(s.stop, forward ? size : Extent(-1));
  const Index stride = forward ? s.step : -s.step;
  const Extent length = forward ? stop - start : start - stop;
  Extent extent = floor_div(length + (stride - 1), stride);
  if (extent.is_number()) extent = Extent(std::max<Index>(extent.constant(), 0));
  return {start, extent};
}

Extent index_of(std::string_view what, const Slice& s, const Extent& size, int axis, const Expr& x) {
  if (size.is_number())
    WEFT_REQUIRE(*s.start >= -size.constant() && *s.start < size.constant(), shape, what, ": index ", *s.start, " is outside axis ", axis, " of ",
                 x.name(), ", which has extent ", size);
  return *s.start < 0 ? size + *s.start : Extent(*s.start);
}

// Cuts that begin at 0 and go by 1 read a part of the axis; one of a single element is a fixed index.
void mark_cuts(const Shape& own, const Shape& domain, AxisMap& map) {
  for (std::size_t k = 0; k < own.size(); ++k) {
    if (!map[k].is_direct()) continue;
    const Extent& extent = domain[static_cast<std::size_t>(map[k].axis)];
    if (extent == own[k]) continue;
    if (extent.is(1)) map[k].axis = -1;
    else map[k].part = true;
  }
}

}  // namespace

Window window_of(std::string_view what, const Expr& x, const std::vector<Slice>& slices) {
  WEFT_REQUIRE(!x.is_empty(), usage, what, ": the operand is an empty Expr");
  const Shape own = x.shape();
  WEFT_REQUIRE(slices.size() <= own.size(), shape, what, ": ", x.name(), " of shape ", to_text(own), " has ", own.size(), " axes but ", slices.size(),
               " slices are given");
  Window window;
  window.map.resize(own.size());
  for (std::size_t k = 0; k < own.size(); ++k) {
    const int axis = static_cast<int>(k);
    const Slice slice = k < slices.size() ? slices[k] : Slice::all;
    if (slice.is_index) {
      window.map[k].start = index_of(what, slice, own[k], axis, x);
      continue;
    }
    WEFT_REQUIRE(slice.step != 0, usage, what, ": the step of ", show(slice), " on axis ", axis, " of ", x.name(), " is 0");
    WEFT_REQUIRE(slice.step <= longest_step && slice.step >= -longest_step, usage, what, ": the step of ", show(slice), " on axis ", axis, " of ", x.name(), " is more than ", longest_step);
    const Walk walk = own[k].is_number() ? static_walk(slice, own[k].constant()) : symbolic_walk(what, slice, own[k], axis, x);
    window.map[k] = AxisRef{static_cast<int>(window.shape.size()), walk.start, walk.extent.is(1) || walk.extent.is(0) ? 1 : slice.step};
    window.shape.push_back(walk.extent);
  }
  return window;
}

Expr Expr::slice(const std::vector<Slice>& slices) const {
  Window window = window_of("slice", *this, slices);
  mark_cuts(shape(), window.shape, window.map);
  return copy_through(*this, window.shape, std::move(window.map));
}

}  // namespace weft
