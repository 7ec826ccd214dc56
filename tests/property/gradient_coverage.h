// What the gradient of a random graph passes through: the rows, folds, kinds, maps and features whose derivative is compared.
#pragma once
#include <set>
#include <string>
#include <vector>

#include <weft/recurrence.h>

#include "random_graph.h"

inline std::string row_key(weft::Op op, int position) { return weft::concat("op ", weft::info(op).name, " by operand ", position); }

// Whether a derivative passes from a node to one of its operands.
inline bool passes(const weft::Graph& graph, weft::NodeId id, int position) {
  const weft::Node& node = graph.node(id);
  if (!is_floating(node.dtype) || !is_floating(graph.node(graph.operand(id, position)).dtype)) return false;
  if (node.kind != weft::Kind::apply) return true;
  for (const SmoothRow& row : smooth_rows())
    if (row.op == node.op) return std::find(row.positions.begin(), row.positions.end(), position) != row.positions.end();
  return false;
}

inline bool reads(const weft::Graph& graph, weft::NodeId from, weft::NodeId x) {
  const std::vector<weft::NodeId> live = live_nodes(graph, {from});
  return std::binary_search(live.begin(), live.end(), x);
}

inline void add_map_keys(const weft::Node& node, const weft::AxisMap& map, std::set<std::string>& keys) {
  std::vector<bool> mentioned(node.domain.size(), false);
  int last = -1;
  for (const weft::AxisRef& ref : map) {
    if (ref.axis < 0) { keys.insert("map, fixed index"); continue; }
    mentioned[static_cast<std::size_t>(ref.axis)] = true;
    if (ref.axis < last) keys.insert("map, transpose");
    last = ref.axis;
    if (ref.step == -1) keys.insert("map, flip");
    if (std::abs(ref.step) > 1) keys.insert("map, step");
    if (ref.step == 1 && !ref.is_identity()) keys.insert("map, slice");
  }
  if (std::find(mentioned.begin(), mentioned.end(), false) != mentioned.end()) keys.insert("map, broadcast");
}

// Of the nodes between the wrt and the loss.
inline std::set<std::string> gradient_keys(const RandomCase& c, const weft::Graph& graph, weft::NodeId loss, const std::vector<weft::NodeId>& wrt) {
  using namespace weft;
  std::vector<bool> depends(graph.size(), false), reached(graph.size(), false);
  for (NodeId id : wrt) depends[id.value] = true;
  for (std::size_t k = 0; k < graph.size(); ++k)
    for (int p = 0; p < graph.arity(id_of(k)); ++p) depends[k] = depends[k] || (depends[graph.operand(id_of(k), p).value] && passes(graph, id_of(k), p));
  reached[loss.value] = true;
  std::set<std::string> keys;
  for (std::size_t k = graph.size(); k-- > 0;) {
    if (!reached[k] || !depends[k]) continue;
    const Node& node = graph.node(id_of(k));
    for (int p = 0; p < graph.arity(id_of(k)); ++p) {
      const NodeId operand = graph.operand(id_of(k), p);
      if (!depends[operand.value] || !passes(graph, id_of(k), p)) continue;
      reached[operand.value] = true;
      if (node.kind == Kind::apply) keys.insert(row_key(node.op, p));
      add_map_keys(node, graph.map(id_of(k), p), keys);
    }
    if (node.order == Order::f) keys.insert("order f");
    for (const Extent& extent : node.domain)
      if (!extent.is_number()) keys.insert("symbolic extent");
    if (node.mode == Mode::accumulate && node.kind == Kind::apply) keys.insert(concat("fold ", name_of(node.accumulator)));
    if (node.kind == Kind::update) keys.insert("update");
    if (node.kind == Kind::reshape) keys.insert("reshape");
    if (node.kind == Kind::fit) keys.insert("fit");
    if (const auto* recurring = std::get_if<Recurring>(&node.payload)) {
      keys.insert(node.mode == Mode::scan ? "scan" : "fold of one's own");
      keys.insert(concat("accumulator ", recurring->recurrence->name));
    }
  }
  for (const auto& [feature, id] : c.features)
    if (reached[id.value] && depends[id.value]) keys.insert("made by " + feature);
  return keys;
}

inline std::vector<std::string> expected_gradient_keys() {
  std::vector<std::string> keys = {"fold sum", "fold prod", "fold max", "fold min", "fold supremum", "fold infimum", "update", "reshape", "fit", "scan", "fold of one's own",
                                   "order f", "symbolic extent", "map, fixed index", "map, transpose", "map, flip", "map, step", "map, slice", "map, broadcast"};
  for (const SmoothRow& row : smooth_rows())
    for (int position : row.positions) keys.push_back(row_key(row.op, position));
  for (const char* name : {"quarter", "leaky", "last_positive", "halved", "running_mean", "best_prefix", "changes", "gated", "weighed", "moments", "online_logsumexp",
                           "rotation", "counted", "mulplus", "squashed", "sum_of_sines", "product_of_cosines", "given", "sum", "prod", "max", "min"})
    keys.push_back(std::string("accumulator ") + name);
  for (const char* feature :
       {"cumulative_sum", "cumulative_prod", "cumulative_max", "cumulative_min", "cumulative_sum, reversed", "cumulative_prod, reversed", "cumulative_max, reversed",
        "cumulative_min, reversed", "cumulative_sum from its initial value", "cumulative_prod from its initial value", "own fold", "own fold of several axes, order c",
        "own fold of several axes, order f", "own scan", "own fold of two elements", "own scan of two elements", "fold of several values", "scan of several values",
        "scan along several axes", "scan of a fold", "fold of a scan", "sum of a scan", "scan of a scan", "elementwise after a scan", "xla::apply", "xla::apply, a scalar",
        "xla::broadcast_in_dim", "xla::broadcast", "xla::select", "xla::clamp", "broadcast, numpy", "broadcast, explicit", "broadcast, bidirectional", "pdpd",
        "broadcast at the call, numpy", "broadcast at the call, explicit", "broadcast at the call, bidirectional", "tml arithmetic", "tml assign", "tml index",
        "tml index_assign", "tml narrow", "tml mixed roots", "tml arithmetic, nested", "tml assign, nested", "tml index, nested", "tml index_assign, nested",
        "tml narrow, nested", "elemwise, order c", "elemwise, order f", "elemwise, own accumulator", "assign", "concat", "stack", "pad", "roll", "update", "tril and triu",
        "diff", "unstack", "tile", "repeat", "sum where", "prod where", "max where", "min where", "mean where", "var where", "std where", "norm where", "logsumexp where",
        "sum initial", "prod initial", "max initial", "min initial", "norm initial", "logsumexp initial", "mean", "var", "std", "norm", "logsumexp", "softmax",
        "log_softmax", "layer_norm", "gelu", "silu", "one-sided clip"})
    keys.push_back(std::string("made by ") + feature);
  return keys;
}
