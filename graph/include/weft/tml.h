// The TML rules: nested tensors, strict comparisons, assignment, index access broadcasting, narrowing.
//
//   auto a = g.input("a", i64, nested({2, 2}, {3}));            // tensor<tensor<int, 3>, 2, 2>: 2x2 elements, each of length 3
//   auto b = g.input("b", i64, nested({2}, {1}));
//   auto c = a + b;                                             // tensor<tensor<int, 3>, 2, 2>
//   auto d = tml::index(c, {1, 0, 2});                          // int: outer level first, then inner; c[1][0][2] is the same
//   auto e = tml::index_assign(c, {1}, 0);                      // c with c[1] filled with zeros
//   auto f = compile({e, tml::narrow(d)}, {a, b});
//
// A type is a root scalar type and the dimensions of each nesting level, outermost first. Roots and their dtypes: bool,
// uint u64, int i64, real f64, char u8. All scalars are one weft array whose shape is the levels one after the other, so
// a Tensor is an Expr with a reading: an Expr converts to a Tensor of one level (of rank 0: a scalar) and back. 3x3x3 and
// 3x(3x3) hold the same array but are different types. Lengths are 1 or more; a symbolic length equals only itself.
// Operands may be Tensors, Exprs and C++ numbers, one of them not a number. An integer that is not negative is uint
// beside uint, otherwise int; other numbers are bool, char, int and real. As soon as one operand is a Tensor, operators
// and unqualified function names follow these rules; functions without a version here (sum, where, ..) see the Expr, and take no numbers beside Tensors.
//
//   arithmetic   numbers; per level, aligned at the last dimensions, length 1 repeats in either operand; a level that one
//                operand lacks repeats it. The root is the larger one of uint <= int <= real; `/` and float functions: real.
//   relational   numbers; a scalar with a tensor, or the same dimensions on every level: nothing is repeated but a scalar. Bool.
//   logical, bitwise    the same, for bool and for uint, which are also the roots of their results.
//   assignment   the right side is repeated to the type of the left one, which never changes; of lengths only 1 on the right
//                repeats; no more dimensions per level and no more levels than the left side; its root must not be larger.
//   indexing     any index in a dimension of length 1 and after the last one, others are checked; never a negative one.
//   narrowing    drops the dimensions of length 1 of the outermost level only; never an error.
//
// Everything becomes index maps of ordinary nodes; where dimensions are the same no node repeats or copies anything. uint
// becomes int modulo 2^64, int becomes real rounded to nearest.
// Errors: dtype (roots), shape (lengths, levels, indices), usage (empty Exprs, two graphs), text, unsupported (an index in
// a symbolic dimension other than 0); both types and what to do, before anything is added to the graph.
// Thread-safety: types are pure values; building a graph is single-threaded. Cost: O(rank) per node; index_assign touches
// every scalar of its result once, like any node.
// Source: TML, "Broadcasting" (requirements 1 to 64). Choices where it is silent or contradicts itself: type(a + b) is the
// least upper bound; bitwise results are uint; bool compares with nothing; a scalar is paired with an element of any nesting
// (Mixed::reject forbids it); negative indices are errors; writes hit the stored element; lengths are at least 1.
#pragma once
#include <concepts>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/expr.h>

namespace weft {

// The dimensions of each nesting level, outermost first: nested({2, 2}, {3}).
class Nesting {
 public:
  explicit Nesting(std::vector<Shape> levels) : levels_(std::move(levels)) {}
  const std::vector<Shape>& levels() const { return levels_; }
  friend bool operator==(const Nesting&, const Nesting&) = default;

 private:
  std::vector<Shape> levels_;
};
// Deeper ones: Nesting(std::vector<Shape>{..}).
inline Nesting nested() { return Nesting({}); }
inline Nesting nested(const Shape& a) { return Nesting(std::vector<Shape>{a}); }
inline Nesting nested(const Shape& a, const Shape& b) { return Nesting(std::vector<Shape>{a, b}); }
inline Nesting nested(const Shape& a, const Shape& b, const Shape& c) { return Nesting(std::vector<Shape>{a, b, c}); }
inline Nesting nested(const Shape& a, const Shape& b, const Shape& c, const Shape& d) { return Nesting(std::vector<Shape>{a, b, c, d}); }
inline Nesting nested(const Shape& a, const Shape& b, const Shape& c, const Shape& d, const Shape& e) {
  return Nesting(std::vector<Shape>{a, b, c, d, e});
}
inline Nesting nested(const Shape& a, const Shape& b, const Shape& c, const Shape& d, const Shape& e, const Shape& f) {
  return Nesting(std::vector<Shape>{a, b, c, d, e, f});
}

namespace tml {

// ---- types

class Type {
 public:
  // Error(dtype) for a dtype that is no root, Error(shape) for a level without dimensions and for lengths below 1.
  explicit Type(DType root, const Nesting& nesting = nested());
  DType root() const { return root_; }
  const std::vector<Shape>& nest() const { return nest_; }      // outermost first; none: a scalar
  bool is_scalar() const { return nest_.empty(); }
  Shape shape() const;                                          // of the array: the levels one after the other
  friend bool operator==(const Type&, const Type&) = default;

 private:
  DType root_;
  std::vector<Shape> nest_;
};
std::string to_text(const Type& type);                          // "tensor<tensor<int, 3>, 2, 2>", "real"
std::ostream& operator<<(std::ostream& out, const Type& type);
Type type(std::string_view text);                               // the inverse of to_text; throws Error(text)

// Tensors of different nesting: is a scalar of one paired with the element, a tensor, of the other?
enum class Mixed { recurse, reject };

// The type of a + b: the smallest one that both can be assigned to, but for Error(dtype) and Error(shape).
Type join(const Type& a, const Type& b, Mixed mixed = Mixed::recurse);
bool assignable(const Type& lhs, const Type& rhs, Mixed mixed = Mixed::recurse);

// ---- tensors

class Tensor {
 public:
  Tensor(const Expr& expr);
  Tensor(const Expr& expr, const Nesting& nesting);             // the levels, one after the other, are the shape of expr
  operator const Expr&() const { return expr_; }
  const Expr& expr() const { return expr_; }
  const Type& type() const { return type_; }
  const std::vector<Shape>& nest() const { return type_.nest(); }
  DType dtype() const { return type_.root(); }
  std::string name() const { return expr_.name(); }             // as Expr::name
  Tensor name(const std::string& text) const { return expr_.name(text), *this; }
  Tensor operator[](Index index) const;                         // index(*this, {index})

 private:
  Expr expr_;
  Type type_;
};

// A Tensor, an Expr or a C++ number.
class Argument {
 public:
  Argument(const Tensor& tensor) : expr_(tensor.expr()), type_(tensor.type()) {}
  Argument(const Expr& expr) : Argument(Tensor(expr)) {}
  template <Literal T> Argument(T number) : literal_(literal_of(number)), type_(literal_.dtype()) {}
  bool is_literal() const { return !expr_.has_value(); }
  const Expr& expr() const { return *expr_; }
  const Scalar& literal() const { return literal_; }            // bool, i64 (u64 only if it does not fit), f64, or u8 for a char
  const Type& type() const { return type_; }
  std::string name() const { return is_literal() ? weft::to_text(literal_) : expr_->name(); }

 private:
  template <class T> static Scalar literal_of(T number) {
    if constexpr (std::is_same_v<T, char>) return Scalar::of(u8, static_cast<unsigned char>(number));
    else return Value(number).literal();
  }
  std::optional<Expr> expr_;
  Scalar literal_;
  Type type_;
};

// ---- elementwise operations

// Any row of ops.def with two operands; the family follows from the row's dtype rule.
Tensor elementwise(Op op, const Argument& a, const Argument& b, Mixed mixed = Mixed::recurse);
// One operand keeps its nesting.
Tensor elementwise(Op op, const Tensor& a);
Tensor cast(const Tensor& a, DType root);                       // a itself if it has that root

template <class T> concept TensorLike = std::same_as<T, Tensor> || std::same_as<T, Expr>;
template <class A, class B> concept Arguments = (TensorLike<A> && (TensorLike<B> || Literal<B>)) || (Literal<A> && TensorLike<B>);
template <class A, class B> concept ArgumentsWithTensor = Arguments<A, B> && (std::same_as<A, Tensor> || std::same_as<B, Tensor>);

// One function per row: add(a, b), less(a, b), logical_and(a, b), ...; abs(a), exp(a), ...
#define WEFT_FUNCTION(name) inline Tensor name(const Tensor& a) { return elementwise(Op::name, a); }
#include <weft/functions.def>
#define WEFT_BINARY(name, ...) \
  template <class A, class B> requires Arguments<A, B> Tensor name(const A& a, const B& b) { return elementwise(Op::name, a, b); }
#include <weft/ops.def>

#define WEFT_OPERATOR(symbol, function) \
  template <class A, class B> requires ArgumentsWithTensor<A, B> Tensor operator symbol(const A& a, const B& b) { return function(a, b); }
#include <weft/operators.def>
inline Tensor operator+(const Tensor& a) { return a; }
inline Tensor operator-(const Tensor& a) { return negative(a); }
inline Tensor operator~(const Tensor& a) { return bitwise_invert(a); }
inline Tensor operator!(const Tensor& a) { return logical_not(a); }

// ---- declaration, assignment, indexing, narrowing

Tensor input(Graph& graph, const std::string& name, const Type& type, Order order = Order::c);

// What lhs holds after lhs = rhs: rhs repeated to the type of lhs.
Tensor assign(const Tensor& lhs, const Argument& rhs, Mixed mixed);
template <TensorLike A, class B> requires Arguments<A, B> Tensor assign(const A& lhs, const B& rhs) { return assign(lhs, rhs, Mixed::recurse); }
// A variable of that type with an initial value: declare(g, type("tensor<int, 3>"), 0).
Tensor declare(Graph& graph, const Type& type, const Argument& initial, Mixed mixed = Mixed::recurse);

// a[i][j]..: the scalar, or the sub-tensor of the dimensions and levels that no index names.
Tensor index(const Tensor& a, const std::vector<Index>& indices);
// What a holds after a[i][j].. = value, an assignment to that scalar or sub-tensor.
Tensor index_assign(const Tensor& a, const std::vector<Index>& indices, const Argument& value);
Tensor narrow(const Tensor& a);

// ---- strings, while the graph is built

// A str is a tensor of char, a single char a scalar: any index gives it back. Text compares only here, not in graphs.
//
//   for (Index i = 0; i < signs.length(); ++i)                  // "+" or "+-+"
//     if (signs[i] == "+") x = tml::index_assign(x, {i}, x[i] + y[i]);
class Str {
 public:
  Str(std::string text);                                        // at least one char: Error(shape)
  Str(const char* text) : Str(std::string(text)) {}
  Str(char character) : Str(std::string(1, character)) {}
  Index length() const { return static_cast<Index>(text_.size()); }
  Str operator[](Index index) const;                            // a char; Error(shape) outside of a longer text
  const std::string& text() const { return text_; }
  Type type() const;                                            // "char", "tensor<char, 3>"
  friend bool operator==(const Str&, const Str&) = default;

 private:
  std::string text_;
};

}  // namespace tml

template <std::same_as<Nesting> N> tml::Tensor Graph::input(const std::string& input_name, DType dtype, const N& nesting, Order order) {
  return tml::input(*this, input_name, tml::Type(dtype, nesting), order);
}

}  // namespace weft
