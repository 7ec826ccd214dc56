// Nests while they are put together: which node has joined which, over which axes, and which roots are left.
#pragma once
#include <cstdint>
#include <map>
#include <set>

#include "products.h"
#include "readers.h"
#include "root.h"

namespace weft {

inline constexpr std::size_t max_axes = 48;             // of a nest: `roots` has a bit for each

struct Draft {
  Nest nest;
  std::uint64_t roots = 0;                             // bit a: axis a can be the root
  bool runs_once = false;                              // recurrences carry every axis
  bool scans = false;
  int rank = 0;                                        // the most axes of a node
  std::uint64_t one_by_one = 0;                        // axes of recurrences whose steps wait for each other
  AxisUses uses;                                       // by axis
  std::optional<Product> product;                      // of matrices, if a node is one
  int instructions = 0;                                // of all products that there are
  std::set<std::pair<int, int>> nested;                // (a, b): a runs outside b, for a recurrence over both
  std::map<std::pair<NodeId, int>, int> array_axes;    // (array, dimension) -> nest axis, from the first access
};

class Drafts {
 public:
  Drafts(const Graph& graph, const Hints& hints);

  int add();                                           // an empty one, which any node of at most max_axes loops fits
  // The node joins if its axes can be bound to axes of the nest such that values made there are read at the index they are made at, or
  // from rows of bearable size, a root is left, and no one loses a better root by it.
  bool join(NodeId id, int draft);
  // The same for a node that nodes of the nest read: its axes are those its readers give it.
  bool join_readers(NodeId id, const std::vector<NodeId>& readers);

  int of(NodeId id) const { return draft_of_[id.value]; }        // -1: none yet
  const Placed& placed(NodeId id) const { return drafts_[static_cast<std::size_t>(of(id))].nest.nodes[place_of_[id.value]]; }
  Nest take(int draft);                                // its nodes in id order
  const std::vector<Parting>& partings() const { return partings_; }

 private:
  enum class Direction : std::uint8_t { any, forwards, backwards, both };        // both: of values that loops keep for each other
  bool bind_made(NodeId id, int draft, std::vector<int>& axes, std::uint64_t& complete) const;
  bool row_fits(const Draft& draft, NodeId made, const std::vector<int>& axes, std::uint64_t roots) const;
  bool rows_fit(NodeId id, int draft, std::uint64_t roots) const;
  Direction direction_of(NodeId id, int draft) const;
  void bind_shared_arrays(NodeId id, const Draft& draft, std::vector<int>& axes) const;
  bool bind_rest(const Node& node, Draft& draft, std::vector<int>& axes, bool may_add) const;
  bool holds_up_scan(const Draft& draft, NodeId reader, NodeId scan, const std::vector<int>& axes) const;
  bool holds_up_scan(NodeId id, int nest) const;
  bool runs_one_by_one(const Draft& draft, NodeId id, const std::vector<int>& axes) const;
  bool is_other_product(const Draft& draft, NodeId id, const std::vector<int>& axes) const;
  bool parts_product(const Draft& draft, NodeId id, const std::vector<int>& axes, std::uint64_t mine, std::uint64_t roots) const;
  bool costs_a_root(const Draft& draft, NodeId id, const std::vector<int>& axes, std::uint64_t mine, std::uint64_t roots) const;
  void note_sums(const Draft& draft, NodeId id, const std::vector<int>& axes, RootPreference::Side& alone) const;
  void note_readings(const Draft& draft, NodeId id, const std::vector<int>& axes, RootPreference::Side& alone) const;
  bool refuse(NodeId id, Refusal Parting::*of, Refusal why);
  void admit(NodeId id, int draft, std::vector<int> axes, std::uint64_t roots);

  const Graph& graph_;
  const Hints& hints_;
  const RootPreference preference_;
  std::vector<int> draft_of_;                          // by node
  std::vector<std::size_t> place_of_;                  // by node: index into the nodes of its draft
  std::vector<Direction> directions_;                  // by node
  std::vector<Draft> drafts_;
  std::vector<Parting> partings_;                      // by node
  const std::vector<bool> asks_;                       // by node
};

}  // namespace weft
