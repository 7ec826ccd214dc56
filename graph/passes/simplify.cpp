#include <array>
#include <cmath>
#include <optional>

#include <weft/passes.h>

#include "maps.h"
#include "node_parts.h"
#include "rebuild.h"
#include "simplify_rules.h"

namespace weft {
namespace {

struct ParsedRule {
  Term pattern, replacement;
  RuleClass kind;
  Numbers numbers;
};

// Parsed once (thread-safe: a function-local static), by the op at the root of the pattern.
const std::vector<std::vector<ParsedRule>>& rules_by_op() {
  static const auto table = [] {
    std::vector<std::vector<ParsedRule>> result(op_table().size());
    for (const Rule& rule : simplify_rules()) {
      ParsedRule parsed{parse_term(rule.pattern), parse_term(rule.replacement), rule.kind, rule.numbers};
      result[static_cast<std::size_t>(parsed.pattern.op)].push_back(std::move(parsed));
    }
    return result;
  }();
  return table;
}

bool admits(Numbers numbers, DType dtype) {
  return numbers == Numbers::any || (numbers == Numbers::floats ? is_floating(dtype) : is_integer(dtype));
}

using Bound = std::array<std::optional<Operand>, 3>;

// Values are operands over the domain of the node being rewritten: patterns see through maps.
class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  bool match(const Term& term, Operand value, Bound& bound) const {
    if (term.form == Term::Form::variable) {
      auto& seen = bound[term.variable];
      if (!seen) seen = std::move(value);
      else return seen->node == value.node && seen->map == value.map;
      return true;
    }
    while (is_pure_copy(graph_, value.node)) value = operand_of(graph_, value, 0);
    const Node& node = graph_.node(value.node);
    if (term.form == Term::Form::literal) return is_literal(node, term.literal);
    if (node.kind != Kind::apply || node.op != term.op || node.kept != static_cast<int>(node.domain.size())) return false;
    for (std::size_t k = 0; k < term.operands.size(); ++k)
      if (!match(term.operands[k], operand_of(graph_, value, static_cast<int>(k)), bound)) return false;
    return true;
  }

 private:
  static bool is_literal(const Node& node, double literal) {
    const Scalar* number = scalar_of(node);
    if (!number || is_boolean(node.dtype)) return false;
    const double value = number->as_double();
    return value == literal && std::signbit(value) == std::signbit(literal);
  }
  const Graph& graph_;
};

// A node about to be added, being rewritten.
struct Candidate {
  Node node;
  std::vector<Operand> operands;
};

class Simplifier {
 public:
  Simplifier(const Graph& from, RuleClass allowed) : from_(from), rebuild_(from), allowed_(allowed) {}

  Graph run() {
    for (std::size_t k = 0; k < from_.size(); ++k)
      if (!rebuild_.has(id_of(k))) visit(id_of(k));
    return drop_dead(rebuild_.finish());
  }

 private:
  void visit(NodeId id) {
    Candidate candidate{from_.node(id), rebuild_.operands(id)};
    if (candidate.node.kind == Kind::apply)
      while (rewrite(candidate)) {}                          // rules only shorten or settle: this ends
    const Node& node = candidate.node;
    const bool is_copy = node.kind == Kind::apply && node.op == Op::copy && node.kept == static_cast<int>(node.domain.size());
    if (is_copy && is_whole(rebuild_.to, candidate.operands[0], node.domain)) rebuild_.set(id, candidate.operands[0].node);
    else rebuild_.set(id, rebuild_.to.add(std::move(candidate.node), std::move(candidate.operands)));
  }

  DType dtype_of(const Operand& operand) const { return rebuild_.to.node(operand.node).dtype; }

  bool rewrite(Candidate& candidate) {
    if (candidate.node.op == Op::cast && dtype_of(candidate.operands[0]) == candidate.node.dtype) {
      candidate.node.op = Op::copy;
      return true;
    }
    const DType dtype = dtype_of(candidate.operands.back());
    for (const ParsedRule& rule : rules_by_op()[static_cast<std::size_t>(candidate.node.op)])
      if ((rule.kind == RuleClass::exact || rule.kind == allowed_) && admits(rule.numbers, dtype) && apply(rule, candidate)) return true;
    return false;
  }

  bool apply(const ParsedRule& rule, Candidate& candidate) {
    Bound bound;
    const Matcher matcher(rebuild_.to);
    for (std::size_t k = 0; k < rule.pattern.operands.size(); ++k)
      if (!matcher.match(rule.pattern.operands[k], candidate.operands[k], bound)) return false;
    if (!is_possible(rule.replacement, bound, candidate.node)) return false;
    if (rule.replacement.form == Term::Form::op) {
      candidate.operands = build_operands(rule.replacement, bound, candidate.node);
      candidate.node.op = rule.replacement.op;
    } else {
      candidate.operands = {build(rule.replacement, bound, candidate.node)};
      candidate.node.op = Op::copy;
    }
    return true;
  }

  // G7: every folded axis is still mentioned.
  bool is_possible(const Term& replacement, const Bound& bound, const Node& node) const {
    std::vector<Operand> used;
    collect(replacement, bound, used);
    return mentions_all(used, node.kept, static_cast<int>(node.domain.size()));
  }
  static void collect(const Term& term, const Bound& bound, std::vector<Operand>& used) {
    if (term.form == Term::Form::variable) used.push_back(*bound[term.variable]);
    for (const Term& operand : term.operands) collect(operand, bound, used);
  }

  std::vector<Operand> build_operands(const Term& term, const Bound& bound, const Node& node) {
    std::vector<Operand> operands;
    for (const Term& operand : term.operands) operands.push_back(build(operand, bound, node));
    return operands;
  }
  Operand build(const Term& term, const Bound& bound, const Node& node) {
    if (term.form == Term::Form::variable) return *bound[term.variable];
    if (term.form == Term::Form::literal) return Operand{rebuild_.to.constant(Scalar::of(node.dtype, term.literal)).id(), {}};
    std::vector<Operand> operands = build_operands(term, bound, node);
    std::vector<DType> dtypes;
    for (const Operand& operand : operands) dtypes.push_back(dtype_of(operand));
    const auto dtype = result_dtype(term.op, dtypes, node.dtype);
    WEFT_ASSERT(dtype, "a rule's replacement has a dtype: ", info(term.op).name);
    Candidate inner{node, std::move(operands)};               // may be a pattern itself now: negative(negative(a))
    inner.node.op = term.op;
    inner.node.dtype = *dtype;
    inner.node.kept = static_cast<int>(node.domain.size());
    while (rewrite(inner)) {}
    if (inner.node.op == Op::copy) return inner.operands[0];
    return apply_over_mentioned(rebuild_.to, inner.node.op, *dtype, node.domain, std::move(inner.operands), node.order);
  }

  const Graph& from_;
  Rebuild rebuild_;
  RuleClass allowed_;
};

}  // namespace

Graph simplify(const Graph& graph, RuleClass allowed) { return Simplifier(graph, allowed).run(); }

}  // namespace weft
