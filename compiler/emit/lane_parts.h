// Vectors of lanes in parts, and what the function in which they are emitted may use: for those who write Lane's operations.
#pragma once
#include <numeric>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include "code/features.h"

namespace weft::lane_parts {

inline int lane_count(llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

// `element` with as many lanes as `like` has.
inline llvm::Type* same_lanes(llvm::Type* element, llvm::Type* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

inline llvm::Function* function_of(const llvm::IRBuilderBase* builder) { return builder->GetInsertBlock()->getParent(); }

inline std::string_view features_of(const llvm::IRBuilderBase* builder) { return function_of(builder)->getFnAttribute("target-features").getValueAsString(); }

inline bool has_feature(const llvm::IRBuilderBase* builder, std::string_view name) { return weft::has_feature(features_of(builder), name); }

inline int register_bits(const llvm::IRBuilderBase* builder) { return 8 * static_cast<int>(weft::register_bytes(features_of(builder))); }

// Lanes [first, first + count); past the end of v they are poison.
inline llvm::Value* take(llvm::IRBuilderBase* builder, llvm::Value* v, int first, int count) {
  const int total = lane_count(v->getType());
  llvm::SmallVector<int, 32> mask(static_cast<size_t>(count));
  for (int k = 0; k < count; ++k) mask[static_cast<size_t>(k)] = first + k < total ? first + k : -1;
  return builder->CreateShuffleVector(v, mask);
}

inline llvm::Value* concatenate(llvm::IRBuilderBase* builder, llvm::Value* low, llvm::Value* high) {
  llvm::SmallVector<int, 64> mask(2 * static_cast<size_t>(lane_count(low->getType())));
  std::iota(mask.begin(), mask.end(), 0);
  return builder->CreateShuffleVector(low, high, mask);
}

}  // namespace weft::lane_parts
