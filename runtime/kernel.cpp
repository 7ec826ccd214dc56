#include <weft/kernel.h>

#include <cstdint>

#include <boost/container/small_vector.hpp>

#include <weft/merge.h>
#include <weft/search.h>
#include <weft/slide.h>

namespace weft {
namespace {

void* given(const StageArray& array, void* const* slots, const Index* sizes) {
  auto address = array.slot < 0 ? std::uintptr_t{0} : reinterpret_cast<std::uintptr_t>(slots[array.slot]);
  for (int offset : array.offsets) address += static_cast<std::uintptr_t>(sizes[offset]);
  return reinterpret_cast<void*>(address);
}

WEFT_CALLS_GENERATED_CODE void run_with_arrays(const Stage& stage, void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch) {
  boost::container::small_vector<void*, 32> own;
  for (const StageArray& array : stage.arrays) own.push_back(given(array, slots, sizes));
  stage.run(own.data(), sizes, begin, end, scratch);
}

WEFT_CALLS_GENERATED_CODE void run_all(const Stage& stage, void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch) {
  if (begin >= end) return;
  if (!stage.arrays.empty()) run_with_arrays(stage, slots, sizes, begin, end, scratch);
  else if (stage.run) stage.run(slots, sizes, begin, end, scratch);
  else if (stage.merge) stage.merge->run(slots, sizes);
  else stage.slide->run(slots, sizes, begin, end, scratch);
}

void run_those_that_may_hold(const Stage& stage, void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch) {
  for (Index unit = begin; unit < end; ++unit) {
    if (stage.search->may_hold(slots, sizes, unit)) continue;
    run_all(stage, slots, sizes, begin, unit, scratch);
    stage.search->find_nothing(slots, sizes, unit);
    begin = unit + 1;
  }
  run_all(stage, slots, sizes, begin, end, scratch);
}

}  // namespace

void run_units(const Stage& stage, void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch) {
  if (stage.search) run_those_that_may_hold(stage, slots, sizes, begin, end, scratch);
  else run_all(stage, slots, sizes, begin, end, scratch);
}

}  // namespace weft
