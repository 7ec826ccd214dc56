#include <weft/broadcast.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include <weft/expr.h>

#include "align.h"

namespace weft {
namespace {

// Operand axes follow the last axes of the domain.
AxisMap trailing_map(const Shape& shape, const Shape& domain) {
  return follow_axes(shape, domain, consecutive(shape.size(), domain.size() - shape.size()));
}

// "%x[i,j]", or the shape of an operand without a name.
std::string show(const Shape& shape, std::size_t rank, const std::string& name, const std::vector<std::string>& letters) {
  if (name.empty()) return to_text(shape);
  std::string text = name + "[";
  for (std::size_t k = 0; k < shape.size(); ++k) text += (k ? "," : "") + letters[rank - shape.size() + k];
  return text + "]";
}

// The usual slip with what a reduction leaves: an operand of one axis less fits if it gets one of extent 1 in between.
std::optional<std::size_t> missing_axis(const Shape& shape, const Shape& other) {
  if (shape.size() + 1 != other.size()) return std::nullopt;
  for (std::size_t place = 1; place <= shape.size(); ++place) {
    bool fits = true;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const Extent& beside = other[k < place ? k : k + 1];
      fits = fits && (shape[k].is(1) || beside.is(1) || shape[k] == beside);
    }
    if (fits) return place;
  }
  return std::nullopt;
}

std::string expansion_remedy(const Shape& shape, const Shape& other, const std::string& name) {
  const auto axis = missing_axis(shape, other);
  if (!axis || name.empty()) return "";
  return concat("\n  or expand_dims(", name, ", ", *axis, "), so that it follows the axes in front; a reduction with keepdims = true leaves that axis");
}

[[noreturn]] void fail_mismatch(std::string_view what, std::size_t axis, const std::vector<Shape>& shapes, std::size_t a, std::size_t b,
                                std::size_t rank, const NameOf& name_of) {
  const Extent& ea = shapes[a][axis - (rank - shapes[a].size())];
  const Extent& eb = shapes[b][axis - (rank - shapes[b].size())];
  const auto letters = axis_letters(rank, shapes);
  fail(ErrorKind::shape, concat(what, ": axis ", letters[axis], " has extent ", ea, " in ", show(shapes[a], rank, name_of(a), letters), " but ", eb, " in ",
                                show(shapes[b], rank, name_of(b), letters), "\n  ", mismatch_remedy(ea, eb, "extents must be equal, or one of them 1"),
                                expansion_remedy(shapes[a], shapes[b], name_of(a)), expansion_remedy(shapes[b], shapes[a], name_of(b))));
}

}  // namespace

std::vector<Index> consecutive(std::size_t count, std::size_t first) {
  std::vector<Index> axes(count);
  std::iota(axes.begin(), axes.end(), static_cast<Index>(first));
  return axes;
}

AxisMap follow_axes(const Shape& shape, const Shape& domain, const std::vector<Index>& axes) {
  AxisMap map(shape.size());
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (!shape[k].is(1) || domain[static_cast<std::size_t>(axes[k])].is(1)) map[k].axis = static_cast<int>(axes[k]);
  return map;
}

void check_axis_list(std::string_view what, std::string_view list, const std::vector<Index>& axes, const std::string& name, std::size_t rank,
                     std::size_t target_rank) {
  std::string shown = "(";
  for (std::size_t k = 0; k < axes.size(); ++k) shown += (k ? ", " : "") + std::to_string(axes[k]);
  shown += ")";
  WEFT_REQUIRE(axes.size() == rank, shape, what, ": ", list, " ", shown, " has ", axes.size(), axes.size() == 1 ? " entry" : " entries", " but ", name,
               " has rank ", rank, "\n  give one axis of the target for each axis of ", name);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    WEFT_REQUIRE(axes[k] >= 0 && axes[k] < static_cast<Index>(target_rank), shape, what, ": ", list, " ", shown, " names axis ", axes[k],
                 " of a target of rank ", target_rank);
    WEFT_REQUIRE(k == 0 || axes[k - 1] < axes[k], shape, what, ": ", list, " ", shown, " is not strictly increasing\n  ",
                 "axes keep their order and go to one axis each: permute_dims changes the order");
  }
}

void check_same_graph(std::string_view what, const Expr& a, const Expr& b, std::string_view role) {
  const std::string &one = a.graph().name, &other = b.graph().name;
  WEFT_REQUIRE(&a.graph() == &b.graph(), usage, what, ": ", a.name(), " is in graph \"", one, "\" but ", role, b.name(), " is in ",
               one == other ? "another graph of that name" : concat("graph \"", other, "\""), "\n  build both in one graph");
}

void check_one_graph(std::string_view what, const std::vector<Expr>& operands) {
  for (std::size_t k = 0; k < operands.size(); ++k) {
    WEFT_REQUIRE(!operands[k].is_empty(), usage, what, ": operand ", k, " is an empty Expr");
    check_same_graph(what, operands[0], operands[k]);
  }
}

std::vector<std::string> axis_letters(std::size_t rank, const std::vector<Shape>& shapes) {
  std::vector<std::string> symbols, letters;
  for (const Shape& shape : shapes)
    for (const Extent& extent : shape) extent.collect_symbols(symbols);
  for (int round = 0; letters.size() < rank; ++round)
    for (char c : std::string_view("ijklpqrstuvwxyzabcdefghmno")) {
      std::string letter = c + (round == 0 ? std::string() : std::to_string(round));
      if (std::find(symbols.begin(), symbols.end(), letter) == symbols.end()) letters.push_back(std::move(letter));
    }
  return letters;
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
    for (std::size_t k = shapes[operand].size(); k-- > 0;) {  // from the last axis, as the algorithm of the source
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

AxisMap align_onto(std::string_view what, const Expr& operand, const Shape& target) {
  const Shape shape = operand.shape();
  WEFT_REQUIRE(shape.size() <= target.size(), shape, what, ": ", operand.name(), " has rank ", shape.size(), " but the target ", to_text(target), " has rank ",
               target.size(), "\n  squeeze or reduce the surplus axes first");
  const std::size_t offset = target.size() - shape.size();
  for (std::size_t k = 0; k < shape.size(); ++k)
    WEFT_REQUIRE(shape[k].is(1) || shape[k] == target[offset + k], shape, what, ": axis ", k, " of ", operand.name(), " has extent ", shape[k],
                 " but the target ", to_text(target), " has ", target[offset + k], "\n  ",
                 mismatch_remedy(target[offset + k], shape[k], "only an axis of extent 1 is repeated"));
  return trailing_map(shape, target);
}

Shape broadcast_shapes(const std::vector<Shape>& shapes) {
  return align_array_api("broadcast_shapes", shapes, [](std::size_t) { return std::string(); }).domain;
}

Expr broadcast_to(const Expr& x, const Shape& shape) {
  WEFT_REQUIRE(!x.is_empty(), usage, "broadcast_to: the operand is an empty Expr");
  AxisMap map = align_onto("broadcast_to", x, shape);
  return Expr(x.graph(), x.graph().apply(Op::copy, x.dtype(), shape, {{x.id(), std::move(map)}}));
}

Expr assign(const Expr& lhs, const Expr& rhs) {
  check_one_graph("assign", {lhs, rhs});
  WEFT_REQUIRE(holds(lhs.dtype(), rhs.dtype()), dtype, "assign: ", rhs.name(), " is ", rhs.dtype(),
               ", which does not convert to ", lhs.dtype(), " of ", lhs.name(), "\n  cast it first");
  AxisMap map = align_onto("assign", rhs, lhs.shape());
  const Op op = lhs.dtype() == rhs.dtype() ? Op::copy : Op::cast;
  return Expr(lhs.graph(), lhs.graph().apply(op, lhs.dtype(), lhs.shape(), {{rhs.id(), std::move(map)}}));
}

}  // namespace weft
