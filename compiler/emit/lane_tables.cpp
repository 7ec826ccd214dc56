// Lookups in small tables: permutations of registers where they hold the table, else loads.
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

}  // namespace weft
