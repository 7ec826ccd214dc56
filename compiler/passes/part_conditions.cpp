#include "pipeline.h"

#include <map>
#include <set>

#include "../../graph/passes/rebuild.h"
#include "schedule/conditions.h"
#include "schedule/drafts.h"

namespace weft {
namespace {

using Asked = std::pair<NodeId, std::vector<int>>;               // a condition, and the axes of the reader along which it is asked

class Parts {
 public:
  explicit Parts(const Graph& graph) : graph_(graph), asks_(conditions_on_indices(graph)), rebuild_(graph) {}

  Graph run() {
    for (std::size_t k = 0; k < graph_.size(); ++k) {
      const NodeId id = id_of(k);
      if (asks_[k] || rebuild_.has(id)) continue;
      std::vector<int> from_last(graph_.node(id).domain.size());  // batches come first
      for (std::size_t d = 0; d < from_last.size(); ++d) from_last[d] = static_cast<int>(from_last.size() - 1 - d);
      for (const Asked& each : asked_by(id, from_last)) parts_.emplace(each, rebuild_.to.add(graph_.node(each.first), operands_of(each.first, each.second)));
      rebuild_.set(id, rebuild_.to.add(graph_.node(id), operands_of(id, from_last)));
    }
    return rebuild_.finish();
  }

 private:
  // Those that a reader needs and that are not there, in id order.
  std::set<Asked> asked_by(NodeId id, const std::vector<int>& axes) const {
    std::set<Asked> found;
    std::vector<Asked> due{{id, axes}};
    while (!due.empty()) {
      const Asked reader = std::move(due.back());
      due.pop_back();
      for (int k = 0; k < graph_.arity(reader.first); ++k) {
        Asked each{graph_.operand(reader.first, k), axes_of_operand(graph_, reader.first, k, reader.second)};
        if (asks_[each.first.value] && !parts_.contains(each) && found.insert(each).second) due.push_back(std::move(each));
      }
    }
    return found;
  }
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
