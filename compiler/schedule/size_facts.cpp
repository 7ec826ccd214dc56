#include "size_facts.h"

#include <algorithm>
#include <bit>

#include <weft/accumulator.h>
#include <weft/error.h>

#include "cost_model.h"

namespace weft {
namespace {

constexpr Index unlimited = std::numeric_limits<Index>::max();

std::vector<std::string> symbols_of(const Extent& extent) {
  std::vector<std::string> symbols;
  extent.collect_symbols(symbols);
  return symbols;
}

}  // namespace

Facts facts_of_all_but_huge(const Bindings& bindings) {
  Facts facts;
  for (const auto& [symbol, value] : bindings)
    if (value > 0 && value <= most_in_32_bits) facts[symbol].most = most_in_32_bits;
  return facts;
}

Facts facts_of_call(const Bindings& bindings) {
  constexpr Index widest_step = most_vectors * lane_count;
  Facts facts = facts_of_all_but_huge(bindings);
  for (const auto& [symbol, value] : bindings) {
    if (value <= 0) continue;
    SizeFacts& of_symbol = facts[symbol];
    of_symbol.least = 1;
    if (value % lane_count == 0) of_symbol.multiple = std::min(value & -value, widest_step);
    if (value <= fold_leaf) of_symbol.most = std::max<Index>(lane_count, static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(value))));
  }
  return facts;
}

bool hold_for(const Facts& facts, const Bindings& bindings) {
  return std::all_of(facts.begin(), facts.end(), [&](const auto& fact) {
    const auto found = bindings.find(fact.first);
    const SizeFacts& of_symbol = fact.second;
    return found != bindings.end() && found->second % of_symbol.multiple == 0 && found->second >= of_symbol.least && found->second <= of_symbol.most;
  });
}

SizeFacts facts_of(const Extent& extent, const Facts& facts) {
  if (extent.is_number()) return {extent.constant(), extent.constant(), extent.constant()};
  Bindings multiples;
  for (const auto& [symbol, of_symbol] : facts) multiples[symbol] = of_symbol.multiple;
  SizeFacts found{extent.divisor(multiples)};
  for (const auto& [symbol, of_symbol] : facts)
    if (extent.is_symbol(symbol)) found.least = of_symbol.least, found.most = of_symbol.most;
  return found;
}

SizeFacts facts_of_merged(const SizeFacts& outer, const SizeFacts& inner, const Extent& merged, const Facts& facts) {
  SizeFacts found = facts_of(merged, facts);
  found.least = std::min(outer.least, inner.least);
  return found;
}

// Of an extent that is more than a symbol, all that is known of its symbols is relied on.
void ReliedFacts::whole(const Extent& extent, Index size) {
  for (const std::string& symbol : symbols_of(extent)) {
    Index& multiple = relied_[symbol].multiple;
    multiple = std::max(multiple, extent.is_symbol(symbol) ? size : unlimited);
  }
}

void ReliedFacts::at_most(const Extent& extent, Index most) {
  for (const std::string& symbol : symbols_of(extent)) {
    Index& relied = relied_[symbol].most;
    relied = std::min(relied, most);
  }
}

void ReliedFacts::some(const Extent& extent) {
  for (const std::string& symbol : symbols_of(extent)) relied_[symbol].least = 1;
}

Facts ReliedFacts::of(const Facts& facts) const {
  Facts found;
  for (const auto& [symbol, relied] : relied_) {
    const auto entry = facts.find(symbol);
    const SizeFacts known = entry == facts.end() ? SizeFacts{} : entry->second;
    WEFT_ASSERT(relied.least <= known.least && relied.most >= known.most, "code relies on what is not known of ", symbol);
    const SizeFacts both{std::min(relied.multiple, known.multiple), relied.least, relied.most};
    if (both != SizeFacts{}) found[symbol] = both;
  }
  return found;
}

std::string to_text(const Facts& facts) {
  std::string text;
  for (const auto& [symbol, of_symbol] : facts) {
    const auto add = [&](const auto&... parts) { text += concat(text.empty() ? "" : ", ", symbol, parts...); };
    if (of_symbol.multiple > 1) add(" a multiple of ", of_symbol.multiple);
    if (of_symbol.least > 0) add(" not 0");
    if (of_symbol.most < unlimited) add(" at most ", of_symbol.most);
  }
  return text;
}

}  // namespace weft
