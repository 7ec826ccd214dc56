// Symbolic sizes. An Extent is a number or an expression over symbols: "n", n + 1, 2*n + m, (n + 1)/2.
//
// Extents are canonical: equal sizes written in different ways that normalise to the same linear form compare equal
// (n + 1 - 1 == n). Symbols are bound by input shapes at the call. A quotient (floor division by a positive number)
// and a product of symbolic extents are atoms: they compare equal when their parts do. So is common(n,m): the extent of
// arrays of extents n and m, one of which repeats if it is 1.
// The symbol s[0] is the value of element 0 of the integer input %s.
//
//   Extent e = "n";  Extent half = floor_div(e + 1, 2);  half.evaluate({{"n", 7}}) == 4
//
// Pure values, cheap to copy; thread-safe.
#pragma once
#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/shape.h>

namespace weft {

using Bindings = std::map<std::string, Index, std::less<>>;

class Extent {
 public:
  struct Term;                                                             // coefficient * atom
  Extent() = default;                                                      // 0
  template <std::integral T> Extent(T value) : constant_(static_cast<Index>(value)) {}
  Extent(const char* symbol) : Extent(std::string(symbol)) {}
  Extent(const std::string& symbol);                                       // "n" or "s[0]"; throws Error(text)

  bool is_number() const { return terms_ == nullptr; }
  bool is(Index value) const { return is_number() && constant_ == value; }
  std::optional<Index> number() const { return is_number() ? std::optional<Index>(constant_) : std::nullopt; }
  Index constant() const { return constant_; }                             // the constant part
  Index evaluate(const Bindings& bindings) const;                          // throws Error(shape) for an unbound symbol
  void collect_symbols(std::vector<std::string>& out) const;               // each name once
  bool is_symbol(std::string_view name) const;                             // exactly 1*name + 0
  Index divisor(const Bindings& multiples) const;                          // of every value, if each symbol is a multiple of its number; 0 of 0

  friend Extent operator+(const Extent& a, const Extent& b);
  friend Extent operator-(const Extent& a, const Extent& b);
  friend Extent operator*(const Extent& a, const Extent& b);
  friend Extent floor_div(const Extent& a, Index divisor);                 // divisor > 0
  friend Extent common_extent(const Extent& a, const Extent& b);           // evaluates if they are equal or one of them is 1
  friend Extent replace(const Extent& extent, const std::map<std::string, Extent, std::less<>>& symbols);
  friend bool operator==(const Extent& a, const Extent& b);
  friend std::string to_text(const Extent& extent);                        // "n", "n-1", "2*n+m", "(n+1)/2"

 private:
  using Terms = std::vector<Term>;
  static Extent from_terms(Terms terms, Index constant);
  Index constant_ = 0;
  std::shared_ptr<const Terms> terms_;                                     // sorted by atom text, non-zero, or null
};

Extent common_extent(const Extent& a, const Extent& b);
Extent replace(const Extent& extent, const std::map<std::string, Extent, std::less<>>& symbols);   // those that it names
struct ElementSymbol {                                                     // "s[0]"
  std::string symbol, input;
  Index element = 0;
};
std::optional<ElementSymbol> element_symbol(const std::string& symbol);

Extent parse_extent(std::string_view text);                                // the inverse of to_text; throws Error(text)
std::ostream& operator<<(std::ostream& out, const Extent& extent);

using Shape = std::vector<Extent>;
std::string to_text(const Shape& shape);                                   // "[n, 64]"
Dims evaluate(const Shape& shape, const Bindings& bindings);                // throws Error(shape) for an unbound symbol

}  // namespace weft
