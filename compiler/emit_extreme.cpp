// Running maxima and minima of floats in registers. One instruction keeps the larger number, and ignores what it does not order:
// NaN, and the signs of zeros. Beside it run whether any element was NaN, and the signs of all elements: a maximum that is
// zero is +0 unless every element has its sign set, a minimum -0 if any has. The same bits as combining exactly each time.
#include "emit_kernel.h"

#include <limits>

namespace weft {

using llvm::Value;

namespace {

bool is_maximum(AccumulatorId accumulator) { return accumulator == AccumulatorId::max || accumulator == AccumulatorId::supremum; }
bool is_extreme(const Fold& fold) {
  return is_floating(fold.dtype) && (is_maximum(fold.accumulator) || fold.accumulator == AccumulatorId::min || fold.accumulator == AccumulatorId::infimum);
}

}  // namespace

void KernelEmitter::open_extreme(const Fold& fold, FoldState& state) {
  if (!is_extreme(fold)) return;
  auto* bits = register_type(context_, fold.dtype == f64 ? i64 : i32, lane_count);
  for (std::size_t k = 0; k < state.registers.size(); ++k) state.signs.push_back(stack_cell(bits, "signs"));
  state.nan = stack_cell(register_type(context_, bool_, lane_count), "nan");
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
  for (std::size_t k = 0; k < values.size(); ++k) {
    auto *acc = state.registers[k % state.registers.size()], *signs = state.signs[k % state.signs.size()];
    Value *value = values[k], *best = b_.CreateLoad(value->getType(), acc), *seen = b_.CreateLoad(signs->getAllocatedType(), signs);
    b_.CreateStore(b_.CreateSelect(larger ? b_.CreateFCmpOGT(value, best) : b_.CreateFCmpOLT(value, best), value, best), acc);
    Value* bits = b_.CreateBitCast(value, seen->getType());
    b_.CreateStore(larger ? b_.CreateAnd(seen, bits) : b_.CreateOr(seen, bits), signs);
    if (k % 2 == 1) nan = b_.CreateOr(nan, b_.CreateFCmpUNO(values[k - 1], value));         // one comparison for two vectors
    else if (k + 1 == values.size()) nan = b_.CreateOr(nan, b_.CreateFCmpUNO(value, value));
  }
  b_.CreateStore(nan, state.nan);
}

// The value of register k of a fold, which is exact.
Value* KernelEmitter::take_register(const Fold& fold, const FoldState& state, std::size_t k) {
  auto* type = register_type(context_, fold.dtype, lane_count);
  Value* value = b_.CreateLoad(type, state.registers[k]);
  if (!state.nan) return value;
  auto* zero = llvm::Constant::getNullValue(type);
  Value* signs = b_.CreateBitCast(b_.CreateLoad(state.signs[k]->getAllocatedType(), state.signs[k]), type);
  value = b_.CreateSelect(b_.CreateFCmpOEQ(value, zero), b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, zero, signs), value);
  Value* nan = b_.CreateLoad(state.nan->getAllocatedType(), state.nan);
  return b_.CreateSelect(nan, llvm::ConstantFP::get(type, std::numeric_limits<double>::quiet_NaN()), value);
}

}  // namespace weft
