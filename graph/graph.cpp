#include <weft/graph.h>

#include <algorithm>

#include <weft/text.h>

#include "check.h"
#include "maps.h"
#include "names.h"
#include "text/print.h"
#include "storage.h"

namespace weft {

AxisMap identity_map(int rank) {
  AxisMap map(static_cast<std::size_t>(rank));
  for (int k = 0; k < rank; ++k) map[static_cast<std::size_t>(k)].axis = k;
  return map;
}

Graph::Graph(std::string graph_name) : name(std::move(graph_name)), storage_(std::make_unique<Storage>()) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

Graph::Storage& Graph::owned() const {
  WEFT_REQUIRE(storage_, usage, "this graph has been moved from\n  build in the one that it was moved to: Exprs stay with the object they were made of");
  return *storage_;
}
const Graph::Storage& Graph::storage() const { return owned(); }

std::size_t Graph::size() const { return boost::num_vertices(owned().list); }
const Node& Graph::node(NodeId id) const { return owned().list[id.value]; }
int Graph::arity(NodeId id) const { return static_cast<int>(boost::in_degree(id.value, owned().list)); }

NodeId Graph::operand(NodeId id, int position) const {
  auto edge = boost::in_edges(id.value, owned().list).first + position;
  return id_of(boost::source(*edge, owned().list));
}
const AxisMap& Graph::map(NodeId id, int position) const {
  auto edge = boost::in_edges(id.value, owned().list).first + position;
  return owned().list[*edge].map;
}

std::vector<NodeId> Graph::users(NodeId id) const {
  std::vector<NodeId> result;
  auto [edge, end] = boost::out_edges(id.value, owned().list);
  for (; edge != end; ++edge) result.push_back(id_of(boost::target(*edge, owned().list)));
  return result;
}
int Graph::user_count(NodeId id) const { return static_cast<int>(boost::out_degree(id.value, owned().list)); }

const std::vector<ElementSymbol>& Graph::element_symbols() const { return owned().element_symbols; }

namespace {
void note_element_symbols(const Node& node, const std::vector<Operand>& operands, std::vector<ElementSymbol>& noted) {
  std::vector<std::string> symbols;
  for_each_extent(node, operands, [&](const Extent& extent) { extent.collect_symbols(symbols); });
  for (const std::string& symbol : symbols)
    if (auto element = element_symbol(symbol))
      if (std::none_of(noted.begin(), noted.end(), [&](const ElementSymbol& known) { return known.symbol == symbol; })) noted.push_back(*std::move(element));
}
}  // namespace

NodeId Graph::add(Node node, std::vector<Operand> operands) {
  for (Operand& operand : operands)
    if (operand.node.value < size()) settle_parts(*this, operand, node.domain);
  check_node(*this, node, operands);
  note_element_symbols(node, operands, owned().element_symbols);
  auto& list = owned().list;
  owned().numbers.push_back(owned().lines);
  owned().lines += has_line(node);
  const auto vertex = boost::add_vertex(std::move(node), list);
  for (std::size_t k = 0; k < operands.size(); ++k)
    boost::add_edge(operands[k].node.value, vertex, Use{static_cast<int>(k), std::move(operands[k].map)}, list);
  return id_of(vertex);
}

Expr Graph::input(const std::string& input_name, DType dtype, const Shape& shape, Order order) {
  WEFT_REQUIRE(is_identifier(input_name), usage, "input: expected a name of letters, digits and _ that does not start with a digit, got \"", input_name, "\"");
  WEFT_REQUIRE(!owned().input_names.contains(input_name), usage, "input: this graph already has an input %", input_name,
               "\n  choose another name");
  Node node;
  node.kind = Kind::input;
  node.dtype = dtype;
  node.domain = shape;
  node.kept = static_cast<int>(shape.size());
  node.order = order;
  node.payload = input_name;
  const NodeId id = add(std::move(node));
  owned().input_names.emplace(input_name, id);
  inputs.push_back(id);
  return Expr(*this, id);
}

Expr Graph::constant(const Scalar& value) {
  Node node;
  node.kind = Kind::constant;
  node.dtype = value.dtype();
  node.payload = value;
  return Expr(*this, add(std::move(node)));
}

Expr Graph::constant(const Array& array) {
  if (array.rank() == 0) return constant(Scalar::load(array.dtype(), array.data()));
  Node node;
  node.kind = Kind::constant;
  node.dtype = array.dtype();
  for (Index size : array.shape()) node.domain.emplace_back(size);
  node.kept = array.rank();
  node.payload = array.copy(Order::c);
  return Expr(*this, add(std::move(node)));
}

Expr Graph::constant(DType dtype, const Dims& dims, const std::vector<double>& row_major) {
  WEFT_REQUIRE(element_count(dims) == static_cast<Index>(row_major.size()), shape, "constant: shape ", to_text(dims), " holds ",
               element_count(dims), " values but got ", row_major.size());
  Array array(dtype, dims, Order::c);
  auto* bytes = static_cast<std::byte*>(array.data());
  for (std::size_t k = 0; k < row_major.size(); ++k) {
    const Scalar value = Scalar::of(dtype, row_major[k]);
    WEFT_REQUIRE(is_floating(dtype) || value.as_double() == row_major[k], dtype, "constant: ", row_major[k], " is no number of dtype ", dtype, "\n  convert it first, or take a floating dtype");
    value.store(bytes + k * size_of(dtype));
  }
  return constant(array);
}

Expr Graph::extent(const Extent& value) {
  if (value.is_number()) return constant(Scalar::of(i64, value.constant()));
  Node node;
  node.kind = Kind::extent;
  node.dtype = i64;
  node.payload = value;
  return Expr(*this, add(std::move(node)));
}

NodeId Graph::apply(Op op, DType dtype, Shape domain, std::vector<Operand> operands, Order order) {
  Node node;
  node.op = op;
  node.dtype = dtype;
  node.kept = static_cast<int>(domain.size());
  node.domain = std::move(domain);
  node.order = order;
  return add(std::move(node), std::move(operands));
}

NodeId Graph::fold(AccumulatorId acc, Op op, DType dtype, Shape domain, int kept, std::vector<Operand> operands, Order order) {
  if (kept == static_cast<int>(domain.size())) return apply(op, dtype, std::move(domain), std::move(operands), order);
  Node node;
  node.op = op;
  node.dtype = dtype;
  node.domain = std::move(domain);
  node.kept = kept;
  node.mode = Mode::accumulate;
  node.accumulator = acc;
  node.order = order;
  return add(std::move(node), std::move(operands));
}

static const Node& node_of(const Expr& x, const char* what) {
  WEFT_REQUIRE(!x.is_empty(), usage, "an empty Expr has no ", what);
  WEFT_REQUIRE(x.id().value < x.graph().size(), usage, "this Expr is node ", x.id().value, " of a graph that has ", x.graph().size(), " nodes\n  another graph was assigned to its own");
  return x.graph().node(x.id());
}
Expr::operator bool() const {
  WEFT_REQUIRE(is_empty() || dtype() != bool_, usage, name(), " is a condition, which a call decides: it is neither true nor false while the graph is built",
               graph_->node(id_).kind == Kind::input ? "" : "\n  " + line_of(*graph_, id_), "\n  choose by where(condition, a, b); ask x.is_empty() whether an Expr is one");
  return !is_empty();
}
DType Expr::dtype() const { return node_of(*this, "dtype").dtype; }
Shape Expr::shape() const { return node_of(*this, "shape").shape(); }
int Expr::rank() const { return node_of(*this, "rank").kept; }
std::string Expr::name() const {
  node_of(*this, "name");
  const auto& labels = graph_->owned().labels;
  const auto label = labels.find(id_);
  return label != labels.end() ? "%" + label->second : name_of(*graph_, id_);
}
Expr Expr::name(const std::string& text) const {
  WEFT_REQUIRE(graph_, usage, "an empty Expr cannot be named ", text);
  WEFT_REQUIRE(is_identifier(text), usage, "name: expected letters, digits and _ that do not start with a digit, got \"", text, "\"");
  WEFT_REQUIRE(graph_->node(id_).kind != Kind::input, usage, "name: input ", name(), " has its name already");
  graph_->owned().labels[id_] = text;
  return *this;
}

}  // namespace weft
