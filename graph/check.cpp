#include "check.h"

#include <algorithm>

#include <weft/recurrence.h>
#include <weft/text.h>

#include "maps.h"
#include "others.h"
#include "text/print.h"

namespace weft {
namespace {

// One node about to enter the graph (or, for verify, in it), and how to point at it.
class NodeCheck {
 public:
  NodeCheck(const Graph& graph, const Node& node, const std::vector<Operand>& operands, NodeId id)
      : graph_(graph), node_(node), operands_(operands), id_(id) {}

  void run() const {
    for (const Extent& extent : node_.domain)
      WEFT_REQUIRE(!extent.is_number() || extent.constant() >= 0, shape, what(), "an axis cannot have extent ", extent);
    check_payload(node_);
    for (const Operand& operand : operands_)
      WEFT_REQUIRE(operand.node.value < (id_ == NodeId{} ? graph_.size() : id_.value), usage, what(), "operands come before their users");   // G1
    if (node_.kind == Kind::apply) return check_apply();
    if (node_.kind == Kind::recurrence) return check_recurrence();
    if (node_.kind == Kind::others) return check_others();
    if (node_.kind == Kind::fit) return check_fit();
    WEFT_REQUIRE(node_.kept == static_cast<int>(node_.domain.size()) && node_.mode == Mode::broadcast, shape, what(), "only an op folds axes");
    if (node_.kind == Kind::update) return check_update();
    if (node_.kind == Kind::reshape) return check_reshape();
    WEFT_REQUIRE(operands_.empty(), usage, what(), "expected no operand, got ", operands_.size());
  }

 private:
  std::string what() const {
    switch (node_.kind) {
      case Kind::input: return "input: ";
      case Kind::constant: return "constant: ";
      case Kind::iota: return "iota: ";
      case Kind::extent: return "extent: ";
      case Kind::update: return "update: ";
      case Kind::others: return "others: ";
      case Kind::recurrence: return node_.mode == Mode::scan ? "scan: " : "fold: ";
      case Kind::reshape: return "reshape: ";
      case Kind::fit: return "broadcast: ";
      case Kind::apply: break;
    }
    return std::string(info(node_.op).name) + ": ";
  }
  std::string shown(int operand = -1) const {
    return id_ == NodeId{} ? show_new(graph_, node_, operands_, operand) : show(graph_, id_, operand);
  }
  Line line() const { return Printer(graph_).line("", node_, operands_); }
  // "%x[i,j]"
  std::string use(std::size_t p) const {
    const Line text = line();
    return text.text.substr(text.operands[p].first, text.operands[p].second);
  }
  std::string letter(int axis) const { return Printer(graph_).letter(axis); }
  std::string name(std::size_t p) const { return name_of(graph_, operands_[p].node); }
  Shape shape_of(std::size_t p) const { return graph_.node(operands_[p].node).shape(); }

  void check_map(std::size_t p) const;
  void check_reference(std::size_t p, std::size_t k, const Extent& extent) const;
  [[noreturn]] void fail_extents(std::size_t p, std::size_t k) const;
  void check_apply() const;
  void check_dtype() const;
  void check_fold() const;
  void check_update() const;
  void check_mentioned() const;
  void check_recurrence() const;
  void check_others() const;
  void check_reshape() const;
  void check_fit() const;

  const Graph& graph_;
  const Node& node_;
  const std::vector<Operand>& operands_;
  NodeId id_;
};

// G4: axis k of operand p disagrees with the loop that it follows.
void NodeCheck::fail_extents(std::size_t p, std::size_t k) const {
  const int axis = operands_[p].map[k].axis;
  const Extent& wanted = node_.domain[static_cast<std::size_t>(axis)];
  const Extent got = shape_of(p)[k];
  std::string where = "the result";
  for (std::size_t q = 0; q < p; ++q)
    for (const AxisRef& ref : operands_[q].map)
      if (ref.is_identity() && ref.axis == axis) where = use(q);
  const bool symbolic = !wanted.is_number() || !got.is_number();
  fail(ErrorKind::shape, concat(what(), "axis ", letter(axis), " has extent ", wanted, " in ", where, " but ", got, " in ", use(p), shown(static_cast<int>(p)),
                                symbolic ? concat("\n  if ", got, " is meant to equal ", wanted, ", declare both inputs with the same symbol") : ""));
}

// G3, G4: one reference of the map of operand p.
void NodeCheck::check_reference(std::size_t p, std::size_t k, const Extent& extent) const {
  const AxisRef& ref = operands_[p].map[k];
  const Index start = ref.start.constant();
  if (ref.axis < 0) {
    const bool known = ref.start.is_number() && extent.is_number();
    WEFT_REQUIRE(!known || (start >= 0 && start < extent.constant()), shape, what(), "index ", start, " is outside axis ", k, " of ", name(p),
                 ", which has extent ", extent, shown(static_cast<int>(p)));
    return;
  }
  WEFT_REQUIRE(ref.axis < static_cast<int>(node_.domain.size()), shape, what(), "the map of ", name(p), " names axis ", ref.axis,
               " of a domain of rank ", node_.domain.size());
  WEFT_REQUIRE(ref.step != 0, shape, what(), "the map of ", name(p), " has step 0 on axis ", k, "\n  a fixed index names no axis");
  WEFT_REQUIRE(!ref.part || ref.is_direct(), shape, what(), "the map of ", name(p), " calls its reference to axis ", k,
               " a part, which is said of start 0 and step 1 only");
  const Extent& loop = node_.domain[static_cast<std::size_t>(ref.axis)];
  if (ref.is_identity()) {
    if (loop != extent) fail_extents(p, k);
    return;
  }
  if (!loop.is_number() || !extent.is_number() || !ref.start.is_number() || loop.constant() == 0) return;
  const Reach reach(start, ref.step, loop.constant());
  WEFT_REQUIRE(reach.fits(extent.constant()), shape, what(), "indices ", reach.first, " to ", reach.last,
               " are outside axis ", k, " of ", name(p), ", which has extent ", extent, shown(static_cast<int>(p)));
}

void NodeCheck::check_map(std::size_t p) const {
  const Shape shape = shape_of(p);
  const AxisMap& map = operands_[p].map;
  WEFT_REQUIRE(map.size() == shape.size(), shape, what(), name(p), " has rank ", shape.size(), " but its map names ", map.size(), " axes",
               shown(static_cast<int>(p)));
  for (std::size_t k = 0; k < map.size(); ++k) {
    check_reference(p, k, shape[k]);
    for (std::size_t before = 0; before < k; ++before)
      WEFT_REQUIRE(map[k].axis < 0 || map[before].axis != map[k].axis, shape, what(), "the map of ", name(p), " names axis ", letter(map[k].axis),
                   " twice", shown(static_cast<int>(p)));
  }
}

// G5
void NodeCheck::check_dtype() const {
  std::vector<DType> dtypes;
  for (const Operand& operand : operands_) dtypes.push_back(graph_.node(operand.node).dtype);
  const auto result = result_dtype(node_.op, dtypes, node_.dtype);
  if (result && *result == node_.dtype) return;
  std::string got;
  for (DType dtype : dtypes) got += (got.empty() ? "" : ", ") + std::string(to_text(dtype));
  fail(ErrorKind::dtype, result ? concat(what(), "operands of ", got, " give ", *result, ", not ", node_.dtype, shown())
                                : concat(what(), "no such operation on ", got, shown(), "\n  cast the operands"));
}

// G6, G7
void NodeCheck::check_fold() const {
  const int rank = static_cast<int>(node_.domain.size());
  WEFT_REQUIRE(node_.kept >= 0 && node_.kept <= rank, shape, what(), "keeps ", node_.kept, " of ", rank, " axes");
  const bool folds = node_.kept < rank;
  WEFT_REQUIRE(folds == (node_.mode == Mode::accumulate) && folds == (node_.accumulator != AccumulatorId::none), usage, what(),
               "a node accumulates exactly if it folds an axis");
  WEFT_REQUIRE(!folds || accepts(node_.accumulator, node_.dtype), dtype, name_of(node_.accumulator), ": cannot fold ", node_.dtype, shown(),
               "\n  cast the operand: sum and prod take numbers, any and all take bool, bitwise folds bool or integers");
  check_mentioned();
}

void NodeCheck::check_mentioned() const {
  for (int axis = node_.kept; axis < static_cast<int>(node_.domain.size()); ++axis) {
    bool mentioned = false;
    for (const Operand& operand : operands_)
      for (const AxisRef& ref : operand.map) mentioned |= ref.axis == axis;
    WEFT_REQUIRE(mentioned, shape, what(), "folded axis ", letter(axis), " of extent ", node_.domain[static_cast<std::size_t>(axis)],
                 " is not an axis of any operand", shown());
  }
}

void NodeCheck::check_apply() const {
  WEFT_REQUIRE(static_cast<int>(operands_.size()) == info(node_.op).arity, usage, what(), "expected ", info(node_.op).arity, " operands, got ",
               operands_.size());
  check_dtype();
  for (std::size_t p = 0; p < operands_.size(); ++p) check_map(p);
  check_fold();
}

// The operands are what the step takes, and the result is one that it gives.
void NodeCheck::check_recurrence() const {
  const auto& recurring = std::get<Recurring>(node_.payload);
  const Recurrence& recurrence = *recurring.recurrence;
  const int rank = static_cast<int>(node_.domain.size());
  const bool scans = node_.mode == Mode::scan;
  WEFT_REQUIRE(node_.kept >= 0 && node_.kept <= rank, shape, what(), "keeps ", node_.kept, " of ", rank, " axes");
  const auto is_axis = [&](int axis) { return axis >= 0 && axis < rank && std::count(recurring.axes.begin(), recurring.axes.end(), axis) == 1; };
  const bool along_kept = !recurring.axes.empty() && std::all_of(recurring.axes.begin(), recurring.axes.end(), is_axis);
  WEFT_REQUIRE(scans ? node_.kept == rank && along_kept : node_.mode == Mode::accumulate && node_.kept < rank, shape, what(),
               "runs along axes that it ", scans ? "keeps" : "folds");
  const std::size_t elements = recurrence.step.inputs.size() - recurrence.states();
  WEFT_REQUIRE(operands_.size() == elements, usage, what(), recurrence.name, " takes ", elements, " elements, got ", operands_.size());
  for (std::size_t p = 0; p < elements; ++p) {
    const DType wanted = recurrence.step.node(recurrence.step.inputs[recurrence.states() + p]).dtype, got = graph_.node(operands_[p].node).dtype;
    WEFT_REQUIRE(wanted == got, dtype, what(), recurrence.name, " takes ", wanted, " as element ", p, ", got ", got, shown(static_cast<int>(p)));
    check_map(p);
  }
  const Graph& results = scans ? recurrence.step : recurrence.finish;
  const std::size_t output = static_cast<std::size_t>(recurring.output) + (scans ? recurrence.states() : 0);
  WEFT_REQUIRE(recurring.output >= 0 && output < results.outputs.size(), usage, what(), recurrence.name, " has no value ", recurring.output);
  WEFT_REQUIRE(results.node(results.outputs[output]).dtype == node_.dtype, dtype, what(), recurrence.name, " gives ", results.node(results.outputs[output]).dtype,
               ", not ", node_.dtype);
  WEFT_REQUIRE(node_.kept == rank || !operands_.empty(), usage, what(), "expected an operand");
  if (!(rank == node_.kept + 1 && node_.domain.back().is(1))) check_mentioned();
}

void NodeCheck::check_others() const {
  const int rank = static_cast<int>(node_.domain.size()), axis = std::get<Along>(node_.payload).axis;
  WEFT_REQUIRE(node_.accumulator == AccumulatorId::prod && node_.mode == Mode::broadcast, usage, "others: expected prod, got ", name_of(node_.accumulator));
  WEFT_REQUIRE(axis >= 0 && axis < rank && node_.kept == rank, shape, "others: runs along axis ", axis, " of ", rank);
  WEFT_REQUIRE(fits_others(node_.dtype, node_.domain[static_cast<std::size_t>(axis)]), shape, "others: expected f32 or f64 along 2 to ", most_others, " elements, got ",
               node_.dtype, " along ", to_text(node_.domain[static_cast<std::size_t>(axis)]));
  WEFT_REQUIRE(operands_.size() == 1, usage, "others: expected one operand, got ", operands_.size());
  const DType got = graph_.node(operands_[0].node).dtype;
  WEFT_REQUIRE(got == node_.dtype, dtype, "others: the operand is ", got, " but the result is ", node_.dtype, shown(0));
  check_map(0);
}

// update: every window axis lands on one axis of the result, inside its bounds where they are known and nothing may be left out.
void NodeCheck::check_update() const {
  WEFT_REQUIRE(operands_.size() == 1, usage, "update: expected one operand, got ", operands_.size());
  const Shape window = graph_.node(operands_[0].node).shape();
  const auto& map = std::get<AxisMap>(node_.payload);
  WEFT_REQUIRE(graph_.node(operands_[0].node).dtype == node_.dtype, dtype, "update: the window is ", graph_.node(operands_[0].node).dtype,
               " but the result is ", node_.dtype);
  WEFT_REQUIRE(operands_[0].map == identity_map(static_cast<int>(window.size())), usage, "update: the operand's map is the identity");
  WEFT_REQUIRE(map.size() == node_.domain.size() && node_.kept == static_cast<int>(node_.domain.size()), shape, "update: a result of rank ",
               node_.domain.size(), " needs that many references, got ", map.size());
  const bool within = are_within(map);
  std::vector<int> named(window.size(), 0);
  for (std::size_t k = 0; k < map.size(); ++k) {
    const AxisRef& ref = map[k];
    WEFT_REQUIRE(ref.axis < static_cast<int>(window.size()) && ref.step != 0, shape, "update: axis ", k, " names window axis ", ref.axis, " of ", window.size(),
                 " with step ", ref.step);
    WEFT_REQUIRE(ref.part == within && (!within || (ref.axis >= 0 && (ref.step == 1 || ref.step == -1))), shape, "update: places within need a window axis and step 1 or -1 on every axis, not on axis ",
                 k);
    if (ref.axis >= 0) ++named[static_cast<std::size_t>(ref.axis)];
    const Extent count = ref.axis < 0 ? Extent(1) : window[static_cast<std::size_t>(ref.axis)];
    if (within || !ref.start.is_number() || !count.is_number() || !node_.domain[k].is_number() || count.is(0)) continue;
    const Reach reach(ref.start.constant(), ref.step, count.constant());
    WEFT_REQUIRE(reach.fits(node_.domain[k].constant()), shape, "update: indices ", reach.first, " to ", reach.last,
                 " are outside axis ", k, " of extent ", node_.domain[k]);
  }
  for (std::size_t axis = 0; axis < named.size(); ++axis)
    WEFT_REQUIRE(named[axis] == 1, shape, "update: window axis ", axis, " is named ", named[axis], " times");
}

// reshape: as many elements on both sides, unless only the call can tell.
void NodeCheck::check_reshape() const {
  WEFT_REQUIRE(operands_.size() == 1, usage, "reshape: expected one operand, got ", operands_.size());
  const Node& operand = graph_.node(operands_[0].node);
  WEFT_REQUIRE(operand.dtype == node_.dtype, dtype, "reshape: the operand is ", operand.dtype, " but the result is ", node_.dtype);
  WEFT_REQUIRE(operands_[0].map == identity_map(operand.rank()), usage, "reshape: the operand's map is the identity");
  const Extent own = count_of(operand.shape()), wanted = count_of(node_.domain), surplus = own - wanted;
  WEFT_REQUIRE(!surplus.is_number() || surplus.is(0), shape, "reshape: ", name(0), " of shape ", to_text(operand.shape()), " has ", own,
               " elements but the target ", to_text(node_.domain), " has ", wanted);
}

// fit: the data, the result and the target have one rank, and whether their extents agree is known at the call.
void NodeCheck::check_fit() const {
  WEFT_REQUIRE(operands_.size() == 1, usage, what(), "expected one operand, got ", operands_.size());
  const Node& operand = graph_.node(operands_[0].node);
  const std::size_t rank = std::get<Fit>(node_.payload).target.size();
  WEFT_REQUIRE(operand.dtype == node_.dtype, dtype, what(), "the operand is ", operand.dtype, " but the result is ", node_.dtype, shown());
  WEFT_REQUIRE(static_cast<std::size_t>(operand.kept) == rank && node_.domain.size() == rank && node_.kept == static_cast<int>(rank), shape, what(),
               "operand, result and target have ranks ", operand.kept, ", ", node_.kept, " and ", rank, shown());
  WEFT_REQUIRE(operands_[0].map == identity_map(operand.kept), usage, what(), "the operand's map is the identity", shown());
  const bool folds = node_.mode == Mode::accumulate;
  WEFT_REQUIRE(node_.accumulator == (folds ? AccumulatorId::sum : AccumulatorId::none), usage, what(), "an adjoint folds by sum", shown());
  WEFT_REQUIRE(!folds || accepts(AccumulatorId::sum, node_.dtype), dtype, what(), "cannot sum ", node_.dtype, shown());
}

}  // namespace

void check_node(const Graph& graph, const Node& node, const std::vector<Operand>& operands, NodeId id) {
  NodeCheck(graph, node, operands, id).run();
}

}  // namespace weft
