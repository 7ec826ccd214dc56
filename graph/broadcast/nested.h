// The rules of weft/tml.h on types, for messages that name the operands.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <weft/tml.h>

namespace weft::tml {

// A type and what to call its value: "%a (tensor<int, 3>)"; without a name the type alone stands for it.
struct Side {
  Type type;
  std::string name;
};
std::string show(const Side& side);

bool is_numeric(DType root);
// The larger of two numeric roots.
DType larger_root(DType a, DType b);

// " of level 1" in messages about tensors that have several.
std::string level_text(std::size_t level, const Type& a, const Type& b);

// The types of results; `what` opens the messages of what they throw. Roots were checked.
Type join_nesting(std::string_view what, const Side& a, const Side& b, DType root, Mixed mixed);
Type same_nesting(std::string_view what, const Side& a, const Side& b, DType root);

// Throws unless rhs may be assigned to lhs.
void check_assignable(std::string_view what, const Side& lhs, const Side& rhs, Mixed mixed);

// The axes of a tensor in the array of a larger type: per level aligned at the last dimensions; a length 1 stays at 0
// where the larger one is longer. `offset`: the axes of the array before the larger type's own.
AxisMap map_onto(const Type& from, const Type& to, int offset = 0);

// ---- operands and their nodes

// The side that an operand is beside a value of root `beside`: an integer that is not negative is uint beside uint.
Side side_of(const Argument& argument, DType beside);
// Throws unless they are in one graph, which is returned.
Graph& common_graph(std::string_view what, const Argument& a, const Argument& b);
// Throws if the argument is a number that root, admitted by the rules, cannot hold.
void check_fits(std::string_view what, const Argument& argument, DType root);

// The argument with that root: itself, a cast or a constant.
Expr materialise(Graph& graph, const Argument& argument, DType root);
// The argument, of type `from`, repeated to the whole array of a tensor of type `whole`, from whose axis `offset` on
// lie the axes of `part`, to which `from` may be assigned. No node if nothing is to do.
Expr repeat(Graph& graph, const Argument& argument, const Type& from, const Type& part, const Type& whole, int offset = 0);

}  // namespace weft::tml
