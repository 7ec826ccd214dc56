// copy_elements and fill: loops over any pair of strides.
#include <cstdlib>
#include <cstring>

#include <weft/array.h>

namespace weft {

namespace {

struct Axis {
  Index extent;
  Index from;  // strides in bytes
  Index to;
};

// The axes in the order of the target's memory, fastest last, neighbours merged where both sides allow it.
std::vector<Axis> plan(const View& from, const View& to) {
  const auto bytes = item_bytes(to.dtype());
  std::vector<Axis> axes;
  for (int axis = 0; axis < to.rank(); ++axis)
    if (to.shape()[axis] > 1)
      axes.push_back({to.shape()[axis], from.strides()[axis] * bytes, to.strides()[axis] * bytes});
  std::sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    if (!merged.empty() && merged.back().from == axis.from * axis.extent && merged.back().to == axis.to * axis.extent)
      merged.back() = {merged.back().extent * axis.extent, axis.from, axis.to};
    else
      merged.push_back(axis);
  }
  return merged;
}

// memcpy of a constant size is one move, asks for no alignment and keeps the bits of a signalling NaN.
template <Index bytes> void copy_line(const std::byte* from, std::byte* to, const Axis& axis) {
  if (axis.from == bytes && axis.to == bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(axis.extent * bytes));
    return;
  }
  for (Index i = 0; i < axis.extent; ++i) std::memcpy(to + i * axis.to, from + i * axis.from, bytes);
}

// Where the source is faster along the outer axis, go in square tiles: each cache line of either side is used whole.
template <Index bytes> void copy_plane(const std::byte* from, std::byte* to, const Axis& outer, const Axis& inner) {
  const bool is_transposed = std::abs(outer.from) < std::abs(inner.from);
  const Index tile = is_transposed ? 32 : inner.extent;
  const Index rows = is_transposed ? 32 : outer.extent;
  for (Index i = 0; i < outer.extent; i += rows)
    for (Index j = 0; j < inner.extent; j += tile) {
      const Axis line{std::min(tile, inner.extent - j), inner.from, inner.to};
      for (Index row = i; row < std::min(i + rows, outer.extent); ++row)
        copy_line<bytes>(from + row * outer.from + j * inner.from, to + row * outer.to + j * inner.to, line);
    }
}

template <Index bytes> void copy_axes(const std::byte* from, std::byte* to, const Axis* axes, std::size_t count) {
  if (count == 0) std::memcpy(to, from, bytes);
  else if (count == 1) copy_line<bytes>(from, to, axes[0]);
  else if (count == 2) copy_plane<bytes>(from, to, axes[0], axes[1]);
  else
    for (Index i = 0; i < axes[0].extent; ++i)
      copy_axes<bytes>(from + i * axes[0].from, to + i * axes[0].to, axes + 1, count - 1);
}

void copy_disjoint(const View& from, const View& to) {
  const std::vector<Axis> axes = plan(from, to);
  const auto* source = static_cast<const std::byte*>(from.data());
  auto* target = static_cast<std::byte*>(to.data());
  switch (size_of(to.dtype())) {
    case 1: return copy_axes<1>(source, target, axes.data(), axes.size());
    case 2: return copy_axes<2>(source, target, axes.data(), axes.size());
    case 4: return copy_axes<4>(source, target, axes.data(), axes.size());
    default: return copy_axes<8>(source, target, axes.data(), axes.size());
  }
}

}  // namespace

void copy_elements(const View& from, const View& to) {
  WEFT_REQUIRE(from.dtype() == to.dtype(), dtype, "copy_elements: from ", from.dtype(), " to ", to.dtype(),
               "\n  both must have the same dtype");
  WEFT_REQUIRE(from.shape() == to.shape(), shape, "copy_elements: from shape ", to_text(from.shape()), " to shape ",
               to_text(to.shape()), "\n  broadcast_to or slice one of them first");
  WEFT_REQUIRE(to.is_writable(), usage, "copy_elements: the target of shape ", to_text(to.shape()), " is read-only");
  if (to.size() == 0) return;
  WEFT_REQUIRE(!to.is_self_overlapping(), usage, "copy_elements: elements of the target overlap: shape ",
               to_text(to.shape()), " with strides ", to_text(to.strides()));
  if (from.overlaps(to)) copy_disjoint(from.copy(), to);
  else copy_disjoint(from, to);
}

void View::fill(const Scalar& value) const {
  check_access(dtype_, true);
  if (size_ == 0) return;
  std::uint64_t bits = 0;
  value.cast(dtype_).store(&bits);
  const Dims zeros(shape_.size(), 0);
  copy_disjoint(View(static_cast<const void*>(&bits), dtype_, shape_, zeros), *this);
}

}  // namespace weft
