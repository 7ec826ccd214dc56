#include "scalars.h"

#include <algorithm>
#include <map>
#include <set>

#include "cost_model.h"

namespace weft {
namespace {

class Scalars {
 public:
  Scalars(const Graph& graph, std::vector<Nest>& nests) : graph_(graph), nests_(nests), runs_in_(graph.size()), is_output_(result_marks(graph)) {
    for (std::size_t k = 0; k < nests.size(); ++k)
      for (const Placed& placed : nests[k].nodes) runs_in_[placed.node.value].push_back(k);
  }

  void run() {
    for (std::size_t k = nests_.size(); k-- > 0;) {
      if (!nests_[k].axes.empty() || !find_makers(k)) continue;
      for (const Placed& scalar : nests_[k].nodes)
        for (std::size_t maker : runs_in_[scalar.node.value]) nests_[maker].nodes.push_back(scalar);
      nests_[k].nodes.clear();
    }
    std::erase_if(nests_, [](const Nest& nest) { return nest.nodes.empty(); });
    const auto by_id = [](const Placed& a, const Placed& b) { return a.node < b.node; };
    for (Nest& nest : nests_)
      if (!std::is_sorted(nest.nodes.begin(), nest.nodes.end(), by_id)) std::sort(nest.nodes.begin(), nest.nodes.end(), by_id);
  }

 private:
  bool is_read_from_memory(NodeId id) const {
    const std::vector<NodeId> users = graph_.users(id);
    return std::any_of(users.begin(), users.end(), [&](NodeId user) { return graph_.node(user).kind == Kind::update || graph_.node(user).kind == Kind::reshape; });
  }

  // For each scalar of nests[own] the nests that need it, by way of others too. False, and nothing changed, if they had better not make them.
  bool find_makers(std::size_t own) {
    const auto& scalars = nests_[own].nodes;
    std::map<NodeId, std::set<std::size_t>> makers;
    int cost = 0;
    for (auto scalar = scalars.rbegin(); scalar != scalars.rend(); ++scalar) {       // readers before what they read
      if (is_output_[scalar->node.value] || is_read_from_memory(scalar->node)) return false;
      std::set<std::size_t>& of_scalar = makers[scalar->node];
      const int once = op_cost(graph_.node(scalar->node).op);
      for (NodeId user : graph_.users(scalar->node)) {
        if (const auto beside = makers.find(user); beside != makers.end()) of_scalar.insert(beside->second.begin(), beside->second.end());
        else of_scalar.insert(runs_in_[user.value].begin(), runs_in_[user.value].end());
        if (cost + once * static_cast<int>(of_scalar.size()) > few_scalar_ops) return false;
      }
      cost += once * static_cast<int>(of_scalar.size());
      if (std::any_of(of_scalar.begin(), of_scalar.end(), [&](std::size_t k) { return nests_[k].roots == 0 && !nests_[k].axes.empty(); })) return false;
    }
    for (const auto& [scalar, of_scalar] : makers) runs_in_[scalar.value].assign(of_scalar.begin(), of_scalar.end());
    return true;
  }

  const Graph& graph_;
  std::vector<Nest>& nests_;
  std::vector<std::vector<std::size_t>> runs_in_;      // by node
  const std::vector<bool> is_output_;
};

}  // namespace

void make_scalars_where_read(const Graph& graph, std::vector<Nest>& nests) { Scalars(graph, nests).run(); }

}  // namespace weft
