#include <weft/broadcast.h>

#include <algorithm>

#include <weft/expr.h>

#include "align.h"

namespace weft {
namespace {

// Operand axes follow the last axes of the domain; an axis of extent 1 stays at 0 where the domain's is longer.
AxisMap trailing_map(const Shape& shape, const Shape& domain) {
  AxisMap map(shape.size());
  const std::size_t offset = domain.size() - shape.size();
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (!shape[k].is(1) || domain[offset + k].is(1)) map[k].axis = static_cast<int>(offset + k);
  return map;
}

// The operand's axes as the reader of a message should see them: every axis by its letter.
std::string show(const Shape& shape, std::size_t rank, const std::string& name) {
  if (name.empty()) return to_text(shape);
  AxisMap map(shape.size());
  for (std::size_t k = 0; k < shape.size(); ++k) map[k].axis = static_cast<int>(rank - shape.size() + k);
  return with_letters(name, map);
}

[[noreturn]] void fail_mismatch(std::string_view what, std::size_t axis, const std::vector<Shape>& shapes, std::size_t a, std::size_t b,
                                std::size_t rank, const NameOf& name_of) {
  const Extent& ea = shapes[a][axis - (rank - shapes[a].size())];
  const Extent& eb = shapes[b][axis - (rank - shapes[b].size())];
  fail(ErrorKind::shape, concat(what, ": axis ", axis_letter(axis), " has extent ", ea, " in ", show(shapes[a], rank, name_of(a)), " but ", eb, " in ",
                                show(shapes[b], rank, name_of(b)), "\n  ", mismatch_remedy(ea, eb, "extents must be equal, or one of them 1")));
}

}  // namespace

std::string axis_letter(std::size_t axis) {
  constexpr std::string_view letters = "ijklmnopqrstuvwxyz";
  if (axis < letters.size()) return std::string(1, letters[axis]);
  return "i" + std::to_string(axis);
}

std::string with_letters(const std::string& name, const AxisMap& map) {
  std::string text = name + "[";
  for (std::size_t k = 0; k < map.size(); ++k)
    text += (k ? "," : "") + (map[k].axis < 0 ? to_text(map[k].start) : axis_letter(static_cast<std::size_t>(map[k].axis)));
  return text + "]";
}

std::string mismatch_remedy(const Extent& a, const Extent& b, std::string_view numbers) {
  if (a.is_number() && b.is_number()) return std::string(numbers);
  if (!a.is_number() && !b.is_number()) return concat("if ", b, " is meant to equal ", a, ", declare both inputs with the same symbol");
  const Extent& symbol = a.is_number() ? b : a;
  const Extent& number = a.is_number() ? a : b;
  return concat("if ", symbol, " is meant to be ", number, ", declare that input with ", number);
}

Alignment align_array_api(std::string_view what, const std::vector<Shape>& shapes, const NameOf& name_of) {
  std::size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Alignment result{Shape(rank, Extent(1)), {}};
  std::vector<std::size_t> source(rank, 0);                    // the operand that set each extent
  for (std::size_t operand = 0; operand < shapes.size(); ++operand) {
    const std::size_t offset = rank - shapes[operand].size();
    for (std::size_t k = 0; k < shapes[operand].size(); ++k) {
      const Extent& extent = shapes[operand][k];
      Extent& common = result.domain[offset + k];
      if (extent.is(1) || extent == common) continue;
      if (!common.is(1)) fail_mismatch(what, offset + k, shapes, source[offset + k], operand, rank, name_of);
      common = extent;
      source[offset + k] = operand;
    }
  }
  result.maps.reserve(shapes.size());
  for (const Shape& shape : shapes) result.maps.push_back(trailing_map(shape, result.domain));
  return result;
}

AxisMap align_onto(std::string_view what, const Shape& shape, const Shape& target, const std::string& name) {
  WEFT_REQUIRE(shape.size() <= target.size(), shape, what, ": ", name, " has rank ", shape.size(), " but the target ", to_text(target), " has rank ",
               target.size(), "\n  squeeze or reduce the surplus axes first");
  const std::size_t offset = target.size() - shape.size();
  for (std::size_t k = 0; k < shape.size(); ++k)
    WEFT_REQUIRE(shape[k].is(1) || shape[k] == target[offset + k], shape, what, ": axis ", k, " of ", name, " has extent ", shape[k],
                 " but the target ", to_text(target), " has ", target[offset + k], "\n  ",
                 mismatch_remedy(target[offset + k], shape[k], "only an axis of extent 1 is repeated"));
  return trailing_map(shape, target);
}

Shape broadcast_shapes(const std::vector<Shape>& shapes) {
  return align_array_api("broadcast_shapes", shapes, [](std::size_t) { return std::string(); }).domain;
}

Expr broadcast_to(const Expr& x, const Shape& shape) {
  WEFT_REQUIRE(x, usage, "broadcast_to: the operand is an empty Expr");
  AxisMap map = align_onto("broadcast_to", x.shape(), shape, x.name());
  return Expr(x.graph(), x.graph().apply(Op::copy, x.dtype(), shape, {{x.id(), std::move(map)}}));
}

Expr assign(const Expr& lhs, const Expr& rhs) {
  WEFT_REQUIRE(lhs && rhs, usage, "assign: operand ", lhs ? 1 : 0, " is an empty Expr");
  WEFT_REQUIRE(&lhs.graph() == &rhs.graph(), usage, "assign: ", lhs.name(), " is in graph \"", lhs.graph().name, "\" but ", rhs.name(),
               " is in graph \"", rhs.graph().name, "\"\n  build both in one graph");
  const bool both_u64_and_signed = (lhs.dtype() == u64 && is_signed_integer(rhs.dtype())) || (rhs.dtype() == u64 && is_signed_integer(lhs.dtype()));
  WEFT_REQUIRE(!both_u64_and_signed && promote(lhs.dtype(), rhs.dtype()) == lhs.dtype(), dtype, "assign: ", rhs.name(), " is ", rhs.dtype(),
               ", which does not convert to ", lhs.dtype(), " of ", lhs.name(), "\n  cast it first");
  AxisMap map = align_onto("assign", rhs.shape(), lhs.shape(), rhs.name());
  const Op op = lhs.dtype() == rhs.dtype() ? Op::copy : Op::cast;
  return Expr(lhs.graph(), lhs.graph().apply(op, lhs.dtype(), lhs.shape(), {{rhs.id(), std::move(map)}}));
}

}  // namespace weft
