// Node and Use: broadcast and accumulate are one idea.
//
// A node owns an ordered domain of axes (extents). Its first `kept` axes are its result; the rest are folded away by an
// accumulator. A Use (one per operand) says which domain axis each operand axis follows. A domain axis the operand
// does not mention is a broadcast; an axis the result does not keep is an accumulate; a map out of order is a
// transpose; a map with start and step is a slice or a flip. Reverse mode reads the edge backwards, so broadcast and
// accumulate swap by construction.
//
//   %0: f64[i:n] = sum(j:m) multiply(%x[i,j], %w[j])     domain [n, m], kept 1, maps {i, j} and {j}
//
// Invariants (checked by Graph::add and verify):
//   G1 operands precede users        G2 operands are stored in position order
//   G3 a map has one reference per operand axis, names each domain axis at most once and stays in bounds
//   G4 mapped extents agree: step 1 and start 0 need equal extents, unless the reference says that it reads a part
//   G5 dtype is what the op row's rule gives    G6 mode accumulate iff kept < |domain|; scan: recurrences only
//   G7 every folded axis is mentioned by some operand
// Pure values.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <weft/accumulator.h>
#include <weft/array.h>
#include <weft/extent.h>
#include <weft/op.h>

namespace weft {

struct NodeId {
  std::uint32_t value = UINT32_MAX;
  friend auto operator<=>(NodeId, NodeId) = default;
};

// The index on one operand axis: start + step * loop[axis]; axis < 0: fixed at start. With start 0 and step 1 the operand
// axis is meant to be as long as the loop, which is checked; `part` says that the loop covers the first elements only.
struct AxisRef {
  int axis = -1;
  Extent start = 0;
  Index step = 1;
  bool part = false;                                         // start 0, step 1 and a shorter loop: x[:-1]; Graph::add clears it where the extents are equal. Of an update: places within
  bool is_direct() const { return axis >= 0 && step == 1 && start.is(0); }       // the index is the loop's
  bool is_identity() const { return is_direct() && !part; }                      // and the loop covers the axis
  friend bool operator==(const AxisRef&, const AxisRef&) = default;
};
using AxisMap = std::vector<AxisRef>;                        // one per operand axis
AxisMap identity_map(int rank);                              // axis k follows domain axis k
inline bool are_within(const AxisMap& places) { return !places.empty() && places[0].part; }   // of an update

struct Operand {
  NodeId node;
  AxisMap map;
};

enum class Mode : std::uint8_t { broadcast, accumulate, scan };

// input: `name`; constant: `scalar` (rank 0) or `array`; iota: i64 value of the first domain axis' index;
// extent: i64 scalar, the value of `extent`; apply: an op over operands; update: its one operand (the window) written
// into zeros, the adjoint of a slice: result[k] = window[w] where k_r = start_r + step_r * w[axis_r] on every axis r of
// the result (axis < 0: k_r = start_r), else 0. The payload holds one reference per result axis and names every window
// axis once; the operand's own map is the identity. Places within: every reference is a part, of step 1 or -1, and what of the
// window would land outside of the result is left out. reshape: the elements of its one operand, in row-major order, under
// another shape with as many elements (equal extents, or checked at the call); the operand's map is the identity.
// recurrence: a state carried along axes, element after element (weft/recurrence.h). Mode accumulate: over the folded axes,
// in domain order with the last one fastest; the result is what the last state finishes as. Mode scan: along kept axes;
// the result is what every step emits.
// others: for every element the accumulator (prod) over all others along one axis, which the payload names, in the order of
// weft/accumulator.h; one operand, of the same dtype (f32, f64).
// fit: a broadcast that a call decides (weft/settle.h). In mode broadcast the operand is the data and the node the result, of
// one rank; in mode accumulate (by sum) it is the other way round: the adjoint. On each axis the data has the extent of the
// target or 1, which repeats; both_ways: the target may also be 1. The payload holds the target, the map is the identity.
enum class Kind : std::uint8_t { input, constant, iota, extent, apply, update, recurrence, reshape, others, fit };

struct Recurrence;
struct Recurring {
  std::shared_ptr<const Recurrence> recurrence;
  int output = 0;                                            // which of the values it finishes as, or emits
  std::vector<int> axes = {};                                // scan: the axes it runs along, in visiting order
  bool backwards = false;                                    // scan: from the last element of each of them to the first
  friend bool operator==(const Recurring&, const Recurring&);   // by structure
};

struct Along {
  int axis = 0;
  friend bool operator==(const Along&, const Along&) = default;
};

struct Fit {
  Shape target;
  bool both_ways = false;
  friend bool operator==(const Fit&, const Fit&) = default;
};

using Payload = std::variant<std::monostate, std::string, Scalar, Array, Extent, AxisMap, Recurring, Along, Fit>;

struct Node {
  Kind kind = Kind::apply;
  Op op = Op::copy;
  DType dtype = f64;
  Shape domain;                                              // kept axes first, folded axes after
  int kept = 0;
  Mode mode = Mode::broadcast;
  AccumulatorId accumulator = AccumulatorId::none;
  Order order = Order::c;                                    // alignment rule and preferred layout when stored
  Payload payload;

  int rank() const { return kept; }
  Shape shape() const { return Shape(domain.begin(), domain.begin() + kept); }
  const std::string& name() const { return std::get<std::string>(payload); }
};

}  // namespace weft

template <> struct std::hash<weft::NodeId> {
  std::size_t operator()(weft::NodeId id) const noexcept { return id.value; }
};
