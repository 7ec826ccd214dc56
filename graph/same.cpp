#include <weft/text.h>

#include <unordered_map>

#include "payload.h"
#include "text/print.h"

namespace weft {
namespace {

bool equal_arrays(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const Array left = a.copy(Order::c), right = b.copy(Order::c);
  const auto* p = static_cast<const std::byte*>(left.data());
  const auto* q = static_cast<const std::byte*>(right.data());
  const auto size = item_bytes(a.dtype());
  for (Index k = 0; k < left.size(); ++k)
    if (!(Scalar::load(a.dtype(), p + k * size) == Scalar::load(a.dtype(), q + k * size))) return false;
  return true;
}

bool equal_nodes(const Node& a, const Node& b) {
  return a.kind == b.kind && (a.kind != Kind::apply || a.op == b.op) && a.dtype == b.dtype && a.domain == b.domain && a.kept == b.kept &&
         a.mode == b.mode && a.accumulator == b.accumulator && a.order == b.order && same_payload(a.payload, b.payload);
}

// Inputs by position, then everything that has a line, in id order.
std::vector<NodeId> in_text_order(const Graph& graph) {
  std::vector<NodeId> order = graph.inputs;
  for (std::size_t k = 0; k < graph.size(); ++k) {
    if (has_line(graph.node(id_of(k)))) order.push_back(id_of(k));
  }
  return order;
}

struct SamePayload {
  template <class T> bool operator()(const T& a, const T& b) const { return a == b; }
  bool operator()(const Array& a, const Array& b) const { return equal_arrays(a, b); }
  template <class A, class B> bool operator()(const A&, const B&) const { return false; }
};

}  // namespace

bool same_payload(const Payload& a, const Payload& b) { return std::visit(SamePayload(), a, b); }

bool same(const Graph& a, const Graph& b) {
  const std::vector<NodeId> left = in_text_order(a), right = in_text_order(b);
  if (left.size() != right.size() || a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) return false;
  std::unordered_map<NodeId, NodeId> twin;
  for (std::size_t k = 0; k < left.size(); ++k) twin[left[k]] = right[k];
  const auto agree = [&](NodeId p, NodeId q) {
    if (is_scalar_constant(a.node(p)) || is_scalar_constant(b.node(q))) return equal_nodes(a.node(p), b.node(q));
    const auto found = twin.find(p);
    return found != twin.end() && found->second == q;
  };
  for (std::size_t k = 0; k < left.size(); ++k) {
    if (!equal_nodes(a.node(left[k]), b.node(right[k])) || a.arity(left[k]) != b.arity(right[k])) return false;
    for (int p = 0; p < a.arity(left[k]); ++p)
      if (!agree(a.operand(left[k], p), b.operand(right[k], p)) || a.map(left[k], p) != b.map(right[k], p)) return false;
  }
  for (std::size_t k = 0; k < a.outputs.size(); ++k)
    if (!agree(a.outputs[k], b.outputs[k])) return false;
  return true;
}

}  // namespace weft
