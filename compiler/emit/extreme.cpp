// Running maxima and minima of floats in registers. One instruction keeps the larger number, and ignores what it does not order:
// NaN, and the signs of zeros (AVX-512 has one that orders these: 4096 floats .038 ns an element for .045, 65536 .046 for .052, Zen 4).
// Beside it run whether any element was NaN, and the signs of all elements: a maximum that is zero is +0 unless every element has its sign
// set, a minimum -0 if any has. The same bits as combining exactly each time.
#include <limits>

#include <llvm/Analysis/VectorUtils.h>

#include "folds.h"
#include "llvm_lane.h"

namespace weft {

using llvm::Value;

namespace {

bool is_maximum(AccumulatorId accumulator) { return accumulator == AccumulatorId::max || accumulator == AccumulatorId::supremum; }

}  // namespace

bool Folds::orders_zeros() const { return has_feature("+avx512dq"); }

// The larger number, or the smaller; -0 is less than +0 where registers order them.
Value* Folds::better(Value* a, Value* b, bool larger) {
  if (orders_zeros()) return extreme_number(Lane{a, &b_}, Lane{b, &b_}, larger).value;
  return b_.CreateSelect(larger ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b);
}

void Folds::open_extreme(const Fold& fold, FoldState& state) {
  if (!is_extreme(fold)) return;
  auto* bits = register_type(context_, fold.dtype == f64 ? i64 : i32, lane_count);
  if (!orders_zeros())
    for (std::size_t k = 0; k < state.registers.size(); ++k) state.signs.push_back(stack_cell(bits, "signs"));
  state.nan = stack_cell(register_bytes() == 64 ? register_type(context_, bool_, lane_count) : bits, "nan");      // as masks are kept
}

void Folds::start_extreme(const Fold& fold, const FoldState& state) {
  if (!state.nan) return;
  for (auto* signs : state.signs)
    b_.CreateStore(is_maximum(fold.accumulator) ? llvm::Constant::getAllOnesValue(signs->getAllocatedType()) : llvm::Constant::getNullValue(signs->getAllocatedType()), signs);
  b_.CreateStore(llvm::Constant::getNullValue(state.nan->getAllocatedType()), state.nan);
}

void Folds::accumulate_extreme(const Fold& fold, const FoldState& state, const std::vector<Value*>& values) {
  const bool larger = is_maximum(fold.accumulator);
  Value* nan = b_.CreateLoad(state.nan->getAllocatedType(), state.nan);
  const auto note = [&](Value* a, Value* b) { nan = b_.CreateOr(nan, b_.CreateSExt(b_.CreateFCmpUNO(a, b), nan->getType())); };
  for (std::size_t k = 0; k < values.size(); ++k) {
    auto* acc = state.registers[k % state.registers.size()];
    Value *value = values[k], *best = b_.CreateLoad(value->getType(), acc);
    b_.CreateStore(better(value, best, larger), acc);
    if (!state.signs.empty()) {
      auto* signs = state.signs[k % state.signs.size()];
      Value *seen = b_.CreateLoad(signs->getAllocatedType(), signs), *bits = b_.CreateBitCast(value, seen->getType());
      b_.CreateStore(larger ? b_.CreateAnd(seen, bits) : b_.CreateOr(seen, bits), signs);
    }
    if (k % 2 == 1) note(values[k - 1], value);         // one comparison for two vectors
    else if (k + 1 == values.size()) note(value, value);
  }
  b_.CreateStore(nan, state.nan);
}

// What zeros and NaN make of the best of all elements.
Value* Folds::exact_extreme(const FoldState& state, Value* best, Value* sign) {
  if (sign) {
    auto* zero = llvm::Constant::getNullValue(best->getType());
    best = b_.CreateSelect(b_.CreateFCmpOEQ(best, zero), b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, b_.CreateBitCast(sign, best->getType())), best);
  }
  Value* nan = b_.CreateIsNotNull(b_.CreateOrReduce(b_.CreateLoad(state.nan->getAllocatedType(), state.nan)));
  return b_.CreateSelect(nan, llvm::ConstantFP::get(best->getType(), std::numeric_limits<double>::quiet_NaN()), best);
}

// The results of a vector loop, or of all its copies. Rows side by side become single values together (trees.cpp): maxima of rows of 16 floats take
// .10 ns an element, .14 one by one (Zen 4).
void Folds::take_extremes(const Loop& loop) {
  for (int number_of_fold : loop.folds) {
    const auto f = static_cast<std::size_t>(number_of_fold);
    const Fold& fold = program_.fold(number_of_fold);
    const bool larger = is_maximum(fold.accumulator);
    std::vector<const FoldState*> states;
    if (jam_.empty()) states.push_back(&folds_[f]);
    for (const JamCopy& copy : jam_) states.push_back(&copy.folds[f]);
    if (!states[0]->nan || fold.result < 0) continue;
    const Combine keep_better = [&](Value* a, Value* b) { return better(b, a, larger); }, join_signs = [&](Value* a, Value* b) { return larger ? b_.CreateAnd(a, b) : b_.CreateOr(a, b); };
    std::vector<Value*> best, signs;
    for (const FoldState* state : states) {
      best.push_back(of_registers(state->registers, keep_better));
      if (!state->signs.empty()) signs.push_back(of_registers(state->signs, join_signs));
    }
    best = across_lanes(std::move(best), keep_better);
    if (!signs.empty()) signs = across_lanes(std::move(signs), join_signs);
    for (std::size_t k = 0; k < states.size(); ++k)
      (jam_.empty() ? scalars_ : jam_[k].scalars)[static_cast<std::size_t>(fold.result)] = exact_extreme(*states[k], best[k], signs.empty() ? nullptr : signs[k]);
  }
}

}  // namespace weft
