// An Accumulator's lambdas, run once on scalars for each list of element dtypes.
#include <algorithm>

#include <weft/recurrence.h>

#include "names.h"
#include "scalar_graphs.h"

namespace weft {

struct Accumulator::Shared {
  Definition definition;
  std::mutex mutex;
  std::map<std::vector<DType>, std::shared_ptr<const Recurrence>> traced;
};

namespace {

using States = Accumulator::States;
using Results = Accumulator::Results;

class Tracer {
 public:
  Tracer(const Accumulator::Definition& definition, const std::vector<DType>& elements) : definition_(definition), elements_(elements), common_(elements[0]) {
    for (const DType dtype : elements) common_ = common_ ? common_dtype(*common_, dtype) : common_;
  }

  std::shared_ptr<const Recurrence> run() {
    if (definition_.lift) find_lifted_dtypes();
    else find_fold_dtypes();
    auto made = std::make_shared<Recurrence>();
    made->name = definition_.name;
    for (std::size_t k = 0; k < dtypes_.size(); ++k) made->start.push_back(definition_.start[k].literal().cast(dtypes_[k]));
    made->step = step();
    made->finish = finish();
    add_emissions(made->step, made->finish);
    if (definition_.gradient) made->gradient = gradient();
    return made;
  }

 private:
  std::size_t count() const { return definition_.start.size(); }

  // A number takes the dtype of the elements if it can (weak literals).
  DType weak_dtype(const Scalar& literal) const {
    if (is_boolean(literal.dtype())) return bool_;
    WEFT_REQUIRE(common_, dtype, definition_.name, ": the number ", to_text(literal), " takes the dtype of the elements, and u64 and a signed integer have none in common",
                 "\n  cast one of them");
    if (is_floating(literal.dtype()) && !is_floating(*common_)) return f64;
    return is_boolean(*common_) && is_integer(literal.dtype()) ? i64 : *common_;
  }

  void require_count(std::string_view what, std::size_t got) const {
    WEFT_REQUIRE(got == count(), usage, definition_.name, ": the start has ", count(), " states but ", what, " gives ", got);
  }
  // The results as Exprs of the state's dtypes; `dtypes` empty: as they come, numbers beside the elements.
  States as_exprs(Graph& graph, std::string_view what, const Results& results, const std::vector<DType>& dtypes) const {
    States exprs;
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (results[k].is_literal()) {
        const Scalar& literal = results[k].literal();
        exprs.push_back(graph.constant(literal.cast(dtypes.empty() ? weak_dtype(literal) : dtypes[k])));
        continue;
      }
      const Expr& expr = results[k].expr();
      WEFT_REQUIRE(!expr.is_empty(), usage, definition_.name, ": ", what, " gives an empty Expr");
      WEFT_REQUIRE(&expr.graph() == &graph, usage, definition_.name, ": ", what, " gives ", expr.name(), " of graph \"", expr.graph().name,
                   "\", not made from its arguments\n  pass that Expr as another element");
      WEFT_REQUIRE(expr.rank() == 0, shape, definition_.name, ": ", what, " gives ", expr.name(), " of shape ", to_text(expr.shape()), ", expected a scalar");
      exprs.push_back(expr);
    }
    for (std::size_t k = 0; k < graph.size(); ++k) {
      const Node& node = graph.node(id_of(k));
      const bool plain = node.domain.empty() && (node.kind == Kind::input || node.kind == Kind::constant || node.kind == Kind::apply);
      WEFT_REQUIRE(plain, usage, definition_.name, ": ", what, " makes a value of shape ", to_text(node.domain), "; it sees scalars and must stay elementwise");
    }
    return exprs;
  }
  void find_lifted_dtypes() {
    Graph graph("lift");
    const Results lifted = definition_.lift(add_inputs(graph, "x", elements_));
    require_count("lift", lifted.size());
    for (const Expr& state : as_exprs(graph, "lift", lifted, {})) dtypes_.push_back(state.dtype());
    for (std::size_t k = 0; k < count(); ++k)
      if (definition_.strong[k]) dtypes_[k] = definition_.start[k].literal().dtype();
  }
  // A state has the dtype that the step gives it back with: numbers start beside the elements and grow until that holds.
  void find_fold_dtypes() {
    for (std::size_t k = 0; k < count(); ++k) {
      const Scalar& start = definition_.start[k].literal();
      dtypes_.push_back(definition_.strong[k] ? start.dtype() : weak_dtype(start));
    }
    for (int round = 0; round < 3; ++round) {
      Graph graph("step");
      const States states = add_inputs(graph, "s", dtypes_);
      const Results results = definition_.step(states, add_inputs(graph, "x", elements_));
      require_count("step", results.size());
      std::vector<DType> wider = dtypes_;
      const States next = as_exprs(graph, "step", results, dtypes_);
      for (std::size_t k = 0; k < count(); ++k)
        if (!definition_.strong[k]) wider[k] = promote(dtypes_[k], next[k].dtype());
      if (wider == dtypes_) return;
      dtypes_ = std::move(wider);
    }
  }

  Graph step() const {
    Graph graph("step");
    const States states = add_inputs(graph, "s", dtypes_), elements = add_inputs(graph, "x", elements_);
    States second = elements;
    if (definition_.lift) {
      second = as_exprs(graph, "lift", definition_.lift(elements), dtypes_);
      for (std::size_t k = 0; k < second.size(); ++k) second[k] = cast(second[k], dtypes_[k]);
    }
    const std::string_view what = definition_.lift ? "combine" : "step";
    const Results results = definition_.step(states, second);
    require_count(what, results.size());
    const States next = as_exprs(graph, what, results, dtypes_);
    for (std::size_t k = 0; k < next.size(); ++k) {
      WEFT_REQUIRE(next[k].dtype() == dtypes_[k], dtype, definition_.name, ": ", what, " turns state ", k, " of ", dtypes_[k], " into ", next[k].dtype(),
                   "\n  cast it, or give the start value as a Scalar of the wider dtype");
      graph.outputs.push_back(next[k].id());
    }
    return graph;
  }
  Graph finish() const {
    Graph graph("finish");
    const Results results = definition_.finish(add_inputs(graph, "s", dtypes_));
    WEFT_REQUIRE(!results.empty(), usage, definition_.name, ": finish gives no value");
    for (const Expr& value : as_exprs(graph, "finish", results, {})) graph.outputs.push_back(value.id());
    return graph;
  }
  Graph gradient() const {
    Graph graph("gradient");
    const States states = add_inputs(graph, "s", dtypes_), elements = add_inputs(graph, "x", elements_), cotangents = add_inputs(graph, "g", dtypes_);
    for (const std::vector<DType>* list : {&dtypes_, &elements_})
      for (const DType dtype : *list)
        WEFT_REQUIRE(is_floating(dtype), dtype, definition_.name, ": grad_fn needs floating states and elements, got ", dtype, "\n  leave it out: derivatives are derived");
    const Results results = definition_.gradient(states, elements, cotangents);
    WEFT_REQUIRE(results.size() == dtypes_.size() + elements_.size(), usage, definition_.name, ": grad_fn gives ", results.size(), " cotangents, expected ",
                 dtypes_.size() + elements_.size(), ": of the states, then of the elements");
    std::vector<DType> wanted = dtypes_;
    wanted.insert(wanted.end(), elements_.begin(), elements_.end());
    const States made = as_exprs(graph, "grad_fn", results, wanted);
    for (std::size_t k = 0; k < made.size(); ++k) graph.outputs.push_back(cast(made[k], wanted[k]).id());
    return graph;
  }
  // A scan emits what each new state finishes as.
  static void add_emissions(Graph& step, const Graph& finish) {
    States states;
    for (std::size_t k = 0; k < finish.inputs.size(); ++k) states.emplace_back(step, step.outputs[k]);
    for (const Expr& emitted : inlined(step, finish, states)) step.outputs.push_back(emitted.id());
  }

  const Accumulator::Definition& definition_;
  const std::vector<DType>& elements_;
  std::optional<DType> common_;                                // of the elements
  std::vector<DType> dtypes_;                                  // of the states
};

}  // namespace

Accumulator::Accumulator(Definition definition) : shared_(std::make_shared<Shared>()) {
  const std::string& given = definition.name;
  WEFT_REQUIRE(is_identifier(given), usage,
               "Accumulator: expected a name of letters, digits and _ that does not start with a digit, got \"", given, "\"");
  WEFT_REQUIRE(!definition.start.empty(), usage, given, ": expected at least one state");
  WEFT_REQUIRE(definition.start.size() == definition.strong.size() && definition.step && definition.finish, usage, given, ": a function is missing");
  for (const Value& value : definition.start)
    WEFT_REQUIRE(value.is_literal(), usage, given, ": a start value is ", value.expr().name(), ", expected a number\n  pass it to the step as another element");
  shared_->definition = std::move(definition);
}

const std::string& Accumulator::name() const { return shared_->definition.name; }
const Accumulator::Definition& Accumulator::definition() const { return shared_->definition; }

std::shared_ptr<const Recurrence> Accumulator::recurrence(const std::vector<DType>& elements) const {
  WEFT_REQUIRE(!elements.empty(), usage, name(), ": expected at least one operand");
  const std::lock_guard lock(shared_->mutex);
  auto& traced = shared_->traced[elements];
  if (!traced) traced = Tracer(shared_->definition, elements).run();
  return traced;
}

namespace detail {

void wrong_element_count(const std::string& name, std::size_t count) {
  fail(ErrorKind::usage, concat(name, ": its function does not take ", count, count == 1 ? " element" : " elements"));
}

void add_start(Accumulator::Definition& definition, const Scalar& value) {
  definition.start.push_back(Value::of(value));
  definition.strong.push_back(true);
}

}  // namespace detail
}  // namespace weft
