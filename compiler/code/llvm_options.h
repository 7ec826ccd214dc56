// Options of LLVM that only its command line has: they hold for the whole process.
#pragma once
#include <llvm/IR/Module.h>

namespace weft {

// Addresses are as simple as loops need them: rewriting them takes LLVM a tenth to a half of all code generation. What never changes in a loop was
// taken out of it before, constants as far as there are registers (place_constants.h): to move those out of further loops fills the registers there, and
// finding others for what does not fit takes a tenth to a quarter. Neighbouring stores are vectors as they are.
void leave_out_passes();

// An attribute of a function whose instructions are to be spread over its vectors. LLVM's scheduler of machine instructions saves registers,
// by finishing one vector before the next, so that long bodies wait for every result. With sixteen registers that of W4 in f64 takes two thirds
// of the time when spread, those of W4, W3 and W20 nine tenths; transposes and short bodies a tenth more. Where bytes of coefficients are looked up for two
// vectors at once (lane_tables.cpp), all of them went through the stack to the second: tanh, erf and gelu take .75 to .9 when spread (Zen 3).
inline constexpr const char* spread_schedule = "weft-spread-schedule";
bool wants_spread_schedule(const llvm::Module& module);

// Lives while code of a module is generated. Modules that want the one and the other schedule take turns; it is LLVM's own when there are none.
// Thread-safe.
class SchedulingTurn {
 public:
  explicit SchedulingTurn(bool spread);
  ~SchedulingTurn();
  SchedulingTurn(const SchedulingTurn&) = delete;
};

}  // namespace weft
