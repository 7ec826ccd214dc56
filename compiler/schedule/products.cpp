#include "products.h"

#include <algorithm>

#include "cost_model.h"

namespace weft {

namespace {

bool has(const std::vector<int>& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

std::vector<int> bound(std::vector<int> axes) {
  std::erase(axes, -1);
  std::sort(axes.begin(), axes.end());
  return axes;
}

// Whether it counts conditions: eight times as many of them fit a vector, along whatever axis they lie.
bool counts(const Graph& graph, NodeId id) {
  if (is_floating(graph.node(id).dtype)) return false;
  do {
    if (graph.arity(id) != 1) return false;
    id = graph.operand(id, 0);
  } while (graph.node(id).kind == Kind::apply && graph.node(id).op == Op::cast && !is_boolean(graph.node(id).dtype));
  return is_boolean(graph.node(id).dtype);
}

// Whether what an elementwise node reads has its elements only together, as x and y have those of (x[i,k] - y[k,j])^2. Of `axes`, which are those
// of its domain, `batches` of the product keep those that every such operand has.
bool is_joined(const Graph& graph, NodeId id, const std::vector<int>& axes, int levels, Product& product) {
  product.instructions += instructions_with_loads(graph, id);
  const std::vector<int> domain = bound(axes);
  for (int k = 0; k < graph.arity(id); ++k) {
    std::vector<int> read;
    for (const AxisRef& ref : graph.map(id, k)) read.push_back(ref.axis < 0 ? -1 : axes[static_cast<std::size_t>(ref.axis)]);
    if (bound(read).size() < domain.size()) {
      if (!bound(read).empty()) std::erase_if(product.batches, [&](int axis) { return !has(read, axis); });
      continue;
    }
    const NodeId operand = graph.operand(id, k);
    const Node& made = graph.node(operand);
    if (levels == 0 || made.kind != Kind::apply || made.mode != Mode::broadcast || !is_joined(graph, operand, read, levels - 1, product)) return false;
  }
  return true;
}

}  // namespace

std::optional<Product> product_of(const Graph& graph, NodeId id, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, Index least) {
  constexpr int levels = 3;             // of nodes that are looked at
  constexpr Index least_across = 5;     // elements of a vector: fewer are as good along the sums
  const Node& node = graph.node(id);
  if (node.kind != Kind::apply || node.mode != Mode::accumulate || size_of(node.dtype) < size_of(f32) || counts(graph, id)) return {};
  const auto end_of_kept = axes.begin() + node.kept;
  const std::vector<int> kept = bound({axes.begin(), end_of_kept}), folded = bound({end_of_kept, axes.end()});
  const auto with = [&](Index elements) { return std::count_if(kept.begin(), kept.end(), [&](int axis) { return nest_axes[static_cast<std::size_t>(axis)].hint >= elements; }); };
  if (folded.size() != 1 || nest_axes[static_cast<std::size_t>(folded[0])].hint < fold_slots || with(least_across) < 1 || with(least) < 2) return {};
  Product product{folded[0], kept, kept};
  return is_joined(graph, id, axes, levels, product) ? std::optional(product) : std::nullopt;
}

bool is_factor(const Graph& graph, NodeId id, const std::vector<int>& axes, const std::vector<NestAxis>& nest_axes, const Product& product, const Machine& machine) {
  const Node& node = graph.node(id);
  if (node.kind != Kind::apply || node.mode != Mode::broadcast || !has(axes, product.sums)) return false;
  double elements = 1, readers = 1;
  for (int axis : axes)
    if (axis >= 0) elements *= static_cast<double>(nest_axes[static_cast<std::size_t>(axis)].hint);
  for (int axis : product.kept)
    if (!has(axes, axis)) readers *= static_cast<double>(nest_axes[static_cast<std::size_t>(axis)].hint);
  return readers * op_cost(node.op) >= (is_in_memory(machine, elements * static_cast<double>(size_of(node.dtype))) ? worth_of_large_factor : worth_of_factor);
}

SharedOperands::SharedOperands(const Graph& graph, const Nest& nest) : axes_(nest.axes) {
  Product found;
  for (const Placed& placed : nest.nodes) {
    if (graph.node(placed.node).kind != Kind::apply) return;
    const auto product = product_of(graph, placed.node, placed.axes, nest.axes, rows_that_share);
    if (!product) continue;
    if (found.sums >= 0 && found != *product) return;
    found = *product;
  }
  if (found.sums < 0) return;
  int instructions = 0;
  bool simple = true;                   // divisors and functions of the row would be made again for each panel (program/register_block.cpp)
  for (const Placed& placed : nest.nodes) {
    if (!has(placed.axes, found.sums)) continue;
    simple &= node_cost(graph.node(placed.node)) == 1;
    instructions += instructions_with_loads(graph, placed.node);
  }
  if (simple && instructions <= small_body) product_ = found;
}

// The axis of the rows that share the operand, if it is one; else -1.
int SharedOperands::rows_for(const Placed& placed, const AxisMap& map, int lanes) const {
  if (product_.sums < 0 || !has(product_.kept, lanes)) return -1;
  std::vector<int> axes;
  for (const AxisRef& ref : map)
    if (ref.axis >= 0) axes.push_back(placed.axes[static_cast<std::size_t>(ref.axis)]);
  if (!has(axes, lanes) || !has(axes, product_.sums)) return -1;
  int rows = -1;
  for (int axis : product_.kept)
    if (axis != lanes && !has(axes, axis) && has(placed.axes, axis) && axes_[static_cast<std::size_t>(axis)].hint >= rows_that_share) rows = axis;
  return rows;
}

Index SharedOperands::rows_of(const Placed& placed, const AxisMap& map, int lanes) const {
  const int rows = rows_for(placed, map, lanes);
  return rows < 0 ? 0 : axes_[static_cast<std::size_t>(rows)].hint;
}

SharedOperands::Loops SharedOperands::loops(const Graph& graph, const Nest& nest, int lanes) const {
  Loops found;
  for (const Placed& placed : nest.nodes)
    for (int k = 0; k < graph.arity(placed.node); ++k) {
      if (nest.find(graph.operand(placed.node, k))) continue;
      if (const int rows = rows_for(placed, graph.map(placed.node, k), lanes); rows >= 0) found = {rows, product_.sums};
    }
  return found;
}

}  // namespace weft
