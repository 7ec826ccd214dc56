// Running folds along the vectors: what an accumulator has after each element, where any order gives the same bits (schedule/running.h). Four steps
// combine each element of a vector with those 1, 2, 4 and 8 before it; what came before the vector is combined with all of them, and with their last for
// the next vector, so that a vector waits for one op of the one before. Largest of a million floats so far 3210 -> 102 us, sums of as many i32 298 -> 116,
// along 512 rows of 1024 i64 175 -> 65 (Zen 5).
#include <limits>

#include "emit_kernel.h"
#include "emit_op.h"

namespace weft {

using llvm::Value;

namespace {

// What no element comes to is `nothing`.
Value* moved_up(llvm::IRBuilder<>& b, Value* vector, int distance, Value* nothing) {
  std::vector<int> lanes;
  for (int lane = 0; lane < lane_count; ++lane) lanes.push_back(lane < distance ? lane_count + lane : lane - distance);
  return b.CreateShuffleVector(vector, nothing, lanes);
}

}  // namespace

// The same of numbers where an instruction orders zeros; NaN, which stays from where it stands, is a bit for each element beside them.
Value* KernelEmitter::with_nan(const FoldState& state, Value* elements, Value* running) {
  auto* bits = state.nan->getAllocatedType();
  Value* here = b_.CreateBitCast(b_.CreateFCmpUNO(elements, elements), bits);
  Value* from_here = b_.CreateOr(b_.CreateOr(here, b_.CreateNeg(here)), b_.CreateLoad(bits, state.nan));       // the lowest bit, and all above it
  b_.CreateStore(b_.CreateAShr(from_here, std::uint64_t{lane_count - 1}), state.nan);
  Value* mask = b_.CreateBitCast(from_here, register_type(context_, bool_, lane_count));
  return b_.CreateSelect(mask, llvm::ConstantFP::get(running->getType(), std::numeric_limits<double>::quiet_NaN()), running);
}

void KernelEmitter::emit_running(const Accumulate& item, int steps, const Masks& masks) {
  const Fold& fold = program_.fold(item.fold);
  FoldState& state = folds_[static_cast<std::size_t>(item.fold)];
  auto* cell = state.registers[0];
  const auto combine = [&](Value* a, Value* b) { return is_extreme(fold) ? better(fold, state, a, b) : emit_combine(b_, fold.accumulator, fold.dtype, a, b); };
  // Elsewhere minima are made, which take less (extreme.cpp): a maximum is one of the negative numbers.
  const auto turned = [&](Value* value) { return is_extreme(fold) && !state.nan && is_maximum(fold.accumulator) ? b_.CreateFNeg(value) : value; };
  Value* const nothing = turned(constant_value(context_, unit(fold.accumulator, fold.dtype), lane_count));
  Value* before = turned(b_.CreateLoad(cell->getAllocatedType(), cell));           // in all lanes
  std::vector<Value*> made;
  for (int step = 0; step < steps; ++step) {
    Value* elements = turned(pack(item.value, step));
    if (!masks.empty()) elements = b_.CreateSelect(masks[static_cast<std::size_t>(step)], elements, nothing);
    Value* among = elements;
    for (int distance = 1; distance < lane_count; distance *= 2) among = combine(moved_up(b_, among, distance, nothing), among);
    Value* running = combine(before, among);
    made.push_back(state.nan ? with_nan(state, elements, running) : turned(running));
    before = combine(before, b_.CreateShuffleVector(among, std::vector<int>(lane_count, lane_count - 1)));
  }
  b_.CreateStore(turned(before), cell);
  packs_[static_cast<std::size_t>(item.result)] = std::move(made);
}

}  // namespace weft
