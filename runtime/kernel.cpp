#include <weft/kernel.h>

#include <weft/merge.h>
#include <weft/slide.h>

namespace weft {

WEFT_CALLS_GENERATED_CODE void run_units(const Stage& stage, void* const* slots, const Index* sizes, Index begin, Index end, std::byte* scratch) {
  if (begin >= end) return;
  if (stage.run) stage.run(slots, sizes, begin, end, scratch);
  else if (stage.merge) stage.merge->run(slots, sizes);
  else stage.slide->run(slots, sizes, begin, end, scratch);
}

}  // namespace weft
