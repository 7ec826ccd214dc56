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

// The result, which is exact: of all, and only then what zeros and NaN make of it.
Value* Folds::take_extreme(const Fold& fold, const FoldState& state) {
  const bool larger = is_maximum(fold.accumulator);
  // Of all registers, then of their lanes.
  const auto reduced = [&](const std::vector<llvm::AllocaInst*>& cells, const auto& joined) {
    Value* all = b_.CreateLoad(cells[0]->getAllocatedType(), cells[0]);
    for (std::size_t k = 1; k < cells.size(); ++k) all = joined(b_.CreateLoad(all->getType(), cells[k]), all);
    for (int half = lane_count / 2; half >= 1; half /= 2) {
      const auto low = llvm::createSequentialMask(0, static_cast<unsigned>(half), 0), high = llvm::createSequentialMask(static_cast<unsigned>(half), static_cast<unsigned>(half), 0);
      all = joined(b_.CreateShuffleVector(all, high), b_.CreateShuffleVector(all, low));
    }
    return b_.CreateExtractElement(all, std::uint64_t{0});
  };
  Value* best = reduced(state.registers, [&](Value* a, Value* b) { return better(a, b, larger); });
  if (!state.signs.empty()) {
    auto* zero = llvm::Constant::getNullValue(best->getType());
    Value* sign = b_.CreateBitCast(reduced(state.signs, [&](Value* a, Value* b) { return larger ? b_.CreateAnd(a, b) : b_.CreateOr(a, b); }), best->getType());
    best = b_.CreateSelect(b_.CreateFCmpOEQ(best, zero), b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, sign), best);
  }
  Value* nan = b_.CreateIsNotNull(b_.CreateOrReduce(b_.CreateLoad(state.nan->getAllocatedType(), state.nan)));
  return b_.CreateSelect(nan, llvm::ConstantFP::get(best->getType(), std::numeric_limits<double>::quiet_NaN()), best);
}

}  // namespace weft
