#include "plan.h"

#include "../../graph/maps.h"
#include "code/fold_support.h"

namespace weft {
namespace {

// A float sum over nothing is +0, not the unit -0.
Scalar value_of_nothing(const Fold& fold, DType dtype) {
  return fold.ordered && fold.accumulator == AccumulatorId::sum ? Scalar::of(dtype, 0.0) : unit(fold.accumulator, dtype);
}

}  // namespace

StagePlan plan_merge(const Program& program, const std::vector<int>& slots, Plan& plan) {
  const int units = plan.sizes.add(program.units());
  const auto slot_of = [&](int buffer) { return slots[static_cast<std::size_t>(buffer)]; };
  auto merge = std::make_shared<Merge>();
  for (const Fold& fold : program.folds) {
    if (fold.partial < 0) continue;
    const Buffer &partial = program.buffer(fold.partial), &target = program.buffer(fold.target);
    const int count = plan.sizes.add(count_of(partial.extents)), pitch = plan.sizes.add(row_elements(partial));
    Merge::Result result{merge_function(fold.accumulator, partial.dtype), slot_of(fold.partial), slot_of(fold.target), count, pitch, units, value_of_nothing(fold, partial.dtype), {}};
    for (std::size_t d = 0; d < partial.axes.size(); ++d)
      for (std::size_t to = 0; to < target.extents.size(); ++to)
        if (fold.target_axes[to] == partial.axes[d])
          result.axes.push_back({plan.sizes.add(program.axis(partial.axes[d]).extent), plan.stride(partial, result.rows, d), plan.stride(target, result.array, to)});
    merge->results.push_back(std::move(result));
  }
  StagePlan stage;
  stage.name = program.name + " merge";
  stage.merge = std::move(merge);
  return stage;
}

}  // namespace weft
