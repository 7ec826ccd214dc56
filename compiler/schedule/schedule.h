// Where each value is computed: nests of loops over shared axes.
//
// A Nest is a set of nodes that share one outermost axis (the root) and run as one stage. Its loops form a tree: several
// inner loops per outer iteration are normal (a softmax is three loops over j inside one loop over i).
//
//   S1 each live node has one home loop in a nest; only elementwise values that are not stored run in several nests
//   S2 it sits under loops covering its domain
//   S3 producers come first, or are stored by an earlier nest
//   S4 only the root is split over threads   S5 lanes only innermost
//   S6 a node folding over the root axis is a merge: its value exists after the nest
//   S7 a loop over an axis that carries a recurrence is serial, and its axes nest in visiting order; it runs backwards if that does
#pragma once
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include <weft/graph.h>

#include "cost_model.h"
#include "size_facts.h"

namespace weft {

// What the scheduler may assume about an array: its strides in elements. Correctness depends on the class of a stride
// (stride_class.h) and on which axes have no gap to the next, which the specialisation key names; otherwise the
// numbers and the extents of `Hints` only guide the cost model.
struct Layout {
  Dims strides;
};
struct Hints {
  Bindings bindings;                                   // symbol values of the call that compiles this variant
  Facts facts;                                         // hold in all calls of this variant: these are no hints
  std::unordered_map<NodeId, Layout> arrays;           // inputs, constants and outputs
  int threads = 1;
  Machine machine = {};
  bool masks = true;                                   // the code has registers of masks
  PastCaches stream = PastCaches::no;
  std::vector<bool> turned = {};                       // see turned_arrays
};

// By node id: arrays between nests that lie the other way round than the graph says, since most bytes of the call's arrays do. None: empty.
std::vector<bool> turned_arrays(const Graph& graph, const Hints& hints);

// How the array of a node lies in memory, if it is not one of the call's.
inline Order layout_of(const Graph& graph, const std::vector<bool>& turned, NodeId id) {
  const Order order = graph.node(id).order;
  return turned.empty() || !turned[id.value] ? order : order == Order::c ? Order::f : Order::c;
}

struct NestAxis {
  Extent extent;
  Index hint = 0;                                      // the extent in the call that compiles
  SizeFacts known = {};                                // of the extent, in all calls
  friend bool operator==(const NestAxis&, const NestAxis&) = default;
};

// What dimension `dim` of an operand does along an axis of two that were merged, where a loop runs through pixels and channels at once: it has
// `period` elements, over and over, such as a gain for each channel; or each of its elements stays for `each` of the axis, such as a mean for
// each pixel. `along`: the axis of the node's domain that became the merged one.
struct Repeat {
  int operand, dim, along;
  Index period = 0, each = 1;
};

// Where an operand is read from some index on along the outer one of two merged axes: the same elements are so many along the inner dimension, whose
// stride is known more often. Of an update, always: the axes of its result, along the inner of which its window lies.
struct Shift {
  int operand, from, to;
  Index each;                           // elements of `to` for one of `from`
};

// The position of a node in a nest: which nest axis each domain axis runs over; -1 for an extent of exactly 1.
struct Placed {
  NodeId node;
  std::vector<int> axes;
  std::vector<Repeat> repeats = {};
  std::vector<Shift> shifts = {};
  Index counts = 1;                     // of a comparison of an index with a number: both sides, so many for one, since the axis is merged with that many
};

// A loop variable of a nest.
//   tile     over units of the root axis
//   block    over blocks of the current unit: short enough that what their rows touch stays in cache
//   element  over single elements of the axis, or of the current block or unit
//   vector   the same, for values that follow the root axis alone: sixteen elements at a time
enum class Part : std::uint8_t { element, tile, block, vector };
struct LoopVar {
  int axis = -1;
  Part part = Part::element;
  bool splits() const { return part == Part::tile || part == Part::block; }     // gives a range, not an index
  friend bool operator==(const LoopVar&, const LoopVar&) = default;
};

struct Level {
  LoopVar var;
  bool lanes = false;                                  // innermost: runs as vectors
  bool backwards = false;                              // from the last index to the first
  std::vector<std::variant<Level, NodeId>> body;       // in execution order
};

// What was compared when a nest was arranged; report() tells it.
struct AxisChoice {
  double steps = 0;                                    // how far memory moves along the axis: loops nest by it
  double vectors = 0;                                  // cost as the vector axis
  RootCost root;
};
struct BlockChoice {
  double along_root = 0, row = 0;                      // vector instructions of a row: of values along the root alone, and of the others
  bool stay_near = true;                               // .. and whether a block of them would stay in the first level
};

// A body that became several loops (distribute.h): its vector instructions, how many loops, and the rows that are needed at once.
struct Distribution {
  int body = 0, loops = 0, rows = 0;
};

struct Nest {
  std::vector<NestAxis> axes;
  std::vector<Placed> nodes;                           // in id order
  std::uint64_t roots = 0;                             // bit a: axis a can be the root; none: the nest runs once
  std::vector<LoopVar> vars;                           // outermost first; empty or the first one without an axis: run once
  Index unit = 1;                                      // elements of the root axis per unit of parallel work
  Index block = 0;                                     // > 0: values that follow the root alone run as vectors over blocks
  int lanes = -1;                                      // the axis that runs as vectors
  Level root;                                          // var.axis == -1 for a nest without axes
  std::vector<std::pair<Extent, Extent>> merged;       // axes that became one, outer and inner
  std::vector<AxisChoice> compared;                    // by axis
  BlockChoice blocks;
  Distribution distribution;

  const Placed* find(NodeId id) const;                 // null if the nest does not run it
};

// Why a node does not share a nest: the first one it tried, and the one of its readers.
enum class Refusal : std::uint8_t { none, loops, indices, axes, order, no_root, long_rows, one_by_one, better_root, other_product, factor, slides };
struct Parting {
  Refusal earlier = Refusal::none, readers = Refusal::none;
};

// A value that several nests read: its costs, made again in each and as an array, in vector instructions for 64 bytes. Infinite: more than the array.
struct Again {
  NodeId node;
  std::size_t nests;                                   // that read it, apart from its own
  double cost, as_array;
  bool chosen;
};

struct Schedule {
  std::vector<Nest> nests;
  std::vector<bool> stored;                            // by node id: has an array (an output, or read by a later nest)
  std::vector<Parting> partings;                       // by node id
  std::vector<Again> again;
  std::vector<bool> turned;                            // as the hints say
};

// Other kinds are no work: arguments, numbers, and other names for memory.
inline bool is_scheduled(const Node& node) { return node.kind == Kind::apply || node.kind == Kind::update || node.kind == Kind::recurrence || node.kind == Kind::others; }

// The node whose array holds the elements of `id`: a reshape names those of its operand (store_reshapes sees to the layout).
inline NodeId memory_of(const Graph& graph, NodeId id) {
  while (graph.node(id).kind == Kind::reshape) id = graph.operand(id, 0);
  return id;
}

// What an output's array holds: the output itself, or what it reshapes (passes/reshape_results.cpp).
std::vector<NodeId> results_of(const Graph& graph);
std::vector<bool> result_marks(const Graph& graph);          // by node

std::vector<Nest> group_nests(const Graph& graph, const Hints& hints, std::vector<Parting>& partings);    // group.cpp
void collapse_axes(const Graph& graph, const Hints& hints, const Schedule& schedule, Nest& nest);   // collapse.cpp
void arrange(const Graph& graph, const Hints& hints, const Schedule& schedule, Nest& nest);         // arrange.cpp
Schedule make_schedule(const Graph& graph, const Hints& hints);                                      // schedule.cpp
inline char axis_letter(int axis) { return "ijklmnopqrstuvwxyzabcdefgh"[axis % 26]; }
std::string to_text(const Graph& graph, const Schedule& schedule);                                   // arrays in layout F end in f
void verify(const Graph& graph, const Schedule& schedule);                                           // throws Error(internal)

// The domain axes along which a recurrence carries its states, in visiting order, or along which each element reads all others; none for
// other nodes.
std::vector<int> carried_axes(const Node& node);

}  // namespace weft
