// Running maxima and minima of floats in registers, with the same bits as combining exactly each time.
//
// Where an instruction orders zeros it keeps the better number, and beside it runs whether any element was NaN (AVX-512: 4096 floats .038 ns an element
// for .045 with the signs of all elements instead, 65536 .046 for .052, Zen 4). Elsewhere a minimum takes three instructions, which keep NaN and the
// lesser zero (llvm_lane.h), and a maximum is one of the negative numbers: nothing runs beside it, and a row ends as a sum does.
//
// Folds outside the vectors combine exactly: what reads memory is as fast as its loads are far ahead of what waits for them, and conditions of all of
// them are more than a processor has registers of masks for. The largest down columns of 512 x 32768 floats 2.0 ms, so 2.3 (Zen 5).
#include <algorithm>
#include <limits>

#include <llvm/Analysis/VectorUtils.h>

#include "folds.h"
#include "llvm_lane.h"

namespace weft {

using llvm::Value;

void Folds::open_extreme(const Fold& fold, FoldState& state) {
  if (!is_extreme(fold)) return;
  state.is_extreme = true;
  if (has_feature("+avx512dq") && !copies_.along_rows) state.nan = stack_cell(register_type(context_, register_bytes() == 64 ? bool_ : fold.dtype == f64 ? i64 : i32, lane_count), "nan");      // as masks are kept
}

void Folds::start_extreme(const Fold& fold, FoldState& state) {
  if (!state.is_extreme) return;
  state.started_in = b_.GetInsertBlock();
  if (state.nan) b_.CreateStore(llvm::Constant::getNullValue(state.nan->getAllocatedType()), state.nan);
  else
    for (auto* acc : state.registers) b_.CreateStore(constant_value(context_, unit(AccumulatorId::min, fold.dtype), lane_count), acc);
}

// Of two of the numbers that registers hold, the one they keep.
Value* Folds::better(const Fold& fold, const FoldState& state, Value* a, Value* b) {
  const Lane x{a, &b_}, y{b, &b_};
  return (state.nan ? extreme_number(x, y, is_maximum(fold.accumulator)) : extreme(x, y, false)).value;
}

void Folds::accumulate_extreme(const Fold& fold, FoldState& state, const std::vector<Value*>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t at = k % state.registers.size();
    auto* acc = state.registers[at];
    Value* value = !state.nan && is_maximum(fold.accumulator) ? b_.CreateFNeg(values[k]) : values[k];
    const bool is_first = k < state.registers.size() && state.started_in == b_.GetInsertBlock();
    b_.CreateStore(is_first ? value : better(fold, state, value, b_.CreateLoad(value->getType(), acc)), acc);
  }
  state.started_in = nullptr;
  if (!state.nan) return;
  Value* nan = b_.CreateLoad(state.nan->getAllocatedType(), state.nan);
  for (std::size_t k = 0; k < values.size(); k += 2)         // one comparison for two vectors
    nan = b_.CreateOr(nan, b_.CreateSExt(b_.CreateFCmpUNO(values[k], values[std::min(k + 1, values.size() - 1)]), nan->getType()));
  b_.CreateStore(nan, state.nan);
}

// What NaN and negation make of the best of all elements.
Value* Folds::exact_extreme(const Fold& fold, const FoldState& state, Value* best) {
  if (!state.nan) return is_maximum(fold.accumulator) ? b_.CreateFNeg(best) : best;
  Value* nan = b_.CreateIsNotNull(b_.CreateOrReduce(b_.CreateLoad(state.nan->getAllocatedType(), state.nan)));
  return b_.CreateSelect(nan, llvm::ConstantFP::get(best->getType(), std::numeric_limits<double>::quiet_NaN()), best);
}

// The results of a vector loop, or of all its copies. Rows side by side become single values together (trees.cpp): maxima of rows of 16 floats take
// .10 ns an element, .14 one by one (Zen 4).
void Folds::take_extremes(const Loop& loop) {
  for (int number_of_fold : loop.folds) {
    const auto f = static_cast<std::size_t>(number_of_fold);
    const Fold& fold = program_.fold(number_of_fold);
    std::vector<const FoldState*> states;
    if (jam_.empty()) states.push_back(&folds_[f]);
    for (const JamCopy& copy : jam_) states.push_back(&copy.folds[f]);
    if (!states[0]->is_extreme || fold.result < 0) continue;
    const Combine keep_better = [&](Value* a, Value* b) { return better(fold, *states[0], b, a); };
    std::vector<Value*> best;
    for (const FoldState* state : states) best.push_back(of_registers(state->registers, keep_better));
    best = across_lanes(std::move(best), keep_better);
    for (std::size_t k = 0; k < states.size(); ++k)
      (jam_.empty() ? scalars_ : jam_[k].scalars)[static_cast<std::size_t>(fold.result)] = exact_extreme(fold, *states[k], best[k]);
  }
}

}  // namespace weft
