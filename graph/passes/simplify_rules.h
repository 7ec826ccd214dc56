// The rewrite rules of simplify, as data in the graph's own terms.
//
//   {"multiply(a, 1)", "a", exact}          a, b, c stand for any value; the same letter twice for the same value
//
// A literal matches a scalar constant of that value and sign: 0 is not -0.0. `numbers` says for which dtypes a rule
// holds. What a text cannot say (cast to the same dtype, copy of a whole node) is in simplify.cpp.
// exact: bit-identical for all inputs, NaN, infinities and -0 included (the bits of a NaN do not count).
// real: equal over the reals where the pattern is defined, and better conditioned. tests/graph/passes/simplify_test.cpp
// evaluates both sides of every row.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include <weft/passes.h>

namespace weft {

enum class Numbers : std::uint8_t { any, integers, floats };

struct Rule {
  std::string_view pattern, replacement;
  RuleClass kind = RuleClass::exact;
  Numbers numbers = Numbers::any;
};

std::span<const Rule> simplify_rules();

// A side of a rule, parsed.
struct Term {
  enum class Form : std::uint8_t { variable, literal, op };
  Form form = Form::variable;
  std::size_t variable = 0;                                  // a, b, c: 0, 1, 2
  double literal = 0;
  Op op = Op::copy;
  std::vector<Term> operands;
};
Term parse_term(std::string_view text);                      // throws Error(text)

}  // namespace weft
