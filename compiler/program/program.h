// How each nest computes its values: the tree of loops with loads, folds, rows and stores. One Program per nest.
//
// Forms of items: Loop, Load, Compute, Accumulate, Store; recurrences read and write their states, and Others reads and writes whole rows.
// Values are numbered and assigned once. A value made in a loop marked `lanes` is a vector; a value from an outer loop is a scalar, spread where a vector is needed. Every load stands
// in the outermost loop that knows its index, so an operand of lesser rank is loaded once per iteration of its own loop.
#pragma once
#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bounds.h"
#include "schedule/schedule.h"

namespace weft {

// argument: input or array constant; result: output; temporary: array between nests; partial: one row per unit of a
// merged fold; row: scratch of one thread; index: the value of an axis; extent: the value of an extent.
enum class Place : std::uint8_t { argument, result, temporary, partial, row, index, extent };

// start + step * (axis); in a row the position within the unit if the axis is tiled; (axis) mod period if there is one, (axis) div each.
// In a guarded load there is one per axis of the result: it reads dimension `dim` of the window where
// axis == start + step * w for some w, and the loaded value is zero elsewhere (dim < 0: where axis == start).
struct Subscript {
  int axis = -1;
  Extent start = 0;
  Index step = 1;
  int dim = -1;
  Index period = 0, each = 1;
  bool inside = false;                  // guarded, and the window is known to have every index there is here
  std::optional<Extent> elements = {};  // guarded: so many from there on, of several dimensions without a gap; else as many as dimension `dim` has
  bool is_linear() const { return period == 0 && each == 1; }
  friend bool operator==(const Subscript&, const Subscript&) = default;
};

inline bool is_linear(const std::vector<Subscript>& at) {
  return std::all_of(at.begin(), at.end(), [](const Subscript& s) { return s.is_linear(); });
}

struct Buffer {
  Place place = Place::argument;
  NodeId node;                          // argument, result, temporary: the node it holds
  DType dtype = f64;
  Shape extents;                        // one per dimension; a tiled axis of a row counts one unit
  Order order = Order::c;               // temporary: the layout
  std::vector<int> axes;                // row and partial: the nest axis of each dimension
  Extent size;                          // extent: its value
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct Arg {
  int value = -1;
  std::optional<Scalar> constant;
  friend bool operator==(const Arg&, const Arg&) = default;
};

struct Load {
  int result;
  int buffer;
  std::vector<Subscript> at;
  bool guarded = false;                 // a window read backwards
  friend bool operator==(const Load&, const Load&) = default;
};
struct Compute {
  int result;
  Op op;
  std::vector<Arg> args;
  Bounds first = {};                    // what is known of args[0]
  friend bool operator==(const Compute&, const Compute&) = default;
};
struct Accumulate {
  int fold;
  Arg value;
  std::optional<Arg> factor;            // their product is added unrounded
  int result = -1;                      // running: what the fold has after each element of a vector
  friend bool operator==(const Accumulate&, const Accumulate&) = default;
};
struct Store {
  int buffer;
  std::vector<Subscript> at;
  Arg value;
  friend bool operator==(const Store&, const Store&) = default;
};
// The state of a recurrence in a register of the loop that carries it: before and after an element.
struct ReadState {
  int fold;
  int result;
  friend bool operator==(const ReadState&, const ReadState&) = default;
};
struct WriteState {
  int fold;
  Arg value;
  friend bool operator==(const WriteState&, const WriteState&) = default;
};
// For each element along an axis of few elements, none of which is a loop outside, the product of the others.
struct Others {
  int axis;
  int from, to;                         // buffers
  std::vector<Subscript> from_at, to_at;
  int total = -1;                       // the product of all, if it is wanted
  friend bool operator==(const Others&, const Others&) = default;
};
// Of a part of a loop: a number, or that many after the index of a loop outside.
struct Bound {
  Extent at;
  int axis = -1;
  friend bool operator==(const Bound&, const Bound&) = default;
};
struct Loop;
using Item = std::variant<Loop, Load, Compute, Accumulate, Store, ReadState, WriteState, Others>;

enum class Mark : std::uint8_t { once, units, block, serial, lanes };
struct Loop {
  Mark mark = Mark::serial;
  LoopVar var;
  std::vector<int> folds;               // folds that run over this loop's axis and end with it
  std::vector<Item> body;
  int weight = 0;                       // vector instructions of the body
  bool is_seldom_run = false;           // a vector loop that takes next to none of the function's time (work.h): one vector at a time
  bool is_long_run = false;             // one that takes so long in a call that code for more vectors soon pays
  // Of a loop of vectors: bodies for where conditions on an index are known. Along the loop itself whole vectors between all of `from` and all of
  // `to` may run them instead, part after part; all of it may, while a loop outside is between those (partition.h).
  std::vector<Loop> parts;
  int bounded = -1;                     // of a part: the axis that has the bounds
  std::vector<Bound> from, to;          // none: from the first, to the last
  friend bool operator==(const Loop& a, const Loop& b);
};

struct Fold {                           // or one state of a recurrence, which starts at `start`
  NodeId node;
  AccumulatorId accumulator = AccumulatorId::sum;       // of a recurrence: if it is running
  DType dtype = f64;
  std::optional<Scalar> start;          // a recurrence
  int axis = 0;                         // the folded axis; of a recurrence the outermost one that carries
  bool ordered = false;                 // float sum or product: slots, leaves and tree
  std::vector<int> row_axes;            // kept axes inside the folded loop, outermost first
  int result = -1;                      // the value after the loop, if there are no row axes
  int row = -1;                         // the row buffer that holds the result otherwise
  int partial = -1;                     // merged: the buffer of partial results, one per unit
  int target = -1;                      // merged: the array that gets the result
  std::vector<int> target_axes;         // merged: the nest axis of each of its dimensions, -1 for an extent of 1
  friend bool operator==(const Fold&, const Fold&) = default;
};

struct Program {
  std::string name;
  std::vector<NestAxis> axes;
  Index unit = 1;
  bool is_one_unit = false;             // in all calls: relied on, and of what it folds over the axis that there is some (one_unit.h)
  Index block = 0;
  int vectors = most_vectors;           // side by side in a loop, at most
  std::vector<Buffer> buffers;
  std::vector<DType> values;            // dtype by value number
  std::vector<Fold> folds;
  Loop root;
  // Axes that run through the root and, for each element of it, through a few of another axis: arrays where those have no gap are copied so.
  struct Joined {
    int axis;
    Index few;
    friend bool operator==(const Joined&, const Joined&) = default;
  };
  std::vector<Joined> joined;
  std::vector<int> searched;            // buffers: partial results of a program before, of which a unit is left out that has none of the final ones (search_units.h)

  const NestAxis& axis(int number) const { return axes[static_cast<std::size_t>(number)]; }
  const Buffer& buffer(int number) const { return buffers[static_cast<std::size_t>(number)]; }
  const Fold& fold(int number) const { return folds[static_cast<std::size_t>(number)]; }
  DType dtype_of(int value) const { return values[static_cast<std::size_t>(value)]; }
  DType dtype_of(const Arg& arg) const { return arg.constant ? arg.constant->dtype() : dtype_of(arg.value); }
  Extent units() const { return floor_div(axis(root.var.axis).extent + (unit - 1), unit); }      // of the root, if it goes by them
  double elements() const {             // of all loops, in the call that compiles
    return std::transform_reduce(axes.begin(), axes.end(), 1.0, std::multiplies<>(), [](const NestAxis& each) { return static_cast<double>(std::max<Index>(1, each.hint)); });
  }
  bool is_tiled(int axis) const { return root.var.part == Part::tile && root.var.axis == axis; }
  // How many elements of the axis a unit of the root has for each of its own; 0: the axis does not follow a root in units.
  Index per_root(int axis) const {
    for (const Joined& each : joined) if (each.axis == axis) return each.few;
    return is_tiled(axis) ? 1 : 0;
  }
  friend bool operator==(const Program&, const Program&) = default;
};

Program lower(const Graph& graph, const Schedule& schedule, const Nest& nest, std::string name);   // lower.cpp
std::string to_text(const Graph& graph, const Program& program);                                   // print_program.cpp
int instructions_of(const Loop& loop);                                                              // the weights of its loops and its own
int code_of(const Loop& loop);                                                                      // likewise, and what vector loops come with
// A loop that counts from the other end: the index along the axis becomes the last one less what it has counted (turn_round.cpp).
bool can_turn_round(const Loop& loop, int axis);
bool reads_backwards(const Loop& loop, int axis);            // anything there
void turn_round(Loop& loop, int axis, const Extent& extent);
void verify(const Program& program);                                                               // throws Error(internal)

}  // namespace weft
