// Running maxima and minima of floats in registers. One instruction keeps the larger number, and ignores what it does not order:
// NaN, and the signs of zeros. Beside it run whether any element was NaN, and the signs of all elements: a maximum that is
// zero is +0 unless every element has its sign set, a minimum -0 if any has. The same bits as combining exactly each time.
#include <limits>

#include <llvm/Analysis/VectorUtils.h>

#include "emit_kernel.h"

namespace weft {

using llvm::Value;

namespace {

bool is_maximum(AccumulatorId accumulator) { return accumulator == AccumulatorId::max || accumulator == AccumulatorId::supremum; }

}  // namespace

void KernelEmitter::open_extreme(const Fold& fold, FoldState& state) {
  if (!is_extreme(fold)) return;
  auto* bits = register_type(context_, fold.dtype == f64 ? i64 : i32, lane_count);
  for (std::size_t k = 0; k < state.registers.size(); ++k) state.signs.push_back(stack_cell(bits, "signs"));
  state.nan = stack_cell(register_bytes() == 64 ? register_type(context_, bool_, lane_count) : bits, "nan");      // as masks are kept
}

void KernelEmitter::start_extreme(const Fold& fold, const FoldState& state) {
  if (!state.nan) return;
  for (auto* signs : state.signs)
    b_.CreateStore(is_maximum(fold.accumulator) ? llvm::Constant::getAllOnesValue(signs->getAllocatedType()) : llvm::Constant::getNullValue(signs->getAllocatedType()), signs);
  b_.CreateStore(llvm::Constant::getNullValue(state.nan->getAllocatedType()), state.nan);
}

void KernelEmitter::accumulate_extreme(const Fold& fold, const FoldState& state, const std::vector<Value*>& values) {
  const bool larger = is_maximum(fold.accumulator);
  Value* nan = b_.CreateLoad(state.nan->getAllocatedType(), state.nan);
  const auto note = [&](Value* a, Value* b) { nan = b_.CreateOr(nan, b_.CreateSExt(b_.CreateFCmpUNO(a, b), nan->getType())); };
  for (std::size_t k = 0; k < values.size(); ++k) {
    auto *acc = state.registers[k % state.registers.size()], *signs = state.signs[k % state.signs.size()];
    Value *value = values[k], *best = b_.CreateLoad(value->getType(), acc), *seen = b_.CreateLoad(signs->getAllocatedType(), signs);
    b_.CreateStore(b_.CreateSelect(larger ? b_.CreateFCmpOGT(value, best) : b_.CreateFCmpOLT(value, best), value, best), acc);
    Value* bits = b_.CreateBitCast(value, seen->getType());
    b_.CreateStore(larger ? b_.CreateAnd(seen, bits) : b_.CreateOr(seen, bits), signs);
    if (k % 2 == 1) note(values[k - 1], value);         // one comparison for two vectors
    else if (k + 1 == values.size()) note(value, value);
  }
  b_.CreateStore(nan, state.nan);
}

// The result, which is exact: of all registers, then of their lanes, and only then what zeros and NaN make of it.
Value* KernelEmitter::take_extreme(const Fold& fold, const FoldState& state) {
  const bool larger = is_maximum(fold.accumulator);
  auto* type = register_type(context_, fold.dtype, lane_count);
  const auto better = [&](Value* a, Value* b) { return b_.CreateSelect(larger ? b_.CreateFCmpOGT(a, b) : b_.CreateFCmpOLT(a, b), a, b); };
  const auto joined = [&](Value* a, Value* b) { return larger ? b_.CreateAnd(a, b) : b_.CreateOr(a, b); };
  Value *best = b_.CreateLoad(type, state.registers[0]), *signs = b_.CreateLoad(state.signs[0]->getAllocatedType(), state.signs[0]);
  for (std::size_t k = 1; k < state.registers.size(); ++k) {
    best = better(b_.CreateLoad(type, state.registers[k]), best);
    signs = joined(b_.CreateLoad(signs->getType(), state.signs[k]), signs);
  }
  for (int half = lane_count / 2; half >= 1; half /= 2) {
    const auto low = llvm::createSequentialMask(0, static_cast<unsigned>(half), 0), high = llvm::createSequentialMask(static_cast<unsigned>(half), static_cast<unsigned>(half), 0);
    best = better(b_.CreateShuffleVector(best, high), b_.CreateShuffleVector(best, low));
    signs = joined(b_.CreateShuffleVector(signs, high), b_.CreateShuffleVector(signs, low));
  }
  best = b_.CreateExtractElement(best, std::uint64_t{0});
  auto* zero = llvm::Constant::getNullValue(best->getType());
  Value* sign = b_.CreateBitCast(b_.CreateExtractElement(signs, std::uint64_t{0}), best->getType());
  best = b_.CreateSelect(b_.CreateFCmpOEQ(best, zero), b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, sign), best);
  Value* nan = b_.CreateIsNotNull(b_.CreateOrReduce(b_.CreateLoad(state.nan->getAllocatedType(), state.nan)));
  return b_.CreateSelect(nan, llvm::ConstantFP::get(best->getType(), std::numeric_limits<double>::quiet_NaN()), best);
}

}  // namespace weft
