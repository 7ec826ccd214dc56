#include <weft/extent.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <ostream>

#include <weft/error.h>

#include "checked.h"
#include "names.h"

namespace weft {
namespace {
enum class Atom { symbol, quotient, product, common };
}  // namespace

// An atom is a symbol, or a quotient of an extent by a number, or a product of extents, or what two extents have in common;
// `text` identifies it.
struct Extent::Term {
  Index coefficient = 1;
  std::string text;
  Atom atom = Atom::symbol;
  std::vector<Extent> parts = {};  // quotient: the numerator; product: the factors; common: both; symbol: empty
  Index divisor = 1;               // of a quotient
};

namespace {
// A divisor of a product, even where it is too large.
Index product_or_first(Index a, Index b) {
  Index product;
  return __builtin_mul_overflow(a, b, &product) ? a : product;
}
Index floor_quotient(Index a, Index b) { return a / b - (a % b < 0 ? 1 : 0); }
}  // namespace

std::optional<ElementSymbol> element_symbol(const std::string& symbol) {
  const std::size_t open = symbol.find('[');
  if (open == std::string::npos || symbol.back() != ']' || !is_identifier(std::string_view(symbol).substr(0, open))) return std::nullopt;
  const std::string digits = symbol.substr(open + 1, symbol.size() - open - 2);
  if (digits.empty() || digits.size() > 9 || (digits[0] == '0' && digits.size() > 1)) return std::nullopt;
  if (!std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isdigit(c); })) return std::nullopt;
  return ElementSymbol{symbol, symbol.substr(0, open), std::stoll(digits)};
}

// What may have been meant by a text that names no symbol.
static std::string remedy_for(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return concat("\n  write the number ", text, " without quotes");
  if (text.find_first_of("+-*/()") == std::string::npos || text.find('[') != std::string::npos) return "";
  return concat("\n  an expression is parse_extent(\"", text, "\")");
}

Extent::Extent(const std::string& symbol) {
  WEFT_REQUIRE(is_identifier(symbol) || element_symbol(symbol), text, "extent: expected the name of a symbol, got \"", symbol, "\"", remedy_for(symbol));
  terms_ = std::make_shared<const Terms>(Terms{Term{1, symbol}});
}

Extent Extent::from_terms(Terms terms, Index constant) {
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.text < b.text; });
  Terms merged;
  for (Term& term : terms) {
    if (!merged.empty() && merged.back().text == term.text) merged.back().coefficient = checked_sum(merged.back().coefficient, term.coefficient);
    else merged.push_back(std::move(term));
  }
  std::erase_if(merged, [](const Term& term) { return term.coefficient == 0; });
  Extent result(constant);
  if (!merged.empty()) result.terms_ = std::make_shared<const Terms>(std::move(merged));
  return result;
}

Index Extent::evaluate(const Bindings& bindings) const {
  Index value = constant_;
  if (!terms_) return value;
  for (const Term& term : *terms_) {
    Index atom = 1;
    switch (term.atom) {
      case Atom::symbol: {
        const auto found = bindings.find(term.text);
        WEFT_REQUIRE(found != bindings.end(), shape, "symbol ", term.text, " is not bound by any input");
        atom = found->second;
        break;
      }
      case Atom::quotient: atom = floor_quotient(term.parts[0].evaluate(bindings), term.divisor); break;
      case Atom::product:
        for (const Extent& part : term.parts) atom = checked_product(atom, part.evaluate(bindings));
        break;
      case Atom::common: {
        const Index a = term.parts[0].evaluate(bindings), b = term.parts[1].evaluate(bindings);
        WEFT_REQUIRE(a == b || a == 1 || b == 1, shape, "extents ", term.parts[0], " = ", a, " and ", term.parts[1], " = ", b,
                     " must be equal, or one of them 1");
        atom = a == 1 ? b : a;
        break;
      }
    }
    value = checked_sum(value, checked_product(term.coefficient, atom));
  }
  return value;
}

void Extent::collect_symbols(std::vector<std::string>& out) const {
  if (!terms_) return;
  for (const Term& term : *terms_) {
    for (const Extent& part : term.parts) part.collect_symbols(out);
    if (term.atom == Atom::symbol && std::find(out.begin(), out.end(), term.text) == out.end()) out.push_back(term.text);
  }
}

bool Extent::is_symbol(std::string_view name) const {
  return terms_ && constant_ == 0 && terms_->size() == 1 && (*terms_)[0].coefficient == 1 && (*terms_)[0].text == name;
}

Index Extent::divisor(const Bindings& multiples) const {
  Index all = std::abs(constant_);
  if (!terms_) return all;
  for (const Term& term : *terms_) {
    Index atom = 1;
    switch (term.atom) {
      case Atom::symbol:
        if (const auto found = multiples.find(term.text); found != multiples.end()) atom = std::abs(found->second);
        break;
      case Atom::quotient:
        if (const Index part = term.parts[0].divisor(multiples); part % term.divisor == 0) atom = part / term.divisor;
        break;
      case Atom::product:
        for (const Extent& part : term.parts) atom = product_or_first(atom, part.divisor(multiples));
        break;
      case Atom::common: atom = std::gcd(term.parts[0].divisor(multiples), term.parts[1].divisor(multiples)); break;
    }
    all = std::gcd(all, product_or_first(atom, std::abs(term.coefficient)));
  }
  return all;
}

Extent operator+(const Extent& a, const Extent& b) {
  if (a.is_number() && b.is_number()) return Extent(checked_sum(a.constant_, b.constant_));
  Extent::Terms terms;
  if (a.terms_) terms = *a.terms_;
  if (b.terms_) terms.insert(terms.end(), b.terms_->begin(), b.terms_->end());
  return Extent::from_terms(std::move(terms), checked_sum(a.constant_, b.constant_));
}

Extent operator-(const Extent& a, const Extent& b) { return a + Extent(-1) * b; }

Extent operator*(const Extent& a, const Extent& b) {
  if (!a.is_number() && !b.is_number()) {
    // 2*n times (m)*(k) is 2*((k)*(m)*(n)): numbers in front, the factors sorted.
    Extent::Term product{1, {}, Atom::product};
    for (const Extent& side : {a, b}) {
      const bool is_term = side.constant_ == 0 && side.terms_->size() == 1;
      const Extent::Term term = is_term ? side.terms_->front() : Extent::Term{1, {}, Atom::product, {side}};
      product.coefficient = checked_product(product.coefficient, term.coefficient);
      if (term.atom == Atom::product) product.parts.insert(product.parts.end(), term.parts.begin(), term.parts.end());
      else product.parts.push_back(Extent::from_terms({Extent::Term{1, term.text, term.atom, term.parts, term.divisor}}, 0));
    }
    std::sort(product.parts.begin(), product.parts.end(), [](const Extent& p, const Extent& q) { return to_text(p) < to_text(q); });
    for (const Extent& part : product.parts) product.text += (product.text.empty() ? "(" : "*(") + to_text(part) + ")";
    return Extent::from_terms({std::move(product)}, 0);
  }
  const Extent& symbolic = a.is_number() ? b : a;
  const Index factor = a.is_number() ? a.constant_ : b.constant_;
  Extent::Terms terms;
  if (symbolic.terms_) terms = *symbolic.terms_;
  for (auto& term : terms) term.coefficient = checked_product(term.coefficient, factor);
  return Extent::from_terms(std::move(terms), checked_product(symbolic.constant_, factor));
}

Extent floor_div(const Extent& a, Index divisor) {
  WEFT_REQUIRE(divisor > 0, shape, "extent: expected a positive divisor, got ", divisor);
  if (divisor == 1) return a;
  if (a.is_number()) return Extent(floor_quotient(a.constant_, divisor));
  const auto divides = [&](const Extent::Term& term) { return term.coefficient % divisor == 0; };
  if (std::all_of(a.terms_->begin(), a.terms_->end(), divides)) {         // floor((k s + r) / k) = s + floor(r / k)
    Extent::Terms terms = *a.terms_;
    for (Extent::Term& term : terms) term.coefficient /= divisor;
    return Extent::from_terms(std::move(terms), floor_quotient(a.constant_, divisor));
  }
  std::string text = "(" + to_text(a) + ")/" + std::to_string(divisor);
  return Extent::from_terms({Extent::Term{1, std::move(text), Atom::quotient, {a}, divisor}}, 0);
}

Extent common_extent(const Extent& a, const Extent& b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  WEFT_REQUIRE(!a.is_number() || !b.is_number(), shape, "extent: ", a, " and ", b, " have no common extent");
  const bool swap = to_text(b) < to_text(a);
  const Extent &first = swap ? b : a, &second = swap ? a : b;
  std::string text = "common(" + to_text(first) + "," + to_text(second) + ")";
  return Extent::from_terms({Extent::Term{1, std::move(text), Atom::common, {first, second}}}, 0);
}

Extent replace(const Extent& extent, const std::map<std::string, Extent, std::less<>>& symbols) {
  if (extent.is_number()) return extent;
  Extent result(extent.constant_);
  for (const Extent::Term& term : *extent.terms_) {
    Extent atom = 1;
    switch (term.atom) {
      case Atom::symbol: {
        const auto found = symbols.find(term.text);
        atom = found != symbols.end() ? found->second : Extent(term.text);
        break;
      }
      case Atom::quotient: atom = floor_div(replace(term.parts[0], symbols), term.divisor); break;
      case Atom::product:
        for (const Extent& part : term.parts) atom = atom * replace(part, symbols);
        break;
      case Atom::common: atom = common_extent(replace(term.parts[0], symbols), replace(term.parts[1], symbols)); break;
    }
    result = result + Extent(term.coefficient) * atom;
  }
  return result;
}

bool operator==(const Extent& a, const Extent& b) {
  if (a.constant_ != b.constant_ || a.is_number() != b.is_number()) return false;
  if (a.terms_ == b.terms_) return true;
  return std::equal(a.terms_->begin(), a.terms_->end(), b.terms_->begin(), b.terms_->end(),
                    [](const Extent::Term& s, const Extent::Term& t) { return s.coefficient == t.coefficient && s.text == t.text; });
}

std::string to_text(const Extent& extent) {
  if (extent.is_number()) return std::to_string(extent.constant_);
  std::string text;
  for (const auto& term : *extent.terms_) {
    if (term.coefficient < 0) text += "-";
    else if (!text.empty()) text += "+";
    const bool scaled = std::abs(term.coefficient) != 1;
    if (scaled) text += std::to_string(std::abs(term.coefficient)) + "*";
    text += scaled && term.atom != Atom::symbol ? "(" + term.text + ")" : term.text;   // 3*((n)/2) is not (3*n)/2
  }
  if (extent.constant_ > 0) text += "+" + std::to_string(extent.constant_);
  if (extent.constant_ < 0) text += std::to_string(extent.constant_);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Extent& extent) { return out << to_text(extent); }

std::string to_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t k = 0; k < shape.size(); ++k) text += (k ? ", " : "") + to_text(shape[k]);
  return text + "]";
}

Dims evaluate(const Shape& shape, const Bindings& bindings) {
  Dims sizes;
  for (const Extent& extent : shape) sizes.push_back(extent.evaluate(bindings));
  return sizes;
}

}  // namespace weft
