// einsum: from letters to labels.
#include <weft/linear_algebra.h>

#include <algorithm>
#include <map>

#include "sum_of_products.h"

namespace weft {
namespace {

constexpr std::string_view ellipsis = "...";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string without_spaces(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result), [](char c) { return c != ' '; });
  return result;
}

// "ij...k": the letters before and after the dots.
struct Term {
  std::string text, before, after;
  bool has_ellipsis = false;
  std::size_t letters() const { return before.size() + after.size(); }
};

class Subscripts {
 public:
  explicit Subscripts(std::string_view text) : text_(text) {
    const std::string dense = without_spaces(text);
    const std::size_t arrow = dense.find("->");
    std::string_view inputs = std::string_view(dense).substr(0, arrow);
    for (std::size_t comma; (comma = inputs.find(',')) != std::string_view::npos; inputs.remove_prefix(comma + 1)) terms_.push_back(term(inputs.substr(0, comma)));
    terms_.push_back(term(inputs));
    result_ = arrow == std::string::npos ? implied_result() : given_result(std::string_view(dense).substr(arrow + 2));
  }
  const std::vector<Term>& terms() const { return terms_; }
  const Term& result() const { return result_; }
  std::string what() const { return concat("einsum(\"", text_, "\")"); }

 private:
  Term term(std::string_view text) const {
    Term term{std::string(text), {}, {}, false};
    while (!text.empty()) {
      if (text.starts_with(ellipsis) && !term.has_ellipsis) {
        term.has_ellipsis = true;
        text.remove_prefix(ellipsis.size());
        continue;
      }
      const char c = text.front();
      WEFT_REQUIRE(is_letter(c), usage, what(), ": unexpected '", c, "' in \"", term.text, "\"\n  write a letter for each axis, a comma between operands, ... for axes "
                   "without letters, and -> before the letters of the result");
      WEFT_REQUIRE((term.before + term.after).find(c) == std::string::npos, usage, what(), ": ", c, " stands twice in \"", term.text,
                   "\"\n  a diagonal is no axis: multiply by eye and sum, or select with where");
      (term.has_ellipsis ? term.after : term.before) += c;
      text.remove_prefix(1);
    }
    return term;
  }

  Term given_result(std::string_view text) const {
    Term result = term(text);
    std::string known;
    bool dots = false;
    for (const Term& each : terms_) known += each.before + each.after, dots = dots || each.has_ellipsis;
    for (char c : result.before + result.after)
      WEFT_REQUIRE(known.find(c) != std::string::npos, usage, what(), ": no operand has the letter ", c, " of the result \"", result.text, "\"");
    WEFT_REQUIRE(dots || !result.has_ellipsis, usage, what(), ": the result has ... but no operand does");
    return result;
  }

  Term implied_result() const {
    std::map<char, int> counts;
    Term result;
    for (const Term& each : terms_) {
      result.has_ellipsis = result.has_ellipsis || each.has_ellipsis;
      for (char c : each.before + each.after) ++counts[c];
    }
    for (const auto& [letter, count] : counts)
      if (count == 1) result.after += letter;
    return result;
  }

  std::string text_;
  std::vector<Term> terms_;
  Term result_;
};

// `count` axes without letters, counted from the last.
Labels labels_of(const Term& term, std::size_t count) {
  Labels labels;
  for (char c : term.before) labels.emplace_back(1, c);
  if (term.has_ellipsis)
    for (std::size_t k = count; k > 0; --k) labels.push_back(concat("-", k, " of ..."));
  for (char c : term.after) labels.emplace_back(1, c);
  return labels;
}

}  // namespace

Expr einsum(std::string_view subscripts, const std::vector<Expr>& operands) {
  const Subscripts parsed(subscripts);
  const std::string what = parsed.what();
  WEFT_REQUIRE(parsed.terms().size() == operands.size(), usage, what, ": expected ", parsed.terms().size(), parsed.terms().size() == 1 ? " operand" : " operands",
               ", got ", operands.size());
  std::vector<LabeledOperand> labeled;
  std::size_t most = 0;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Term& term = parsed.terms()[k];
    WEFT_REQUIRE(!operands[k].is_empty(), usage, what, ": operand ", k, " is an empty Expr");
    const auto rank = static_cast<std::size_t>(operands[k].rank());
    WEFT_REQUIRE(term.has_ellipsis ? rank >= term.letters() : rank == term.letters(), shape, what, ": \"", term.text, "\" has ", term.letters(),
                 term.letters() == 1 ? " letter but " : " letters but ", operands[k].name(), " has shape ", to_text(operands[k].shape()), "\n  give each axis a letter, or write ...");
    labeled.push_back({operands[k], labels_of(term, rank - term.letters())});
    if (term.has_ellipsis) most = std::max(most, rank - term.letters());
  }
  return sum_of_products(what, std::move(labeled), labels_of(parsed.result(), most));
}

}  // namespace weft
