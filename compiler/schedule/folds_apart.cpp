#include "folds_apart.h"

#include <algorithm>

#include "drafts.h"

namespace weft {
namespace {

double bytes_of(const Graph& graph, const Hints& hints, NodeId id) {
  double bytes = static_cast<double>(size_of(graph.node(id).dtype));
  for (const Extent& extent : graph.node(id).shape()) bytes *= static_cast<double>(extent.evaluate(hints.bindings));
  return bytes;
}

class FoldsApart {
 public:
  FoldsApart(const Graph& graph, const Hints& hints, std::vector<Nest>& nests, std::vector<Parting>& partings)
      : graph_(graph), hints_(hints), nests_(nests), partings_(partings), nest_of_(graph.size(), -1) {}

  void run() {
    for (std::size_t n = 0; n < nests_.size(); ++n)
      for (const Placed& placed : nests_[n].nodes) nest_of_[placed.node.value] = static_cast<int>(n);
    find_stencils();
    for (std::size_t n = 0; n < is_linked_.size(); ++n)
      if (is_linked_[n]) take_folds(n);
    if (folds_.empty()) return;
    insert_nests();
  }

 private:
  // Nests one of which reads a large array of the other at other indices than it is made at.
  void find_stencils() {
    is_linked_.assign(nests_.size(), false);
    for (std::size_t n = 0; n < nests_.size(); ++n)
      for (const Placed& reader : nests_[n].nodes)
        for (int k = 0; k < graph_.arity(reader.node); ++k) {
          const NodeId made = graph_.operand(reader.node, k);
          const int maker = nest_of_[made.value];
          if (maker < 0 || maker == static_cast<int>(n) || graph_.node(made).shape().size() < 2) continue;
          const std::vector<int> all(graph_.node(made).domain.size(), 0);
          if (graph_.node(reader.node).kind != Kind::update && reads_in_place(graph_, reader.node, k, all)) continue;
          if (bytes_of(graph_, hints_, made) > near_bytes(hints_.machine)) is_linked_[n] = is_linked_[static_cast<std::size_t>(maker)] = true;
        }
  }

  // A fold of numbers that the nest has one of for each of its rows, and that follow another fold over these.
  bool is_fold_of_rows(const Nest& nest, const Placed& placed) const {
    const Node& node = graph_.node(placed.node);
    if (node.kind != Kind::apply || node.mode != Mode::accumulate || node.kept != 0 || node.domain.size() != 1 || placed.axes[0] < 0) return false;
    bool follows_fold = false;
    for (int k = 0; k < graph_.arity(placed.node); ++k) {
      const NodeId operand = graph_.operand(placed.node, k);
      if (graph_.node(operand).rank() > 1 || !placed.repeats.empty()) return false;
      follows_fold |= nest.find(operand) && graph_.node(operand).mode == Mode::accumulate;
    }
    return follows_fold;
  }
  void take_folds(std::size_t n) {
    Nest& nest = nests_[n];
    std::erase_if(nest.nodes, [&](const Placed& placed) {
      if (!is_fold_of_rows(nest, placed)) return false;
      Nest own;
      own.axes = {nest.axes[static_cast<std::size_t>(placed.axes[0])]};
      own.nodes = {{placed.node, {0}}};
      own.roots = 1;
      folds_.push_back(std::move(own));
      return true;
    });
  }
  // Each right before the first nest that reads it; those of the same rows together.
  void insert_nests() {
    for (Nest& fold : folds_) {
      const NodeId id = fold.nodes[0].node;
      partings_[id.value].earlier = Refusal::slides;
      auto before = std::find_if(nests_.begin(), nests_.end(), [&](const Nest& nest) { return reads(nest, id); });
      if (before != nests_.begin() && is_of_same_rows(*(before - 1), fold)) {
        auto& nodes = (before - 1)->nodes;
        nodes.insert(std::upper_bound(nodes.begin(), nodes.end(), fold.nodes[0], [](const Placed& a, const Placed& b) { return a.node < b.node; }), fold.nodes[0]);
      } else {
        nests_.insert(before, std::move(fold));
      }
    }
  }
  bool reads(const Nest& nest, NodeId id) const {
    return std::any_of(nest.nodes.begin(), nest.nodes.end(), [&](const Placed& placed) {
      for (int k = 0; k < graph_.arity(placed.node); ++k) if (memory_of(graph_, graph_.operand(placed.node, k)) == id) return true;
      return false;
    });
  }
  bool is_of_same_rows(const Nest& other, const Nest& fold) const {
    return other.axes.size() == 1 && other.axes[0].extent == fold.axes[0].extent && other.roots == 1 &&
           std::all_of(other.nodes.begin(), other.nodes.end(), [&](const Placed& placed) { return partings_[placed.node.value].earlier == Refusal::slides; });
  }

  const Graph& graph_;
  const Hints& hints_;
  std::vector<Nest>& nests_;
  std::vector<Parting>& partings_;
  std::vector<int> nest_of_;              // by node
  std::vector<bool> is_linked_;
  std::vector<Nest> folds_;
};

}  // namespace

void set_folds_apart(const Graph& graph, const Hints& hints, std::vector<Nest>& nests, std::vector<Parting>& partings) {
  if (nests.size() > 1) FoldsApart(graph, hints, nests, partings).run();
}

}  // namespace weft
