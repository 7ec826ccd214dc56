#include "picks.h"

#include <numeric>

#include <llvm/IR/DerivedTypes.h>

namespace weft {

using llvm::Value;

namespace {

int width_of(Value* vector) { return static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements()); }

// Vectors that are longer than the result keep their length while they are shuffled: LLVM would take others apart.
Picks merged(llvm::IRBuilderBase& builder, const Picks& a, const Picks& b) {
  const int width = width_of(a.vector);
  std::vector<int> order, own;
  for (std::size_t lane = 0; lane < a.lanes.size(); ++lane) {
    const int first = a.lanes[lane], second = b.lanes[lane];
    order.push_back(first >= 0 ? first : second >= 0 ? width + second : -1);
    own.push_back(order.back() >= 0 ? static_cast<int>(lane) : -1);
  }
  order.resize(static_cast<std::size_t>(width), -1);
  return {builder.CreateShuffleVector(a.vector, b.vector, order), own};
}

}  // namespace

// In pairs: fewer shuffles wait for each other, and LLVM finds better instructions than for a chain.
Value* gathered(llvm::IRBuilderBase& builder, std::vector<Picks> parts) {
  for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2))
    for (std::size_t k = 0; k < parts.size(); k += 2) parts[k / 2] = k + 1 < parts.size() ? merged(builder, parts[k], parts[k + 1]) : parts[k];
  const auto& [all, lanes] = parts[0];
  std::vector<int> as_they_are(static_cast<std::size_t>(width_of(all)));
  std::iota(as_they_are.begin(), as_they_are.end(), 0);
  return lanes == as_they_are ? all : builder.CreateShuffleVector(all, lanes);
}

}  // namespace weft
