#include "pipeline.h"

#include <map>

#include "../../graph/passes/rebuild.h"
#include "schedule/conditions.h"
#include "schedule/readers.h"

namespace weft {
namespace {

class Parts {
 public:
  explicit Parts(const Graph& graph) : graph_(graph), asks_(conditions_on_indices(graph)), rebuild_(graph) {}

  Graph run() {
    for (std::size_t k = 0; k < graph_.size(); ++k) {
      const NodeId id = id_of(k);
      if (asks_[k] || rebuild_.has(id)) continue;
      std::vector<int> from_last(graph_.node(id).domain.size());  // batches come first
      for (std::size_t d = 0; d < from_last.size(); ++d) from_last[d] = static_cast<int>(from_last.size() - 1 - d);
      for (const Asked& each : find_asked(graph_, asks_, id, from_last, [&](const Asked& asked) { return parts_.contains(asked); }))
        parts_.emplace(each, rebuild_.to.add(graph_.node(each.first), operands_of(each.first, each.second)));
      rebuild_.set(id, rebuild_.to.add(graph_.node(id), operands_of(id, from_last)));
    }
    return rebuild_.finish();
  }

 private:
  std::vector<Operand> operands_of(NodeId id, const std::vector<int>& axes) const {
    std::vector<Operand> operands;
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId operand = graph_.operand(id, k);
      operands.push_back({asks_[operand.value] ? parts_.at({operand, axes_of_operand(graph_, id, k, axes)}) : rebuild_[operand], graph_.map(id, k)});
    }
    return operands;
  }

  const Graph& graph_;
  const std::vector<bool> asks_;
  Rebuild rebuild_;
  std::map<Asked, NodeId> parts_;
};

}  // namespace

Graph part_conditions(const Graph& graph) { return Parts(graph).run(); }

}  // namespace weft
