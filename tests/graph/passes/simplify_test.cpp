// Every rule of simplify: that it fires, and that both sides agree, bit for bit if it is exact.
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include <doctest/doctest.h>

#include <weft/expr.h>
#include <weft/interpret.h>
#include <weft/passes.h>
#include <weft/text.h>

#include "error_text.h"
#include "passes/simplify_rules.h"

using namespace weft;

namespace {

// Which letters of a term occur, and which are conditions.
struct Letters {
  std::array<bool, 3> used{}, is_bool{};
  void scan(const Term& term) {
    for (std::size_t k = 0; k < term.operands.size(); ++k) {
      const Term& operand = term.operands[k];
      const bool condition = (term.op == Op::where && k == 0) || info(term.op).rule == DTypeRule::logical;
      if (operand.form == Term::Form::variable) {
        used[operand.variable] = true;
        if (condition) is_bool[operand.variable] = true;
      }
      scan(operand);
    }
  }
};

// One side of a rule over a graph with one input per letter; nullopt if the dtype has no such op.
std::optional<NodeId> build(Graph& g, const Term& term, const std::array<NodeId, 3>& letters, DType dtype) {
  if (term.form == Term::Form::variable) return letters[term.variable];
  if (term.form == Term::Form::literal) return g.constant(Scalar::of(dtype, term.literal)).id();
  std::vector<Operand> operands;
  std::vector<DType> dtypes;
  for (const Term& operand : term.operands) {
    const auto id = build(g, operand, letters, dtype);
    if (!id) return {};
    operands.push_back(Operand{*id, identity_map(g.node(*id).kept)});
    dtypes.push_back(g.node(*id).dtype);
  }
  const auto result = result_dtype(term.op, dtypes, dtype);
  if (!result) return {};
  return g.apply(term.op, *result, {"n"}, operands);
}

struct Sides {
  std::optional<Graph> pattern, replacement;
};
Sides sides_of(const Rule& rule, DType dtype) {
  Sides sides;
  Letters letters;
  const Term pattern = parse_term(rule.pattern), replacement = parse_term(rule.replacement);
  letters.scan(pattern);
  for (const Term* term : {&pattern, &replacement}) {
    Graph g("t");
    std::array<NodeId, 3> ids;
    std::vector<Expr> inputs;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!letters.used[k]) continue;
      inputs.push_back(g.input(std::string(1, static_cast<char>('a' + k)), letters.is_bool[k] ? bool_ : dtype, {"n"}));
      ids[k] = inputs.back().id();
    }
    std::optional<NodeId> root = build(g, *term, ids, dtype);
    if (root && g.node(*root).kept == 0) root = g.apply(Op::copy, dtype, {"n"}, {Operand{*root, {}}});
    if (root) (term == &pattern ? sides.pattern : sides.replacement) = extract(g, inputs, {Expr(g, *root)});
  }
  return sides;
}

std::vector<double> special_values(DType dtype, RuleClass kind) {
  std::mt19937_64 random(7);
  std::vector<double> values;
  if (kind == RuleClass::real) {
    for (int k = 0; k < 40; ++k) values.push_back(std::uniform_real_distribution(k % 2 ? -3.0 : 0.01, k % 2 ? 3.0 : 0.99)(random));
    return values;
  }
  const double inf = std::numeric_limits<double>::infinity();
  values = {0.0, 1, 2, 3, 127};
  if (is_floating(dtype)) values.insert(values.end(), {-0.0, inf, -inf, std::nan(""), 5e-324, -5e-324, 1e-45, 2.2250738585072014e-308, 1.1754944e-38, 1.7976931348623157e308,
                                0.5, -0.1});
  if (!is_unsigned_integer(dtype) && !is_boolean(dtype)) values.insert(values.end(), {-1, -2, -128});
  for (int k = 0; k < 24; ++k) values.push_back(std::ldexp(std::uniform_real_distribution(1.0, 2.0)(random), static_cast<int>(random() % 60) - 30));
  return values;
}

// Every combination of values for the inputs of a graph.
std::vector<Array> all_combinations(const Graph& g, const std::vector<double>& values) {
  const std::size_t inputs = g.inputs.size();
  Index count = 1;
  for (std::size_t k = 0; k < inputs; ++k) count *= static_cast<Index>(values.size());
  std::vector<Array> arrays;
  Index block = 1;
  for (NodeId id : g.inputs) {
    const DType dtype = g.node(id).dtype;
    Array array(dtype, {count});
    for (Index k = 0; k < count; ++k) {
      const std::size_t choice = static_cast<std::size_t>(k / block) % values.size();
      array.set({k}, is_boolean(dtype) ? Scalar(choice % 2 == 0) : Scalar::of(dtype, values[choice]));
    }
    arrays.push_back(array);
    block *= static_cast<Index>(values.size());
  }
  return arrays;
}

void check_values(const Rule& rule, const Graph& before, const Graph& after, DType dtype) {
  const auto arrays = all_combinations(before, special_values(dtype, rule.kind));
  const Array expected = interpret(before, before.outputs, before.inputs, arrays)[0], got = interpret(after, after.outputs, after.inputs, arrays)[0];
  int wrong = 0;
  for (Index k = 0; k < expected.size(); ++k) {
    const Scalar a = expected.get({k}), b = got.get({k});
    if (rule.kind == RuleClass::exact) {
      if (!(a == b)) ++wrong;
    } else if (std::isfinite(a.as_double())) {
      const double scale = dtype == f32 ? 1e-4 : 1e-12;
      if (!(std::abs(a.as_double() - b.as_double()) <= scale * std::max(1.0, std::abs(a.as_double())))) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

Graph simplified(const std::string& text, RuleClass allowed = RuleClass::exact) { return simplify(parse(text), allowed); }

}  // namespace

TEST_CASE("every rule fires and both sides agree on NaN, infinities, zeros, subnormals and random values") {
  for (const Rule& rule : simplify_rules()) {
    CAPTURE(std::string(rule.pattern));
    int tested = 0;
    for (DType dtype : {f64, f32, i32, u8, i64, bool_}) {
      if (rule.numbers == Numbers::floats && !is_floating(dtype)) continue;
      if (rule.numbers == Numbers::integers && !is_integer(dtype)) continue;
      if (rule.pattern.find("-1") != std::string_view::npos && is_unsigned_integer(dtype)) continue;
      const auto [pattern, replacement] = sides_of(rule, dtype);
      if (!pattern || !replacement) continue;
      CAPTURE(std::string(to_text(dtype)));
      const Graph after = simplify(*pattern, rule.kind);
      CHECK(to_text(after) == to_text(simplify(*replacement, rule.kind)));
      CHECK(to_text(after) != to_text(drop_dead(*pattern)));
      check_values(rule, *pattern, after, dtype);
      ++tested;
    }
    CHECK(tested > 0);
  }
}

TEST_CASE("rules of class real are left alone by default") {
  for (const Rule& rule : simplify_rules()) {
    if (rule.kind != RuleClass::real) continue;
    const auto [pattern, replacement] = sides_of(rule, f64);
    REQUIRE(pattern);
    CHECK(to_text(simplify(*pattern)) == to_text(drop_dead(*pattern)));
  }
}

TEST_CASE("a literal matches its value and sign only") {
  const std::string text = R"(graph t(%a: f64[n], %k: i32[n]) -> (%0, %1, %2, %3) {
  %0: f64[i:n] = add(%a[i], 0)
  %1: f64[i:n] = subtract(%a[i], -0)
  %2: f64[i:n] = multiply(%a[i], 1.0000000000000002)
  %3: i32[i:n] = power(%k[i], 3)
}
)";
  CHECK(to_text(simplified(text)) == text);
}

TEST_CASE("patterns see through maps and copies, and folds keep their axes") {
  CHECK(to_text(simplified(R"(graph t(%a: f64[n,m], %c: bool[m]) -> (%3, %6, %7) {
  %0: f64[i:m,j:n] = negative(%a[j,i])
  %1: f64[i:n,j:m] = copy(%0[j,i])
  %2: f64[i:n,j:m] = negative(%1[i,j])
  %3: f64[i:n] = sum(j:m) copy(%2[i,j])
  %4: f64[] = copy(1:f64)
  %5: f64[i:n] = copy(%4)
  %6: f64[i:n,j:m] = multiply(%5[i], %a[i,j])
  %7: f64[i:n] = sum(j:m) where(%c[j], %a[i,0], %a[i,0])
}
)")) == R"(graph t(%a: f64[n,m], %c: bool[m]) -> (%0, %1, %2) {
  %0: f64[i:n] = sum(j:m) copy(%a[i,j])
  %1: f64[i:n,j:m] = copy(%a[i,j])
  %2: f64[i:n] = sum(j:m) where(%c[j], %a[i,0], %a[i,0])
}
)");
}

TEST_CASE("rules apply one after the other, and casts to the same dtype go") {
  CHECK(to_text(simplified(R"(graph t(%a: f64[n]) -> (%5) {
  %0: f64[i:n] = cast(%a[i])
  %1: f64[i:n] = sigmoid(%0[i])
  %2: f64[i:n] = subtract(1, %1[i])
  %3: f64[i:n] = log(%2[i])
  %4: f64[i:n] = negative(%3[i])
  %5: f64[i:n] = multiply(%4[i], 1)
}
)", RuleClass::real)) == R"(graph t(%a: f64[n]) -> (%0) {
  %0: f64[i:n] = softplus(%a[i])
}
)");
}

TEST_CASE("a rule that is not a term is an error of kind text") {
  CHECK(error_text([] { parse_term("add(a, b"); }) == "text: rule: add takes 2 operands in \"add(a, b\"");
  CHECK(error_text([] { parse_term("plus(a, b)"); }) == "text: rule: expected an op, a, b, c or a number but got \"plus\" in \"plus(a, b)\"");
  CHECK(error_text([] { parse_term("add(a, b))"); }) == "text: rule: unexpected \")\" in \"add(a, b))\"");
}
