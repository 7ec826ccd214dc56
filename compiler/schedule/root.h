// The root of a nest: the axis of its outermost loop, the only one that is split over threads.
#pragma once
#include <cstdint>
#include <vector>

#include "axis_use.h"

namespace weft {

// How well nodes can be split over threads, before their nests are arranged.
class RootPreference {
 public:
  RootPreference(const Graph& graph, const Hints& hints);

  // Adds what a node does along the axes of a nest: axes[k] is the one of domain axis k, or -1.
  void add(NodeId id, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, AxisUses& uses) const;

  // Whether a node and the nodes of a nest should part, though they fit together.
  //   alone   the node by itself      nest   the nest without it      joined   the nest with it
  // The roots that are left may make the vector axis the root, one of few elements in the same lines, or one over which large results are folded, where one
  // side by itself had a better one. If one side runs over more axes, what the other makes for it is small beside its work: they part. Otherwise both read
  // the same arrays, and part only if the tiles of the shared nest do not stay in cache, or are too few for the threads. What folds the root of a larger
  // nest to less than a leaf for each thread parts from it: the sum over rows of their sums. What is small and made of inputs alone parts too where its root
  // would take the nest through memory in short runs, and what had a better root than one of a few elements side by side.
  struct Side {
    const AxisUses& uses;
    std::uint64_t roots;
    const std::vector<NestAxis>& axes;
    int rank;                           // axes of the node, or of the largest node of the nest
    std::uint64_t summed = 0;           // the node: axes of the nest over which it keeps sixteen parts of so many elements; none of products of matrices
    double kept = 0;
    bool reads_nest = false;            // the node: values of the nest that have as many axes as it
    bool is_ready = false;              // the node: no fold, and made of inputs alone
    bool follows_scan = false;          // the node: reads what it reads of the nest where it is made, and one is there
  };
  bool should_part(const Side& alone, const Side& nest, const Side& joined, Index element_size) const;

 private:
  struct Choice {
    int axis = -1;
    std::size_t vectors = 0;            // the axis that would run as these
    double penalty = 0;
    bool lanes = false, shares_lines = false, large_results = false;
  };
  Choice best(const Side& side) const;
  bool folds_to_rows(const Side& alone, const Side& nest, const Side& joined, const Choice& together, Index element_size, double bytes) const;
  bool wastes_threads(const Side& side, const Choice& root, double bytes) const;
  static bool crosses_lines(const Side& joined, const Choice& root);
  bool shortens_runs(const Side& nest, const Side& joined, const Choice& root, double bytes) const;

  const Graph& graph_;
  const Hints& hints_;
  std::vector<std::vector<double>> strides_;           // by node and domain axis: of the memory that is read along it
};

}  // namespace weft
