// Which values of a nest are kept in rows between loops, and which are computed again.
//
// A value used in a loop other than the one that makes it is computed again there if that is cheap or if it is the only
// use; otherwise, and if it is read at another index, it is kept: in its own array if it has one, else in a row of scratch.
#pragma once
#include <set>
#include <unordered_map>
#include <vector>

#include "schedule.h"

namespace weft {

struct HomeLoop {
  const Level* level = nullptr;
  int parent = -1;
  int depth = 0;
};

struct Placement {
  std::vector<HomeLoop> loops;                                   // preorder; 0 is the root
  std::unordered_map<const Level*, int> loop_of;
  std::unordered_map<NodeId, int> place_of;                      // index into nest.nodes
  std::vector<int> home;                                         // by place: the loop that runs the node
  std::vector<int> result_home;                                  // by place: the loop in which its value exists
  std::vector<std::set<int>> computed_in;                        // by place: loops in which it is computed
  std::vector<bool> kept;                                        // by place: read from a row or its array in other loops
  std::vector<int> kept_above;                                   // by place: the loop that encloses all its uses
  std::vector<int> last_read;                                    // by place: the last loop that reads it, or its own

  bool encloses(int outer, int inner) const;                     // outer == inner counts
};

Placement place_values(const Graph& graph, const Schedule& schedule, const Nest& nest);

}  // namespace weft
