#include "others.h"

#include <weft/accumulator.h>

#include "emit_op.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

namespace {

constexpr int slots = static_cast<int>(fold_slots);
static_assert(slots == lane_count, "along the vectors slots are lanes");

// Of each element of a slot the product of its others; and that of all.
std::vector<Value*> others_in_slot(llvm::IRBuilder<>& b, DType dtype, const std::vector<Value*>& elements, Value*& all) {
  std::vector<Value*> others(elements.size());
  Value* after = nullptr;
  for (std::size_t k = elements.size(); k-- > 0; after = product(b, dtype, after, elements[k])) others[k] = after;
  all = nullptr;
  for (std::size_t k = 0; k < elements.size(); all = product(b, dtype, all, elements[k++])) others[k] = product(b, dtype, all, others[k]);
  return others;
}

// Lane s of the result is lane s ^ distance.
Value* exchange_lanes(llvm::IRBuilder<>& b, Value* vector, int distance) {
  std::vector<int> from;
  for (int lane = 0; lane < lane_count; ++lane) from.push_back(lane ^ distance);
  return b.CreateShuffleVector(vector, from);
}

}  // namespace

Value* product(llvm::IRBuilder<>& b, DType dtype, Value* left, Value* right) {
  return left && right ? emit_combine(b, AccumulatorId::prod, dtype, left, right) : left ? left : right;
}

std::vector<Value*> others_along_lanes(llvm::IRBuilder<>& b, DType dtype, const std::vector<Value*>& row, Value*& all) {
  Value* rest = nullptr;
  std::vector<Value*> others = others_in_slot(b, dtype, row, all);
  for (int distance = slots / 2; distance > 0; distance /= 2) {
    Value* partner = exchange_lanes(b, all, distance);
    rest = product(b, dtype, rest, partner);
    all = product(b, dtype, all, partner);
  }
  for (Value*& each : others) each = product(b, dtype, each, rest);
  return others;
}

std::vector<Value*> others_across_lanes(llvm::IRBuilder<>& b, DType dtype, const std::vector<Value*>& row, Value*& total) {
  std::vector<std::vector<Value*>> in_slot;
  std::vector<Value*> all(slots, nullptr), rest(slots, nullptr);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    std::vector<Value*> elements;
    for (std::size_t k = slot; k < row.size(); k += slots) elements.push_back(row[k]);
    in_slot.push_back(others_in_slot(b, dtype, elements, all[slot]));
  }
  for (std::size_t distance = slots / 2; distance > 0; distance /= 2) {
    const std::vector<Value*> before = all;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      rest[slot] = product(b, dtype, rest[slot], before[slot ^ distance]);
      all[slot] = slot & distance ? all[slot ^ distance] : product(b, dtype, before[slot], before[slot ^ distance]);
    }
  }
  total = all[0];
  std::vector<Value*> others;
  for (std::size_t k = 0; k < row.size(); ++k) others.push_back(product(b, dtype, in_slot[k % slots][k / slots], rest[k % slots]));
  return others;
}

}  // namespace weft
