#include "folds_apart.h"

#include <algorithm>

#include "readers.h"

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

  // A fold of numbers that the nest has one of for each of its rows, and that follow another fold over these; only later nests read it.
  bool is_fold_of_rows(std::size_t n, const Placed& placed) const {
    const Nest& nest = nests_[n];
    const Node& node = graph_.node(placed.node);
    if (first_reader(placed.node) <= n) return false;
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
    for (const Placed& placed : nest.nodes)
      if (is_fold_of_rows(n, placed)) {
        partings_[placed.node.value].earlier = Refusal::slides;
        folds_.push_back({placed.node, nest.axes[static_cast<std::size_t>(placed.axes[0])]});
      }
    std::erase_if(nest.nodes, [&](const Placed& placed) { return partings_[placed.node.value].earlier == Refusal::slides; });
  }
  // The first nest that reads a value, by way of reshapes too.
  std::size_t first_reader(NodeId id) const {
    std::size_t first = nests_.size();
    for (NodeId user : graph_.users(id)) {
      const int nest = nest_of_[user.value];
      first = std::min(first, nest >= 0 ? static_cast<std::size_t>(nest) : graph_.node(user).kind == Kind::reshape ? first_reader(user) : nests_.size());
    }
    return first;
  }
  // Each fold right before the first nest that reads it; those of the same rows share a nest.
  void insert_nests() {
    std::vector<std::vector<Nest>> before(nests_.size() + 1);
    for (const auto& [id, rows] : folds_) {
      auto& here = before[first_reader(id)];
      auto nest = std::find_if(here.begin(), here.end(), [&](const Nest& other) { return other.axes[0].extent == rows.extent; });
      if (nest == here.end()) {
        here.emplace_back();
        nest = here.end() - 1;
        nest->axes = {rows};
        nest->roots = 1;
      }
      nest->nodes.push_back({id, {0}});
    }
    std::vector<Nest> all;
    for (std::size_t n = 0; n < before.size(); ++n) {
      for (Nest& nest : before[n]) {
        std::sort(nest.nodes.begin(), nest.nodes.end(), [](const Placed& a, const Placed& b) { return a.node < b.node; });
        all.push_back(std::move(nest));
      }
      if (n < nests_.size()) all.push_back(std::move(nests_[n]));
    }
    nests_ = std::move(all);
  }

  const Graph& graph_;
  const Hints& hints_;
  std::vector<Nest>& nests_;
  std::vector<Parting>& partings_;
  std::vector<int> nest_of_;              // by node
  std::vector<bool> is_linked_;
  struct Fold {
    NodeId node;
    NestAxis rows;
  };
  std::vector<Fold> folds_;
};

}  // namespace

void set_folds_apart(const Graph& graph, const Hints& hints, std::vector<Nest>& nests, std::vector<Parting>& partings) {
  if (nests.size() > 1) FoldsApart(graph, hints, nests, partings).run();
}

}  // namespace weft
