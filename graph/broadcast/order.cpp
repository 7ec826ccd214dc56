// elemwise(): each output is planned completely (which inputs, which shape, which dtypes) on a scratch graph of scalars;
// only then are nodes added, so an error leaves the graph as it was.
#include <weft/elemwise.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <weft/text.h>

#include "expr/axes.h"
#include "align.h"
#include "needed.h"

namespace weft {
namespace {

// The function run once on scalars.
struct Trace {
  std::unique_ptr<Graph> graph;
  std::vector<Expr> args, results;
};

// One output before its nodes exist.
struct Plan {
  std::shared_ptr<Trace> trace;
  NodeId root;
  std::vector<bool> needed;        // by node of the trace
  std::vector<std::size_t> used;   // inputs, ascending
  Shape shape;                     // of the output
  ModeSpec mode;                   // folds inputs of a rank above shape.size()
};

Graph& check_inputs(const std::vector<Expr>& inputs) {
  WEFT_REQUIRE(!inputs.empty(), usage, "elemwise: no inputs\n  pass at least one Expr");
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    WEFT_REQUIRE(!inputs[k].is_empty(), usage, "elemwise: input ", k, " is an empty Expr");
    check_same_graph("elemwise", inputs[0], inputs[k]);
  }
  return inputs[0].graph();
}

// Scalars keep the names of the inputs they stand for, so that messages about dtypes read as the user wrote them.
Trace trace_function(const std::vector<Expr>& inputs, const std::vector<DType>& dtypes, const ElemwiseFunction& function) {
  Trace trace{std::make_unique<Graph>("the function of elemwise"), {}, {}};
  std::set<std::string> taken;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Node& node = inputs[k].graph().node(inputs[k].id());
    std::string name = node.kind == Kind::input ? node.name() : "input" + std::to_string(k);
    while (!taken.insert(name).second) name += "_";
    trace.args.push_back(trace.graph->input(name, dtypes[k], {}));
  }
  trace.results = function(trace.args);
  for (std::size_t k = 0; k < trace.results.size(); ++k) {
    const Expr& result = trace.results[k];
    WEFT_REQUIRE(!result.is_empty(), usage, "elemwise: the function's result ", k, " is an empty Expr");
    WEFT_REQUIRE(&result.graph() == trace.graph.get(), usage, "elemwise: the function's result ", k, " is ", result.name(), " of graph \"",
                 result.graph().name, "\", not made from its arguments\n  pass that Expr as an input");
  }
  return trace;
}

// Marks what output `root` needs; every node must be elementwise.
std::vector<bool> needed_nodes(const Graph& graph, NodeId root) {
  const std::vector<bool> needed = needed_by(graph, {root});
  for (std::size_t k = root.value + 1; k-- > 0;) {
    if (!needed[k]) continue;
    const Node& node = graph.node(id_of(k));
    WEFT_REQUIRE(node.domain.empty(), usage, "elemwise: the function makes ", name_of(graph, id_of(k)), " of shape ", to_text(node.domain),
                 "; it sees scalars and must stay elementwise\n  reduce or slice outside of elemwise");
  }
  return needed;
}

// Axis k of an operand of rank `own` is this axis of a domain of rank `rank`.
std::size_t aligned_axis(Order order, std::size_t k, std::size_t own, std::size_t rank) { return order == Order::c ? k : k + (rank - own); }

// The first axis of `shape` that disagrees with the longer `full`, or its rank.
std::size_t disagreement(Order order, const Shape& shape, const Shape& full) {
  std::size_t k = 0;
  while (k < shape.size() && shape[k] == full[aligned_axis(order, k, shape.size(), full.size())]) ++k;
  return k;
}

void check_alignment(Order order, std::size_t output, const std::vector<Expr>& inputs, const std::vector<std::size_t>& used, std::size_t longest) {
  const Shape full = inputs[longest].shape();
  const Order other = order == Order::c ? Order::f : Order::c;
  for (std::size_t input : used) {
    const Shape shape = inputs[input].shape();
    const std::size_t k = disagreement(order, shape, full);
    if (k == shape.size()) continue;
    const std::size_t axis = aligned_axis(order, k, shape.size(), full.size());
    const bool other_agrees = std::all_of(used.begin(), used.end(), [&](std::size_t u) {
      const Shape s = inputs[u].shape();
      return disagreement(other, s, full) == s.size();
    });
    const std::string remedy = other_agrees                           ? concat("in order ", to_text(other), " these shapes agree")
                               : shape[k].is(1) || full[axis].is(1)   ? "elemwise does not repeat an axis of extent 1: the operators do, or squeeze it"
                                                                      : mismatch_remedy(full[axis], shape[k], "shared axes must have equal extents");
    fail(ErrorKind::shape, concat("elemwise: output ", output, " in order ", to_text(order), ": axis ", axis, " of ", inputs[longest].name(),
                                  " has extent ", full[axis], " but axis ", k, " of ", inputs[input].name(), " has extent ", shape[k], "\n  ", remedy));
  }
}

Shape shared_axes(Order order, const Shape& full, std::size_t rank) {
  if (order == Order::c) return Shape(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(rank));
  return Shape(full.end() - static_cast<std::ptrdiff_t>(rank), full.end());
}

void check_mode(const ModeSpec& mode, std::size_t output) {
  const bool accumulates = mode.mode == Mode::accumulate;
  WEFT_REQUIRE(accumulates == (mode.accumulator != AccumulatorId::none || mode.own), usage, "elemwise: output ", output, " has mode ",
               accumulates ? "accumulate without an accumulator\n  write accumulate(sum), or another accumulator"
                           : "broadcast with an accumulator\n  write Mode::broadcast, or accumulate(sum)");
}

DType folded_dtype(const Expr& x, const ModeSpec& mode) {
  if (!mode.own) return reduced_dtype(x, mode.accumulator);
  const Graph& finish = mode.own->recurrence({x.dtype()})->finish;
  return finish.node(finish.outputs[0]).dtype;
}

Plan plan_output(const std::vector<Expr>& inputs, Order order, const ModeSpec& mode, std::size_t output, std::shared_ptr<Trace> trace,
                 const ElemwiseFunction& function) {
  check_mode(mode, output);
  Plan plan{std::move(trace), {}, {}, {}, {}, mode};
  plan.root = plan.trace->results[output].id();
  plan.needed = needed_nodes(*plan.trace->graph, plan.root);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (plan.needed[plan.trace->args[k].id().value]) plan.used.push_back(k);
  if (plan.used.empty()) return plan;
  const auto by_rank = [&](std::size_t a, std::size_t b) { return inputs[a].rank() < inputs[b].rank(); };
  const std::size_t longest = *std::max_element(plan.used.begin(), plan.used.end(), by_rank);
  const int least = inputs[*std::min_element(plan.used.begin(), plan.used.end(), by_rank)].rank();
  check_alignment(order, output, inputs, plan.used, longest);
  plan.shape = inputs[longest].shape();
  if (mode.mode == Mode::broadcast) return plan;
  plan.shape = shared_axes(order, plan.shape, static_cast<std::size_t>(least));
  std::vector<DType> dtypes;
  bool changed = false;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const bool folds = std::binary_search(plan.used.begin(), plan.used.end(), k) && inputs[k].rank() > least;
    dtypes.push_back(folds ? folded_dtype(inputs[k], mode) : inputs[k].dtype());
    changed |= dtypes.back() != inputs[k].dtype();
  }
  if (!changed) return plan;
  plan.trace = std::make_shared<Trace>(trace_function(inputs, dtypes, function));
  WEFT_REQUIRE(plan.trace->results.size() > output, usage, "elemwise: the function returned ", plan.trace->results.size(),
               " results when called again\n  it must return the same expressions every time");
  plan.root = plan.trace->results[output].id();
  plan.needed = needed_nodes(*plan.trace->graph, plan.root);
  return plan;
}

// The input, its surplus axes folded. Order f folds the first axis first, c the last: each is the other's transpose.
Expr fold_surplus(const Expr& x, Order order, const ModeSpec& mode, int rank) {
  std::vector<int> axes;
  if (order == Order::c)
    for (int axis = rank; axis < x.rank(); ++axis) axes.push_back(axis);
  else
    for (int axis = x.rank() - rank - 1; axis >= 0; --axis) axes.push_back(axis);
  if (mode.own) return reduce(x, *mode.own, axes, false, order);
  return fold_axes(x, mode.accumulator, axes, false, reduced_dtype(x, mode.accumulator), order);
}

// Adds the planned nodes; each over the axes that its own operands have.
Expr build_output(Graph& graph, Order order, const Plan& plan, const std::vector<Expr>& sources) {
  const Graph& scalars = *plan.trace->graph;
  std::vector<Expr> built(scalars.size());
  for (std::size_t k = 0; k < plan.trace->args.size(); ++k) built[plan.trace->args[k].id().value] = sources[k];
  for (std::size_t k = 0; k <= plan.root.value; ++k) {
    const Node& node = scalars.node(id_of(k));
    if (!plan.needed[k] || node.kind == Kind::input) continue;
    std::size_t rank = 0;
    const int arity = scalars.arity(id_of(k));
    for (int p = 0; p < arity; ++p) rank = std::max(rank, static_cast<std::size_t>(built[scalars.operand(id_of(k), p).value].rank()));
    std::vector<Operand> operands;
    for (int p = 0; p < arity; ++p) {
      const Expr& operand = built[scalars.operand(id_of(k), p).value];
      AxisMap map = identity_map(operand.rank());
      for (std::size_t axis = 0; axis < map.size(); ++axis) map[axis].axis = static_cast<int>(aligned_axis(order, axis, map.size(), rank));
      operands.push_back({operand.id(), std::move(map)});
    }
    Node copy = node;
    copy.domain = shared_axes(order, plan.shape, rank);
    copy.kept = static_cast<int>(rank);
    copy.order = order;
    built[k] = Expr(graph, graph.add(std::move(copy), std::move(operands)));
  }
  return built[plan.root.value];
}

}  // namespace

std::vector<Expr> elemwise(const std::vector<Expr>& inputs, Order order, const std::vector<ModeSpec>& modes, const ElemwiseFunction& function) {
  Graph& graph = check_inputs(inputs);
  std::vector<DType> dtypes;
  for (const Expr& input : inputs) dtypes.push_back(input.dtype());
  const auto trace = std::make_shared<Trace>(trace_function(inputs, dtypes, function));
  WEFT_REQUIRE(trace->results.size() == modes.size(), usage, "elemwise: the function returns ", trace->results.size(), " outputs but ", modes.size(),
               " modes are given\n  give one mode per output");
  std::vector<Plan> plans;
  for (std::size_t k = 0; k < modes.size(); ++k) plans.push_back(plan_output(inputs, order, modes[k], k, trace, function));
  // Everything is checked: from here on nodes are added. Outputs share what they fold alike.
  std::map<std::tuple<std::size_t, AccumulatorId, const Recurrence*, std::size_t>, Expr> folded;
  std::vector<Expr> outputs;
  for (const Plan& plan : plans) {
    std::vector<Expr> sources = inputs;
    for (std::size_t k : plan.used) {
      if (static_cast<std::size_t>(inputs[k].rank()) <= plan.shape.size()) continue;
      // not `!fold`: on Exprs that is logical_not
      const Recurrence* own = plan.mode.own ? plan.mode.own->recurrence({inputs[k].dtype()}).get() : nullptr;
      Expr& fold = folded[{k, plan.mode.accumulator, own, plan.shape.size()}];
      if (fold.is_empty()) fold = fold_surplus(inputs[k], order, plan.mode, static_cast<int>(plan.shape.size()));
      sources[k] = fold;
    }
    outputs.push_back(build_output(graph, order, plan, sources));
  }
  return outputs;
}

}  // namespace weft
