// reshape, and what is made with it: tile and repeat.
#include <algorithm>

#include <weft/rearrange.h>

#include "axes.h"
#include "maps.h"

namespace weft {
namespace {

// The count of x divided by the extents that are given: numbers divide numbers, symbols cancel.
Extent left_over(const Expr& x, const Shape& target) {
  Extent own_count = 1, given_count = 1;                     // numbers
  std::vector<Extent> symbols;
  for (const Extent& extent : x.shape())
    if (extent.is_number()) own_count = own_count * extent;
    else symbols.push_back(extent);
  for (const Extent& extent : target) {
    if (extent.is(-1)) continue;
    if (extent.is_number()) {
      given_count = given_count * extent;
      continue;
    }
    const auto same = std::find(symbols.begin(), symbols.end(), extent);
    WEFT_REQUIRE(same != symbols.end(), unsupported, "reshape: what -1 stands for in ", to_text(target), " is not known: ", x.name(), " of shape ",
                 to_text(x.shape()), " has no axis of extent ", extent, "\n  write the extent in place of -1");
    symbols.erase(same);
  }
  const Index own = own_count.constant(), given = given_count.constant();
  WEFT_REQUIRE(given > 0, shape, "reshape: what -1 stands for in ", to_text(target), " is not known beside an extent of 0\n  write the extent in place of -1");
  const Extent rest = count_of(symbols);
  WEFT_REQUIRE(!rest.is_number() || own % given == 0, shape, "reshape: ", x.name(), " of shape ", to_text(x.shape()), " has ", own,
               " elements, which ", given, " in ", to_text(target), " does not divide");
  return own % given == 0 ? Extent(own / given) * rest : floor_div(Extent(own) * rest, given);   // the call checks that nothing remains
}

// An extent of -1 becomes what the others leave over.
Shape resolve(const Expr& x, Shape target) {
  const auto unknown = [](const Extent& e) { return e.is(-1); };
  const auto count = std::count_if(target.begin(), target.end(), unknown);
  WEFT_REQUIRE(count <= 1, shape, "reshape: the target ", to_text(target), " of ", x.name(), " has more than one -1");
  for (const Extent& extent : target)
    WEFT_REQUIRE(!extent.is_number() || extent.constant() >= -1, shape, "reshape: the target ", to_text(target), " of ", x.name(), " has extent ", extent);
  if (count == 1) *std::find_if(target.begin(), target.end(), unknown) = left_over(x, target);
  return target;
}

// Only axes of extent 1 come and go: a map says it all.
bool is_renaming(const Shape& own, const Shape& target, AxisMap& map) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < own.size(); ++from) {
    if (own[from].is(1)) continue;
    while (to < target.size() && target[to].is(1)) ++to;
    if (to >= target.size() || !(target[to] == own[from])) return false;
    map[from].axis = static_cast<int>(to++);
  }
  return std::all_of(target.begin() + static_cast<std::ptrdiff_t>(to), target.end(), [](const Extent& extent) { return extent.is(1); });
}

Expr reshape_rows(const Expr& x, const Shape& target) {
  const Shape own = x.shape();
  AxisMap map(own.size());
  if (is_renaming(own, target, map)) return copy_through(x, target, std::move(map));
  Node node;
  node.kind = Kind::reshape;
  node.dtype = x.dtype();
  node.domain = target;
  node.kept = static_cast<int>(target.size());
  return Expr(x.graph(), x.graph().add(std::move(node), {Operand{x.id(), identity_map(x.rank())}}));
}

void check_counts(const Expr& x, const Shape& target, const Shape& written) {
  const Extent own = count_of(x.shape()), wanted = count_of(target), surplus = own - wanted;
  WEFT_REQUIRE(!surplus.is_number() || surplus.is(0), shape, "reshape: ", x.name(), " of shape ", to_text(x.shape()), " has ", own, " elements but the target ",
               to_text(written), " has ", wanted);
}

void check_count(std::string_view what, const Expr& x, Index count) {
  WEFT_REQUIRE(count >= 0, usage, what, ": ", x.name(), " cannot be repeated ", count, " times");
}

}  // namespace

Expr reshape(const Expr& x, const Shape& shape, Order order) {
  WEFT_REQUIRE(!x.is_empty(), usage, "reshape: the operand is an empty Expr");
  const Shape target = resolve(x, shape);
  check_counts(x, target, shape);
  if (order == Order::c) return reshape_rows(x, target);
  return transpose(reshape_rows(transpose(x), Shape(target.rbegin(), target.rend())));
}

Expr repeat(const Expr& x, Index count, int axis) {
  axis = normalize_axis("repeat", x, axis);
  check_count("repeat", x, count);
  Shape domain = x.shape(), target = domain;
  domain.insert(domain.begin() + axis + 1, Extent(count));
  const auto at = static_cast<std::size_t>(axis);
  target[at] = target[at] * Extent(count);
  AxisMap map = identity_map(x.rank());
  for (AxisRef& ref : map) ref.axis += ref.axis > axis ? 1 : 0;
  return reshape_rows(copy_through(x, std::move(domain), std::move(map)), target);
}

Expr tile(const Expr& x, const std::vector<Index>& counts) {
  WEFT_REQUIRE(!x.is_empty(), usage, "tile: the operand is an empty Expr");
  for (Index count : counts) check_count("tile", x, count);
  const Shape own = x.shape();
  const std::size_t rank = std::max(own.size(), counts.size());
  Shape domain, target;
  AxisMap map(own.size());
  for (std::size_t k = 0; k < rank; ++k) {                                     // aligned at the last axes
    const Extent count = k + counts.size() < rank ? Extent(1) : Extent(counts[k + counts.size() - rank]);
    const bool has_axis = k + own.size() >= rank;
    const Extent extent = has_axis ? own[k + own.size() - rank] : Extent(1);
    if (!count.is(1)) domain.push_back(count);
    if (has_axis) map[k + own.size() - rank].axis = static_cast<int>(domain.size());
    domain.push_back(extent);
    target.push_back(count * extent);
  }
  return reshape_rows(copy_through(x, std::move(domain), std::move(map)), target);
}

}  // namespace weft
