// Shapes that are known only in part, as the shape inference of XLA and OpenVINO states them.
//
//   size_range("16")      exactly 16          size_range("?")  or "-1"   any size
//   size_range("<=8")     at most 8           size_range("4..8")         4 to 8
//
// They answer "what shape comes out?" before sizes are known (xla::infer_binary_shape, infer_broadcast). Graphs are built with
// Extents instead, whose symbols are equal or not.
//
// Errors: Error(text) for text that is none of these. Pure values; thread-safe. Cost: O(rank).
// Source: XLA shape inference (unbounded and bounded dynamic dimensions), OpenVINO PartialShape.
#pragma once
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/shape.h>

namespace weft {

struct SizeRange {
  Index low = 0;
  std::optional<Index> high;                                 // nothing: no bound
  SizeRange() = default;                                     // any size
  SizeRange(Index size) : low(size), high(size) {}
  SizeRange(Index least, std::optional<Index> most) : low(least), high(most) {}

  bool is(Index size) const { return low == size && high == size; }
  bool is_known() const { return high == low; }
  bool contains(Index size) const { return low <= size && (!high || size <= *high); }
  bool overlaps(const SizeRange& other) const { return (!high || other.low <= *high) && (!other.high || low <= *other.high); }
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};
using PartialShape = std::vector<SizeRange>;                 // std::optional of it: even the rank is unknown

SizeRange size_range(std::string_view text);                 // throws Error(text)
std::string to_text(const SizeRange& size);                  // "16", "?", "<=8", "4..8", "4.."
std::string to_text(const PartialShape& shape);              // "[16, ?]"
std::ostream& operator<<(std::ostream& out, const SizeRange& size);

// The sizes that a in range `a` and b in range `b` can have in common, extent 1 repeating; nothing if no pair agrees.
std::optional<SizeRange> common_size(const SizeRange& a, const SizeRange& b);

}  // namespace weft
