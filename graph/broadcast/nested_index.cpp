// Index access broadcasting. A read is a copy with fixed indices; a write selects, for each scalar of the tensor, between
// the value and what was there, so that both are one pass and the gradient is the select's.
#include "expr/axes.h"
#include "nested.h"

namespace weft::tml {
namespace {

// Where indices lead: one fixed index for each leading dimension that they name, and the type of what remains. Indices
// after the last dimension lead nowhere further.
struct Access {
  std::vector<Index> fixed;                    // 0 in dimensions of length 1
  Type part;
};

std::string subscripts(const std::vector<Index>& indices) {
  std::string text;
  for (Index index : indices) text += concat("[", index, "]");
  return text;
}

// The index in one dimension: anything goes where the length is 1.
Index checked_index(std::string_view what, const Side& base, std::size_t dimension, const Extent& length, Index index) {
  if (length.is(1)) return 0;
  WEFT_REQUIRE(length.is_number() || index == 0, unsupported, what, ": index ", index, " in dimension ", dimension, " of ", show(base), " of length ", length,
               "\n  whether ", length, " is 1 decides if that is in bounds: declare it with a number");
  WEFT_REQUIRE(!length.is_number() || index < length.constant(), shape, what, ": index ", index, " is outside dimension ", dimension, " of ", show(base),
               ", which has length ", length, "\n  indices run from 0 to ", length - 1, "; only a dimension of length 1 takes any index");
  return index;
}

Access access(std::string_view what, const Side& base, const std::vector<Index>& indices) {
  for (Index index : indices)
    WEFT_REQUIRE(index >= 0, shape, what, ": index ", index, " of ", show(base), " is negative\n  indices count from 0, in dimensions of length 1 too");
  const Shape shape = base.type.shape();
  std::vector<Index> fixed;
  for (std::size_t k = 0; k < std::min(shape.size(), indices.size()); ++k) fixed.push_back(checked_index(what, base, k, shape[k], indices[k]));
  std::vector<Shape> levels = base.type.nest();
  for (std::size_t k = 0; k < fixed.size(); ++k) {
    levels[0].erase(levels[0].begin());
    if (levels[0].empty()) levels.erase(levels.begin());
  }
  return {std::move(fixed), Type(base.type.root(), Nesting(std::move(levels)))};
}

// A bool array over the dimensions longer than 1 that indices fix, true at the indices, and the axes that it follows.
struct Mask {
  Expr expr;
  Shape domain;
  AxisMap map;
};

Mask mask_of(Graph& graph, const Shape& shape, const std::vector<Index>& fixed) {
  Mask mask;
  for (std::size_t k = 0; k < fixed.size(); ++k) {
    if (shape[k].is(1)) continue;
    const Expr here = iota(graph, shape[k]) == fixed[k];
    const int rank = static_cast<int>(mask.map.size());
    mask.domain.push_back(shape[k]);
    mask.map.push_back(AxisRef{static_cast<int>(k), 0, 1});
    mask.expr = rank == 0 ? here
                          : Expr(graph, graph.apply(Op::logical_and, bool_, mask.domain,
                                                    {{mask.expr.id(), identity_map(rank)}, {here.id(), AxisMap{AxisRef{rank, 0, 1}}}}));
  }
  return mask;
}

}  // namespace

Tensor index(const Tensor& a, const std::vector<Index>& indices) {
  const Access to = access("index", {a.type(), a.name()}, indices);
  if (to.fixed.empty()) return a;
  AxisMap map = identity_map(a.expr().rank());
  const int count = static_cast<int>(to.fixed.size());
  for (int k = 0; k < a.expr().rank(); ++k) {
    AxisRef& ref = map[static_cast<std::size_t>(k)];
    if (k < count) ref = AxisRef{-1, to.fixed[static_cast<std::size_t>(k)], 1};
    else ref.axis -= count;
  }
  return Tensor(copy_through(a, to.part.shape(), std::move(map)), Nesting(to.part.nest()));
}

Tensor index_assign(const Tensor& a, const std::vector<Index>& indices, const Argument& value) {
  Graph& graph = common_graph("index_assign", a, value);
  const Access to = access("index_assign", {a.type(), a.name()}, indices);
  const Side from = side_of(value, a.dtype());
  check_assignable("index_assign", {to.part, a.name() + subscripts(indices)}, from, Mixed::recurse);
  check_fits("index_assign", value, a.dtype());
  // Everything is checked: from here on nodes are added.
  const int offset = static_cast<int>(to.fixed.size());
  const Shape shape = a.expr().shape();
  const Mask mask = mask_of(graph, shape, to.fixed);
  if (mask.map.empty()) return Tensor(repeat(graph, value, from.type, to.part, a.type(), offset), Nesting(a.nest()));
  const Expr operand = materialise(graph, value, a.dtype());
  const NodeId id = graph.apply(Op::where, a.dtype(), shape,
                                {{mask.expr.id(), mask.map}, {operand.id(), map_onto(from.type, to.part, offset)}, {a.expr().id(), identity_map(a.expr().rank())}});
  return Tensor(Expr(graph, id), Nesting(a.nest()));
}

Str::Str(std::string text) : text_(std::move(text)) {
  WEFT_REQUIRE(!text_.empty(), shape, "str: the text is empty\n  lengths are 1 or more");
}

Str Str::operator[](Index index) const {
  WEFT_REQUIRE(index >= 0, shape, "str: index ", index, " of \"", text_, "\" is negative\n  indices count from 0");
  WEFT_REQUIRE(length() == 1 || index < length(), shape, "str: index ", index, " is outside \"", text_, "\", which has length ", length(),
               "\n  only a single char takes any index");
  return Str(text_[length() == 1 ? 0 : static_cast<std::size_t>(index)]);
}

Type Str::type() const { return length() == 1 ? Type(u8) : Type(u8, nested({length()})); }

}  // namespace weft::tml
