// The generator reaches what it is meant to reach: each feature shows in some of the graphs of a normal run.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include <weft/settle.h>

#include "random_graph.h"

using namespace weft;

namespace {

// What the templates of random_recurrences.h and random_rules.h call what they make.
const std::vector<std::string> features = {
    "cumulative_sum", "cumulative_prod", "cumulative_max", "cumulative_min", "cumulative_sum, reversed", "cumulative_prod, reversed",
    "cumulative_max, reversed", "cumulative_min, reversed", "cumulative_sum from its initial value", "cumulative_prod from its initial value", "own fold", "own fold of several axes, order c", "own fold of several axes, order f",
    "own scan", "own fold of two elements", "own scan of two elements", "fold of several values", "scan of several values", "scan along several axes",
    "scan of a fold", "fold of a scan", "sum of a scan", "scan of a scan", "elementwise after a scan",
    "xla::apply", "xla::apply, a scalar", "xla::broadcast_in_dim", "xla::broadcast", "xla::select", "xla::clamp",
    "broadcast, numpy", "broadcast, explicit", "broadcast, bidirectional", "pdpd",
    "broadcast at the call, numpy", "broadcast at the call, explicit", "broadcast at the call, bidirectional",
    "tml arithmetic", "tml relational", "tml assign", "tml index", "tml index_assign", "tml narrow", "tml mixed roots", "tml logical", "tml bitwise",
    "tml arithmetic, nested", "tml relational, nested", "tml assign, nested", "tml index, nested", "tml index_assign, nested", "tml narrow, nested",
    "elemwise, order c", "elemwise, order f", "elemwise, own accumulator", "assign",
    "concat", "stack", "pad", "roll", "update", "tril and triu", "diff", "unstack", "tile", "repeat", "argmax", "argmin",
    "sum where", "prod where", "max where", "min where", "any, all where", "count_nonzero where", "bitwise folds where",
    "sum initial", "max initial", "bitwise folds"};

void count_map(const Node& node, const Node& operand, const AxisMap& map, std::map<std::string, int>& seen) {
  std::vector<bool> mentioned(node.domain.size(), false);
  int last = -1;
  for (std::size_t k = 0; k < map.size(); ++k) {
    const AxisRef& ref = map[k];
    if (ref.axis < 0) { ++seen[ref.start.is_number() ? "fixed index" : "symbolic fixed index"]; continue; }
    mentioned[static_cast<std::size_t>(ref.axis)] = true;
    seen["transpose"] += ref.axis < last;
    last = ref.axis;
    seen["flip"] += ref.step == -1;
    seen["step"] += std::abs(ref.step) > 1;
    seen["slice"] += ref.step == 1 && !ref.is_identity();
  }
  for (std::size_t axis = 0; axis < mentioned.size(); ++axis) seen["broadcast"] += !mentioned[axis];
  seen["operand of rank 5"] += operand.kept == 5;
}

void count_node(const Graph& graph, NodeId id, const Bindings& sizes, std::map<std::string, int>& seen) {
  const Node& node = graph.node(id);
  ++seen[std::string("dtype ") + to_text(node.dtype)];
  static const char* kinds[] = {"input", "constant", "iota", "extent", "apply", "update", "recurrence", "reshape", "others", "fit"};
  ++seen[kinds[static_cast<int>(node.kind)]];
  if (node.kind == Kind::apply) ++seen[std::string("op ") + std::string(info(node.op).name)];
  seen["order f"] += node.order == Order::f;
  seen["rank 5"] += node.kept == 5;
  for (const Extent& extent : node.domain) {
    const Index size = extent.evaluate(sizes);
    ++seen[size == 0 ? "extent 0" : size == 1 ? "extent 1" : size <= 40 ? "extent to 40" : size < 1024 ? "extent below a leaf" : "extent of a leaf or more"];
    seen["symbolic extent"] += !extent.is_number();
    seen["unit symbol"] += !extent.is_number() && size == 1;
  }
  if (node.mode == Mode::accumulate) {
    ++seen[std::string("fold ") + std::string(name_of(node.accumulator))];
    seen["fold of several axes"] += static_cast<int>(node.domain.size()) > node.kept + 1;
    seen["fold of a leading axis, another kept"] += node.kept > 0;
    const Index length = node.domain.back().evaluate(sizes);
    seen["fold over 1024"] += length == 1024;
    seen["fold over 1025"] += length == 1025;
    seen["fold over 5000"] += length == 5000;
    seen["empty fold"] += length == 0;
  }
  for (int p = 0; p < graph.arity(id); ++p) count_map(node, graph.node(graph.operand(id, p)), graph.map(id, p), seen);
}

}  // namespace

TEST_CASE("random graphs show every op, dtype, kind, map and size that they should") {
  std::map<std::string, int> seen, made;
  for (std::uint64_t seed = 1; seed <= 12000; ++seed) {
    SeededSource random(seed);
    const RandomCase c = random_case(random, Recipe());
    const Bindings sizes = bind_symbols(c.graph, c.graph.inputs, c.inputs);
    const auto live = live_nodes(c.graph, c.graph.outputs);
    for (NodeId id : live) count_node(c.graph, id, sizes, seen);
    std::set<std::string> here;
    for (const auto& [feature, id] : c.features)
      if (std::binary_search(live.begin(), live.end(), id)) here.insert(feature);
    for (const std::string& feature : here) ++made[feature];
    seen["several outputs"] += c.graph.outputs.size() > 1;
    for (char way : fit_key(c.graph, sizes)) ++seen[concat("axes meet ", way)];
    seen["300 nodes"] += live.size() > 300;
  }
  std::string text;
  for (const auto& [feature, count] : seen) text += concat("  ", feature, " ", count, "\n");
  for (const auto& [feature, count] : made) text += concat("  made by ", feature, " ", count, "\n");
  MESSAGE("\n", text);
  for (const auto& [feature, count] : seen) {
    CAPTURE(feature);
    CHECK(count >= 5);
  }
  CHECK(seen["recurrence"] >= 5);
  CHECK(seen["others"] >= 5);
  CHECK(seen["reshape"] >= 5);
  CHECK(seen["fit"] >= 5);
  for (const char* way : {"=", "1", "t"}) CHECK(seen[concat("axes meet ", way)] >= 5);      // either is 1: weft/settle.h
  for (const std::string& feature : features) {
    CAPTURE(feature);
    CHECK(made[feature] >= 5);
  }
  for (const OpInfo& row : op_table()) {
    CAPTURE(std::string(row.name));
    CHECK(seen[std::string("op ") + std::string(row.name)] >= 5);
  }
}

TEST_CASE("any bytes make a graph: the generator runs on a fuzzer's input") {
  SeededSource random(7);
  for (int k = 0; k < 300; ++k) {
    std::vector<std::uint8_t> bytes(random.small(400));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.small(256));
    ByteSource source(bytes);
    const RandomCase c = random_case(source, Recipe());
    CHECK(!c.graph.outputs.empty());
  }
}
