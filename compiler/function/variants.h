// The variants that calls of one key (variant_key.h) made a Function compile, and which of them runs a call.
//
// Code of a variant runs all calls for which its facts hold (size_facts.h). But loops were chosen for the sizes of the call that compiled it: which
// axis runs as vectors, what is kept in a cache, how much is worked on at once. With eight rows of 64 that is no choice for 4096 of them: the
// gradient of a logistic loss would take four times as long. So a call that takes a while compiles a variant of its own, unless there is one for sizes
// like its own. Where the loops come out the same, variants share their machine code: then this costs a millisecond or two.
#pragma once
#include <memory>
#include <vector>

#include "variant.h"

namespace weft {

class Variants {
 public:
  // Null: the call compiles one.
  std::shared_ptr<const Variant> find(const Bindings& bindings) const;
  // Whether what it compiles may take facts of its sizes for granted: if not, it serves all calls of such sizes.
  bool may_take_facts(const Bindings& bindings) const;
  void add(std::shared_ptr<const Variant> variant) { all_.push_back(std::move(variant)); }
  const std::vector<std::shared_ptr<const Variant>>& all() const { return all_; }

 private:
  bool compiles_for(const Bindings& bindings) const;

  std::vector<std::shared_ptr<const Variant>> all_;
};

}  // namespace weft
