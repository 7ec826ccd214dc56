#include <weft/accumulator.h>

#include "../../graph/maps.h"
#include "plan.h"

namespace weft {

std::shared_ptr<const UnitSearch> plan_search(const Program& program, const std::vector<int>& slots, Plan& plan) {
  if (program.searched.empty()) return nullptr;
  auto search = std::make_shared<UnitSearch>();
  for (int number : program.searched) {
    const Buffer& rows = program.buffer(number);
    search->extremes.push_back({rows.dtype, slots[static_cast<std::size_t>(number)], plan.sizes.add(count_of(rows.extents)), plan.sizes.add(row_elements(rows))});
  }
  for (const Fold& fold : program.folds) {
    if (fold.partial < 0) continue;
    const Buffer& rows = program.buffer(fold.partial);
    search->results.push_back({slots[static_cast<std::size_t>(fold.partial)], plan.sizes.add(count_of(rows.extents)), plan.sizes.add(row_elements(rows)), unit(fold.accumulator, rows.dtype)});
  }
  return search;
}

}  // namespace weft
