// What the code of a variant takes for granted about sizes.
//
// The first call of a Function decides: if its sizes are whole vectors, its code has no masks and no loops over what is left; if what it
// folds is no longer than a leaf, none of the tree over leaves; if a small body runs over no more than that, it is one unit; if nothing is
// empty, it does not ask. Half of the code of a small graph is such cases, and code is compile time. A later call for which the facts do
// not hold gets code that takes nothing for granted but that indices fit 32 bits, unless its own do not, and the same bits from it.
#pragma once
#include <limits>
#include <map>
#include <string>

#include <weft/extent.h>

namespace weft {

// Of one size, in all calls of a variant.
struct SizeFacts {
  Index multiple = 1;                                  // divides it
  Index least = 0, most = std::numeric_limits<Index>::max();
  friend bool operator==(const SizeFacts&, const SizeFacts&) = default;
};
using Facts = std::map<std::string, SizeFacts, std::less<>>;   // by symbol

// Facts that hold for such calls as this one: nothing as narrow as its sizes, or every call would be another variant.
Facts facts_of_call(const Bindings& bindings);
// Those of code that is to serve calls of all sizes: only arrays of billions of elements get other code. Indices of all others fit 32 bits.
Facts facts_of_all_but_huge(const Bindings& bindings);
constexpr Index most_in_32_bits = std::numeric_limits<std::int32_t>::max();
bool hold_for(const Facts& facts, const Bindings& bindings);

// What follows for an extent; and for the extent of two axes that became one.
SizeFacts facts_of(const Extent& extent, const Facts& facts);
SizeFacts facts_of_merged(const SizeFacts& outer, const SizeFacts& inner, const Extent& merged, const Facts& facts);

// Which of the facts code relies on: noted while it is made.
class ReliedFacts {
 public:
  void whole(const Extent& extent, Index size);         // that so many elements, a power of two, go into it
  void at_most(const Extent& extent, Index most);
  void some(const Extent& extent);                      // it is not 0
  Facts of(const Facts& facts) const;

 private:
  Facts relied_;
};

std::string to_text(const Facts& facts);

}  // namespace weft
