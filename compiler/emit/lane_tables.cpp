// Lookups in small tables: permutations of registers where they hold the table, else loads.
#include <bit>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "lane_parts.h"
#include "llvm_lane.h"

namespace weft {

using llvm::Value;
using namespace lane_parts;
namespace Intrinsic = llvm::Intrinsic;

namespace {

template <class T> llvm::Constant* constant_of(llvm::LLVMContext& context, const LaneTable& table, int first, int count, bool as_vector) {
  llvm::SmallVector<T, 64> values;
  for (int k = first; k < first + count; ++k) values.push_back(k < table.size ? static_cast<T>(table.values[k]) : T(0));
  return as_vector ? llvm::ConstantDataVector::get(context, values) : llvm::ConstantDataArray::get(context, values);
}

llvm::Constant* table_constant(const LaneTable& table, int first, int count, llvm::Type* element, bool as_vector) {
  return element->isFloatTy() ? constant_of<float>(element->getContext(), table, first, count, as_vector) : constant_of<double>(element->getContext(), table, first, count, as_vector);
}

// Constants are unique within a context, so a table already in the module is found by its initializer.
llvm::GlobalVariable* table_global(llvm::Module& module, llvm::Constant* data) {
  for (auto& global : module.globals())
    if (global.isConstant() && global.hasInitializer() && global.getInitializer() == data) return &global;
  auto* global = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "table");
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(llvm::Align(64));
  return global;
}

// Two registers' worth of table by two permutations, each by the last three bits of the index, and a choice by the one before them.
Value* permute_lookup_avx2(llvm::IRBuilderBase* builder, const LaneTable& table, llvm::Type* element, Value* index) {
  const auto permuted = [&](int first) { return builder->CreateIntrinsic(Intrinsic::x86_avx2_permps, {}, {table_constant(table, first, 8, element, true), index}); };
  Value* low = permuted(0);
  if (table.size <= 8) return low;
  Value* is_high = builder->CreateICmpSLT(builder->CreateShl(index, 28), llvm::Constant::getNullValue(index->getType()));
  return builder->CreateSelect(is_high, permuted(8), low);
}

// Of each half of a register, one half of the elements of a and of b in turn.
Value* interleave(llvm::IRBuilderBase* builder, Value* a, Value* b, bool high) {
  const int lanes = lane_count(a->getType()), half = lanes / 2;
  llvm::SmallVector<int, 32> mask;
  for (int first : {0, half})
    for (int k = 0; k < half / 2; ++k)
      for (int from : {0, lanes}) mask.push_back(from + first + (high ? half / 2 : 0) + k);
  return builder->CreateShuffleVector(a, b, mask);
}

// Two or four registers of indices, modulo 16, become the bytes of one, and that takes each byte of the numbers from a table of its own. Four
// registers of numbers take twelve instructions of half a cycle, two take eight. With permutations a register takes two and a half cycles,
// four and a half where they read the table from memory (Zen 3).
Value* bytes_lookup_avx2(llvm::IRBuilderBase* builder, const LaneTable& table, Value* index) {
  constexpr int lanes = 8;
  const int registers = lane_count(index->getType()) / lanes;
  const auto table_of = [&](int byte) {
    llvm::SmallVector<std::uint8_t, 32> bytes;
    for (int k = 0; k < 32; ++k) {
      const auto number = k % 16 < table.size ? std::bit_cast<std::uint32_t>(static_cast<float>(table.values[k % 16])) : 0;
      bytes.push_back(static_cast<std::uint8_t>(number >> (8 * byte)));
    }
    return llvm::ConstantDataVector::get(builder->getContext(), bytes);
  };
  Value* counted = builder->CreateAnd(index, llvm::ConstantInt::get(index->getType(), 15));
  const auto words = [&](int first) {
    return builder->CreateIntrinsic(Intrinsic::x86_avx2_packssdw, {}, {take(builder, counted, first * lanes, lanes), take(builder, counted, (first + 1) * lanes, lanes)});
  };
  Value* packed = builder->CreateIntrinsic(Intrinsic::x86_avx2_packuswb, {}, {words(0), words(registers - 2)});
  const auto byte = [&](int which) -> Value* {
    llvm::Constant* own = table_of(which);
    if (own->getSplatValue()) return own;
    return builder->CreateIntrinsic(Intrinsic::x86_avx2_pshuf_b, {}, {own, packed});
  };
  Value *bytes[] = {byte(0), byte(1), byte(2), byte(3)}, *results[4];
  for (int q = 0; q < registers; ++q) {
    const auto pair = [&](int first) {
      return builder->CreateBitCast(interleave(builder, bytes[first], bytes[first + 1], q >= 2), llvm::FixedVectorType::get(builder->getInt16Ty(), 16));
    };
    results[q] = builder->CreateBitCast(interleave(builder, pair(0), pair(2), q % 2 != 0), llvm::FixedVectorType::get(builder->getFloatTy(), lanes));
  }
  return llvm::concatenateVectors(*builder, {results, static_cast<std::size_t>(registers)});
}

// Up to two registers' worth of table by one permute instruction.
Value* permute_lookup(llvm::IRBuilderBase* builder, const LaneTable& table, llvm::Type* element, Value* index, int lanes) {
  const bool f32 = element->isFloatTy();
  if (!has_feature(builder, "+avx512f")) return permute_lookup_avx2(builder, table, element, index);
  auto* low = table_constant(table, 0, lanes, element, true);
  if (table.size <= lanes)
    return builder->CreateIntrinsic(f32 ? Intrinsic::x86_avx512_permvar_sf_512 : Intrinsic::x86_avx512_permvar_df_512, {}, {low, index});
  auto* high = table_constant(table, lanes, lanes, element, true);
  return builder->CreateIntrinsic(f32 ? Intrinsic::x86_avx512_vpermi2var_ps_512 : Intrinsic::x86_avx512_vpermi2var_pd_512, {},
                                  {low, index, high});
}

// Lanes that permutations serve at once; 0: the table is too large, or there are none.
int permuted_lanes(llvm::IRBuilderBase* builder, const LaneTable& table, int bits) {
  const bool avx512 = has_feature(builder, "+avx512f");
  if (!avx512 && !(bits == 32 && has_feature(builder, "+avx2"))) return 0;
  const int lanes = (avx512 ? 512 : 256) / bits;
  return table.size <= 2 * lanes ? lanes : 0;
}

}  // namespace

Lane table_lookup(const LaneTable& table, const LaneInt& index) {
  auto* builder = index.builder;
  auto* index_type = index.value->getType();
  const int lanes = lane_count(index_type), bits = static_cast<int>(index_type->getScalarSizeInBits()), full = permuted_lanes(builder, table, bits);
  auto* element = bits == 32 ? builder->getFloatTy() : builder->getDoubleTy();
  const bool permutes = lanes > 1 && full > 0;
  if (table.wraps && !(permutes && table.size >= full))        // permutations count modulo their registers
    return table_lookup({table.values, table.size}, index & LaneInt{llvm::ConstantInt::get(index_type, static_cast<uint64_t>(table.size - 1)), builder});
  if (permutes) {
    if (lanes == full) return {permute_lookup(builder, table, element, index.value, full), builder};
    if (lanes < full) {
      auto* padded = permute_lookup(builder, table, element, take(builder, index.value, 0, full), full);
      return {take(builder, padded, 0, lanes), builder};
    }
    if (bits == 32 && full == 8 && (lanes == 2 * full || lanes == 4 * full) && table.size > full) return {bytes_lookup_avx2(builder, table, index.value), builder};
    if (lanes % 2 == 0) {
      const auto half = [&](int which) {
        return table_lookup(table, LaneInt{take(builder, index.value, which * lanes / 2, lanes / 2), builder}).value;
      };
      auto* low = half(0);
      return {concatenate(builder, low, half(1)), builder};
    }
  }
  auto* memory = table_global(*function_of(builder)->getParent(), table_constant(table, 0, table.size, element, false));
  const llvm::Align align(static_cast<uint64_t>(bits / 8));
  const auto load = [&](Value* at) { return builder->CreateAlignedLoad(element, builder->CreateGEP(element, memory, at), align); };
  if (lanes == 1) return {load(index.value), builder};
  if (has_feature(builder, "+avx512f")) return {builder->CreateMaskedGather(same_lanes(element, index_type), builder->CreateGEP(element, memory, index.value), align), builder};
  // One by one: all tables of a function share the numbers that are taken out of the index.
  Value* values = llvm::PoisonValue::get(same_lanes(element, index_type));
  for (int lane = 0; lane < lanes; ++lane) {
    const auto k = static_cast<uint64_t>(lane);
    values = builder->CreateInsertElement(values, load(builder->CreateZExt(builder->CreateExtractElement(index.value, k), builder->getInt64Ty())), k);
  }
  return {values, builder};
}

// Numbers of two tables lie side by side: a lane has both by one load.
bool loads_pairs(const LaneInt& index) {
  return index.value->getType()->getScalarSizeInBits() == 64 && lane_count(index.value->getType()) % 4 == 0 && !has_feature(index.builder, "+avx512f");
}

// Four lanes of both tables are two loads, two that also insert, and two shuffles; one by one they are eight loads and six shuffles.
std::array<Lane, 2> lookup_pair(const LaneTable& first, const LaneTable& second, const LaneInt& index) {
  auto* builder = index.builder;
  if (!loads_pairs(index)) return {table_lookup(first, index), table_lookup(second, index)};
  llvm::SmallVector<double, 64> numbers;
  for (int k = 0; k < first.size; ++k) numbers.append({first.values[k], second.values[k]});
  auto* memory = table_global(*function_of(builder)->getParent(), llvm::ConstantDataArray::get(builder->getContext(), llvm::ArrayRef<double>(numbers)));
  auto* type = llvm::FixedVectorType::get(builder->getDoubleTy(), 2);
  const LaneInt counted = first.wraps ? index & LaneInt{llvm::ConstantInt::get(index.value->getType(), static_cast<uint64_t>(first.size - 1)), builder} : index;
  const LaneInt offsets = counted << 4;
  const auto load = [&](int lane) -> Value* {
    Value* at = builder->CreateExtractElement(offsets.value, static_cast<uint64_t>(lane));
    return builder->CreateAlignedLoad(type, builder->CreateGEP(builder->getInt8Ty(), memory, at), llvm::Align(16));
  };
  llvm::SmallVector<Value*, 4> of_first, of_second;
  for (int lane = 0; lane < lane_count(index.value->getType()); lane += 4) {
    Value *a = load(lane), *b = load(lane + 1), *c = load(lane + 2), *d = load(lane + 3);
    Value *even = concatenate(builder, a, c), *odd = concatenate(builder, b, d);
    of_first.push_back(builder->CreateShuffleVector(even, odd, llvm::ArrayRef<int>{0, 4, 2, 6}));
    of_second.push_back(builder->CreateShuffleVector(even, odd, llvm::ArrayRef<int>{1, 5, 3, 7}));
  }
  return {Lane{llvm::concatenateVectors(*builder, of_first), builder}, Lane{llvm::concatenateVectors(*builder, of_second), builder}};
}

}  // namespace weft
