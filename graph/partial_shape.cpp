#include <weft/partial_shape.h>

#include <algorithm>
#include <charconv>
#include <ostream>

#include <weft/error.h>

namespace weft {
namespace {

std::optional<Index> number(std::string_view text) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// The smallest range around both.
SizeRange hull(const SizeRange& a, const SizeRange& b) {
  return {std::min(a.low, b.low), a.high && b.high ? std::optional(std::max(*a.high, *b.high)) : std::nullopt};
}

}  // namespace

SizeRange size_range(std::string_view text) {
  if (text == "?" || text == "-1") return {};
  if (const auto size = number(text)) return SizeRange(*size);
  if (text.starts_with("<="))
    if (const auto most = number(text.substr(2))) return {0, most};
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos) {
    const auto least = number(text.substr(0, dots)), most = number(text.substr(dots + 2));
    if (least && (most ? *least <= *most : dots + 2 == text.size())) return {*least, most};
  }
  fail(ErrorKind::text, concat("size_range: expected a size such as 16, ?, <=8 or 4..8, got \"", text, "\""));
}

std::string to_text(const SizeRange& size) {
  if (size.is_known()) return std::to_string(size.low);
  if (size.low == 0) return size.high ? "<=" + std::to_string(*size.high) : "?";
  return std::to_string(size.low) + ".." + (size.high ? std::to_string(*size.high) : "");
}

std::string to_text(const PartialShape& shape) {
  std::string text = "[";
  for (std::size_t k = 0; k < shape.size(); ++k) text += (k ? ", " : "") + to_text(shape[k]);
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const SizeRange& size) { return out << to_text(size); }

std::optional<SizeRange> common_size(const SizeRange& a, const SizeRange& b) {
  std::optional<SizeRange> result;
  const auto include = [&](const SizeRange& range) { result = result ? hull(*result, range) : range; };
  if (a.contains(1)) include(b);
  if (b.contains(1)) include(a);
  const SizeRange both{std::max(a.low, b.low), !a.high ? b.high : !b.high ? a.high : std::min(*a.high, *b.high)};
  if (a.overlaps(b)) include(both);
  return result;
}

}  // namespace weft
