#include "variants.h"

#include <algorithm>
#include <limits>

#include "schedule/cost_model.h"

namespace weft {
namespace {

// Of a call on one thread, estimated. The last unit may be a part of one.
double nanoseconds_of(const Variant& variant, const Bindings& bindings) {
  const auto value = [&](const Extent& extent) { return static_cast<double>(extent.evaluate(bindings)); };
  double all = 0;
  for (const StagePlan& stage : variant.plan.stages)
    if (stage.work >= 0) all += value(stage.elements) / static_cast<double>(stage.unit) * value(variant.plan.sizes.specs()[static_cast<std::size_t>(stage.work)].extent);
  return all;
}

// By what factor the size differs most that does: of a call from those that the variant's loops were chosen for.
double distance(const Variant& variant, const Bindings& bindings) {
  double most = 1;
  for (const auto& [symbol, value] : bindings) {
    const auto [less, more] = std::minmax(value, variant.bindings.at(symbol));
    most = std::max(most, static_cast<double>(more + 1) / static_cast<double>(less + 1));
  }
  return most;
}

}  // namespace

std::shared_ptr<const Variant> Variants::find(const Bindings& bindings) const {
  std::shared_ptr<const Variant> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (const auto& variant : all_) {
    const double apart = distance(*variant, bindings);
    if (apart < least && hold_for(variant->facts, bindings)) nearest = variant, least = apart;
  }
  return nearest && (least <= like_sizes || !compiles_for(bindings)) ? nearest : nullptr;
}

bool Variants::may_take_facts(const Bindings& bindings) const {
  return all_.empty() || (compiles_for(bindings) && std::none_of(all_.begin(), all_.end(), [&](const auto& variant) { return distance(*variant, bindings) <= like_sizes; }));
}

// Whether a call of these sizes is worth loops of its own.
bool Variants::compiles_for(const Bindings& bindings) const { return all_.size() < most_variants && nanoseconds_of(*all_.front(), bindings) >= worth_a_variant; }

}  // namespace weft
