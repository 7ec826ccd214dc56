#include "pipeline.h"
#include "../../graph/maps.h"
#include "../../graph/passes/rebuild.h"
#include "vecmath/half.h"

namespace weft {
namespace {

bool is_fold(const Node& node) { return node.mode != Mode::broadcast; }
bool rounds_itself(Op op) { return op == Op::cast || op == Op::nextafter; }

class WidenHalves {
 public:
  explicit WidenHalves(const Graph& graph) : graph_(graph), rebuild_(graph), is_wide_(graph.size(), false), wide_(graph.size()) {}

  Graph run() {
    for (std::size_t k = 0; k < graph_.size(); ++k) {
      const NodeId id = id_of(k);
      if (rebuild_.has(id)) continue;
      if (is_computed(id)) add_wide(id);
      else add_as_it_is(id);
    }
    for (NodeId output : graph_.outputs) stored(output);
    return rebuild_.finish();
  }

 private:
  // Whether the result has to be rounded to be a half. A cast to one asks for that where it stands.
  bool is_computed(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.kind != Kind::apply || !is_half(node.dtype)) return false;
    return is_fold(node) || (!rounds_itself(node.op) && (!keeps_half(node.op) || reads_wide(id)));
  }
  bool reads_wide(NodeId id) const {
    for (int k = 0; k < graph_.arity(id); ++k)
      if (is_wide_[graph_.operand(id, k).value]) return true;
    return false;
  }

  void add_wide(NodeId id) {
    Node node = graph_.node(id);
    const DType half = node.dtype;
    node.dtype = f32;
    std::vector<Operand> operands;
    if (is_fold(node) && rounds_itself(node.op)) {       // each element is a half
      operands = {apply_over_mentioned(rebuild_.to, node.op, half, node.domain, operands_of(id, node.op == Op::cast), node.order)};
      node.op = Op::cast;
    } else if (is_fold(node) && node.op == Op::copy && !reads_wide(id)) {
      operands = operands_of(id, false);                 // and here they are cast as they are folded
      node.op = Op::cast;
    } else {
      operands = operands_of(id, true);
    }
    is_wide_[id.value] = true;
    wide_[id.value] = rebuild_.to.add(std::move(node), std::move(operands));
  }

  void add_as_it_is(NodeId id) {
    Node node = graph_.node(id);
    const bool widens = node.kind == Kind::apply && node.op != Op::nextafter && reads_wide(id);
    if (widens && node.op == Op::cast && node.dtype == f32) node.op = Op::copy;
    rebuild_.set(id, rebuild_.to.add(std::move(node), operands_of(id, widens)));
  }

  std::vector<Operand> operands_of(NodeId id, bool widen) {
    std::vector<Operand> operands;
    for (int k = 0; k < graph_.arity(id); ++k) {
      const NodeId operand = graph_.operand(id, k);
      operands.push_back({widen && is_half(graph_.node(operand).dtype) ? widened(operand) : stored(operand), graph_.map(id, k)});
    }
    return operands;
  }

  NodeId stored(NodeId id) {
    if (!rebuild_.has(id)) rebuild_.set(id, cast(wide_[id.value], id, graph_.node(id).dtype));
    return rebuild_[id];
  }
  NodeId widened(NodeId id) {
    NodeId& wide = wide_[id.value];
    const Node& node = graph_.node(id);
    if (wide != NodeId{}) return wide;
    const Scalar* number = node.kind == Kind::constant ? std::get_if<Scalar>(&node.payload) : nullptr;
    return wide = number ? rebuild_.to.constant(Scalar::of(f32, number->real())).id() : cast(rebuild_[id], id, f32);
  }
  NodeId cast(NodeId value, NodeId like, DType to) {
    const Node& node = graph_.node(like);
    return rebuild_.to.apply(Op::cast, to, node.shape(), {Operand{value, identity_map(node.kept)}}, node.order);
  }

  const Graph& graph_;
  Rebuild rebuild_;
  std::vector<bool> is_wide_;                            // by node: computed in f32 ..
  std::vector<NodeId> wide_;                             // .. its value there; of a half that lies in memory its cast, where one is read
};

}  // namespace

Graph widen_halves(const Graph& graph) { return WidenHalves(graph).run(); }

}  // namespace weft
