// The values of the derivative columns of ops.def.
//
// A Local is a value inside the loop nest (Frame) of the node being differentiated, over the node's full domain: folded
// axes included. It is a number, a node seen through a map, or one op that waits: the last op of a column then becomes
// part of the fold that follows instead of a node of its own.
//
// A Local may carry a mask: where the mask says no, it counts as 0 whatever its value is. `select(c, x, 0)` makes one, and
// products pass it on, so that what a branch not taken computes (NaN, infinity) reaches nothing: the mask becomes a
// `where` at the first sum. Sums of values with different masks keep the union.
//
// Every op is computed over the axes its operands mention and no others, and at most once per Frame.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "maps.h"

namespace weft {

// One graph node per number.
class NumberPool {
 public:
  explicit NumberPool(Graph& graph) : graph_(&graph) {}
  NodeId get(DType dtype, double value);

 private:
  Graph* graph_;
  std::map<std::pair<DType, std::uint64_t>, NodeId> ids_;
};

class Frame {
 public:
  Frame(Graph& to, NumberPool& pool, Shape loops, DType dtype, Order preferred)
      : graph(to), numbers(pool), domain(std::move(loops)), number_dtype(dtype), convert_to(dtype), order(preferred) {}

  Operand apply(Op op, DType dtype, std::vector<Operand> operands);      // over the mentioned axes
  // op(operands) with every mentioned axis outside `keep` folded away; the result's axes are `keep`, in that order.
  NodeId fold(AccumulatorId acc, Op op, DType dtype, std::vector<Operand> operands, const std::vector<int>& keep);

  Graph& graph;
  NumberPool& numbers;
  Shape domain;
  DType number_dtype;                                        // of numbers with nothing beside them
  DType convert_to;                                          // where convert(g) goes
  Order order;

 private:
  struct Done {
    Op op;
    DType dtype;
    std::vector<Operand> operands;
    Operand result;
  };
  std::vector<Done> done_;
};

struct Mask {
  Operand value;
  bool inverted = false;
  // Of where and of singular points: what it hides may be NaN or infinite. Others, of relu, maximum and clip, whose values are the operand or a
  // bound, may as well be zeros before a product.
  bool strict = true;
};

Operand truth(const Mask& mask, Frame& frame);              // not inverted

class Local {
 public:
  // An op that has not become a node yet.
  struct Waiting {
    Op op;
    DType dtype;
    std::vector<Operand> operands;
    std::optional<Operand> result;
  };

  Local(double number) : value_(number) {}
  Local(Frame& frame, double number) : frame_(&frame), value_(number) {}
  Local(Frame& frame, Operand operand) : frame_(&frame), value_(std::move(operand)) {}
  Local(Frame& frame, Op op, DType dtype, std::vector<Operand> operands)
      : frame_(&frame), value_(std::make_shared<Waiting>(Waiting{op, dtype, std::move(operands), {}})) {}

  bool is_number() const { return std::holds_alternative<double>(value_); }
  bool is_number(double number) const { return is_number() && std::get<double>(value_) == number; }
  double number() const { return std::get<double>(value_); }
  const Operand* view() const { return std::get_if<Operand>(&value_); }
  const Waiting* waiting() const;                            // null once it is a node
  DType dtype() const;
  Frame* frame() const { return frame_; }
  const std::optional<Mask>& mask() const { return mask_; }

  Operand node() const { return node(dtype()); }             // the value without its mask, as a node
  Operand node(DType number_dtype) const;
  Local bare() const;                                        // without its mask
  Local resolved() const;                                    // with its mask as a `where`
  Local masked(const Local& condition, bool inverted = false) const;   // 0 unless condition (unless inverted)
  void mark(std::vector<bool>& mentioned) const;             // the axes of value and mask
  void set_mask(std::optional<Mask> mask) { mask_ = std::move(mask); }
  void set_strict(bool strict) { mask_->strict = strict; }    // there is a mask

  friend Local operator-(const Local& a);
  friend Local operator+(const Local& a, const Local& b);
  friend Local operator-(const Local& a, const Local& b);
  friend Local operator*(const Local& a, const Local& b);
  friend Local operator/(const Local& a, const Local& b);
  friend Local operator>(const Local& a, const Local& b);
  friend Local operator<(const Local& a, const Local& b);
  friend Local operator>=(const Local& a, const Local& b);
  friend Local operator<=(const Local& a, const Local& b);
  friend Local operator==(const Local& a, const Local& b);
  friend Local operator!=(const Local& a, const Local& b);
  friend Local operator&(const Local& a, const Local& b);
  friend Local operator|(const Local& a, const Local& b);
  friend Local select(const Local& condition, const Local& yes, const Local& no);
  friend Local convert(const Local& a);
  // `value`, but 0 where both g and d are 0: the derivative divides by d there. Elsewhere it is linear in g, so that
  // derivatives of derivatives are right.
  friend Local guard(const Local& g, const Local& d, const Local& value);
  friend Local power(const Local& a, const Local& b);
  friend Local call(Op op, const Local& a);
  friend Local call(Op op, const Local& a, const Local& b);

 private:
  Frame* frame_ = nullptr;                                   // null: a number written in a column
  std::variant<double, Operand, std::shared_ptr<Waiting>> value_;
  std::optional<Mask> mask_;
};

// The ops that columns call by name.
inline Local sign(const Local& a) { return call(Op::sign, a); }
inline Local exp(const Local& a) { return call(Op::exp, a); }
inline Local log(const Local& a) { return call(Op::log, a); }
inline Local sin(const Local& a) { return call(Op::sin, a); }
inline Local cos(const Local& a) { return call(Op::cos, a); }
inline Local sigmoid(const Local& a) { return call(Op::sigmoid, a); }
inline Local sqrt(const Local& a) { return call(Op::sqrt, a); }
inline Local sinh(const Local& a) { return call(Op::sinh, a); }
inline Local cosh(const Local& a) { return call(Op::cosh, a); }
inline Local digamma(const Local& a) { return call(Op::digamma, a); }
inline Local trigamma(const Local& a) { return call(Op::trigamma, a); }
inline Local hypot(const Local& a, const Local& b) { return call(Op::hypot, a, b); }
inline Local copysign(const Local& a, const Local& b) { return call(Op::copysign, a, b); }
inline Local floor_divide(const Local& a, const Local& b) { return call(Op::floor_divide, a, b); }
inline Local truncated_divide(const Local& a, const Local& b) { return call(Op::truncated_divide, a, b); }

// The derivative of trigamma, of other ops (graph/grad/tetragamma.cpp).
Local tetragamma(const Local& a);

// The cotangent of operand `position` of op, over the frame's domain (graph/grad/derivative.cpp: the columns of ops.def).
Local derivative(Op op, int position, const std::vector<Local>& operands, const Local& y, const Local& g);

}  // namespace weft
