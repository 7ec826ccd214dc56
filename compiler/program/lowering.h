// Schedule -> Program, while it happens: the loops that are open, the values made in them, the buffers they need.
//   lower.cpp             loops, and what runs in them
//   lower_buffers.cpp     arrays, and rows of scratch
//   lower_values.cpp      what is computed, and where what it reads is
//   lower_fold.cpp        folds: where they start and end, where their results go
//   lower_others.cpp      products of all other elements of a row
//   lower_recurrence.cpp  recurrences: states carried from element to element
#pragma once
#include <algorithm>
#include <functional>
#include <map>

#include "program.h"
#include "schedule/placement.h"

namespace weft {

struct Frame {
  Loop loop;
  int index = -1;                                               // number of the loop in Placement
  std::unordered_map<NodeId, Arg> values;
  std::map<std::pair<NodeId, std::string>, Arg> loads;          // by array and printed subscripts
};

class Lowering {
 public:
  Lowering(const Graph& graph, const Schedule& schedule, const Nest& nest, std::string name);
  Program run();

 private:
  // lower_buffers.cpp
  int buffer_of(NodeId array);
  int new_row(Place place, NodeId node, DType dtype, std::vector<int> axes);
  int new_row(Place place, NodeId node, std::vector<int> axes) { return new_row(place, node, graph_.node(node).dtype, std::move(axes)); }
  static std::vector<Subscript> follow(const std::vector<int>& axes);
  std::vector<Subscript> own_subscripts(const Placed& placed) const;
  int kept_row(int place);
  std::vector<int> axes_below(const Placed& placed, int outer) const;

  // lower_values.cpp
  int new_value(DType dtype);
  Frame& frame_of(const std::vector<int>& axes);
  Arg load(NodeId array, int buffer, const std::vector<Subscript>& at, bool guarded = false);
  Arg load(Frame& frame, NodeId array, int buffer, const std::vector<Subscript>& at, bool guarded = false);
  std::vector<Subscript> subscripts(const Placed& user, int position) const;
  std::vector<Subscript> row_subscripts(const Placed& user, int position, int place, int row) const;
  Arg counted(NodeId id, Index times);
  Arg immediate(NodeId id, const Placed& user, int position);
  Arg operand(const Placed& user, int position);
  Arg value_of(int place);
  Arg kept_value(const Placed& user, int position, const Placed& made, int place);
  Arg compute(int place, Frame& frame);
  void accumulate(const Placed& placed, int fold);

  // lower.cpp
  Loop lower_loop(const Level& level);
  void run_node(int place);
  void store_or_keep(int place, const Arg& value);

  // lower_fold.cpp
  bool ends_fold(int place, int loop) const;
  void open_fold(int place);
  void close_fold(int index);
  void publish(int index, int buffer, std::vector<Subscript> at);
  void over_row(const std::vector<int>& axes, const std::function<void()>& body);

  // lower_others.cpp
  void run_others(int place);
  int total_of(int place) const;

  // lower_recurrence.cpp
  struct Chain {                                                // the states of recurrences that do the same
    std::vector<int> places;
    int loop = -1;                                              // the loop that carries them; -1: one element, no loop
    bool is_running = false;                                    // a loop of vectors
    std::vector<int> folds;                                     // one per state
    std::vector<Arg> now;                                       // the step's outputs at the current element
  };
  std::vector<int> carried_axes_of(int place) const;            // of the nest
  bool carries(int place, int loop) const;
  bool same_chain(int a, int b) const;
  void open_chain(int place);
  void close_chain(Chain chain);
  std::vector<Arg> read_states(const Chain& chain, Frame& frame);
  void step_chain(Chain& chain);
  void run_recurrence(int place);
  Arg finish_as(int place, const std::vector<Arg>& states, Frame& frame);
  Arg finished_from_rows(int place);
  std::vector<Arg> inline_graph(const Graph& graph, const std::vector<Arg>& inputs, const std::vector<bool>& wanted, Frame& frame, int running = -1);

  const Graph& graph_;
  const Schedule& schedule_;
  const Nest& nest_;
  Placement placement_;
  std::vector<int> fold_places_, recurrence_places_;
  std::vector<int> fold_of_;
  std::unordered_map<int, int> totals_;                         // folds that products of others make with theirs, by place of these
  std::vector<Chain> chains_;
  std::vector<int> chain_of_;                                   // by place
  Program program_;
  std::vector<Frame> frames_;
  std::unordered_map<NodeId, int> array_buffers_;
  std::unordered_map<int, int> kept_rows_;
};

}  // namespace weft
