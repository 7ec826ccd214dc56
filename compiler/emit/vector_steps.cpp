// Elements of a vector that lie a known step of a few elements apart. What lies between them is in the same lines of cache: whole
// vectors are loaded, `step` of them for one, and their lanes picked; a gather would take each element by itself. Bytes and words are picked from whole
// registers by one instruction where the processor has it. Where a vector has but one element or two, each is a load of its own: of sums whose elements
// lie 15 floats apart LLVM made so many shuffles that it took 700 ms for 40, and they took 1.7 of the time (Zen 3).
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "emit_op.h"
#include "picks.h"
#include "vector_memory.h"
#include "code/features.h"
#include "schedule/cost_model.h"

namespace weft {

using llvm::Value;

// Elements of any two registers.
bool VectorMemory::picks_from_registers(DType dtype) const {
  return size_of(dtype) <= 2 && has_feature(target_features_, size_of(dtype) == 1 ? "+avx512vbmi" : "+avx512bw");
}

// `count` elements from `first` on, in memory's type. No byte is read outside of what they span: the last vector ends with the last element. With a mask,
// which has the first lanes, no byte outside of what these span; the other lanes are anything.
Value* VectorMemory::load_steps(DType dtype, Value* first, Index step, int count, Value* mask) {
  const Index bytes = item_bytes(dtype), apart = std::abs(step), span = (count - 1) * apart + 1;
  Index width = count;
  while (apart > 1 && picks_from_registers(dtype) && 2 * width <= span && 2 * width * bytes <= line_bytes) width *= 2;
  auto* type = llvm::FixedVectorType::get(memory_type(context_, dtype, 1), static_cast<unsigned>(width));
  Value* lowest = step < 0 ? bytes_after(first, (count - 1) * step * bytes) : first;
  if (!mask && span > width * count / 2) return load_each(dtype, first, number(step * bytes), nullptr, count);
  auto* place = b_.getIntNTy(width > lane_count ? 16 : 32);
  Value* bound = nullptr;                       // of the elements in memory that are spanned: they are below it, or from it on
  if (mask) {
    Value* lanes = lanes_set(mask);
    bound = step < 0 ? b_.CreateMul(b_.CreateSub(number(count), lanes), number(apart)) : b_.CreateSub(b_.CreateMul(lanes, number(apart)), number(apart - 1));
    bound = b_.CreateVectorSplat(static_cast<unsigned>(width), b_.CreateTrunc(bound, place));
  }
  const auto is_spanned = [&](Index first_place, Index places) {
    std::vector<llvm::Constant*> numbers;
    for (Index k = first_place; k < first_place + places; ++k) numbers.push_back(llvm::ConstantInt::get(place, static_cast<std::uint64_t>(k)));
    return b_.CreateICmp(step < 0 ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_SLT, llvm::ConstantVector::get(numbers), bound);
  };
  std::vector<Picks> parts;
  for (Index part = 0; part * width < span; ++part) {
    const Index start = std::min(part * width, span - width);
    Picks picks;
    for (Index lane = 0; lane < count; ++lane) {
      const Index element = (step < 0 ? count - 1 - lane : lane) * apart;
      picks.lanes.push_back(element / width == part ? static_cast<int>(element - start) : -1);
    }
    Value* at = bytes_after(lowest, start * bytes);
    const llvm::Align align(size_of(dtype));
    if (mask) picks.vector = b_.CreateMaskedLoad(type, at, align, is_spanned(start, width), llvm::Constant::getNullValue(type));
    else picks.vector = b_.CreateAlignedLoad(type, at, align);
    parts.push_back(std::move(picks));
  }
  return gathered(b_, std::move(parts));
}

// Rows of `count` elements without gaps -> element k of sixteen rows. The rows are whole vectors.
Value* VectorMemory::column_of_rows(const std::vector<Value*>& rows, int k) {
  const auto count = static_cast<int>(rows.size());
  std::vector<Picks> parts;
  for (int part = 0; part < count; ++part) {
    Picks picks{rows[static_cast<std::size_t>(part)], {}};
    for (int row = 0; row < lane_count; ++row) picks.lanes.push_back((row * count + k) / lane_count == part ? (row * count + k) % lane_count : -1);
    parts.push_back(std::move(picks));
  }
  return gathered(b_, std::move(parts));
}

std::vector<Value*> VectorMemory::load_rows(DType dtype, Value* first, int count, const Masks& masks) {
  llvm::Type* type = memory_type(context_, dtype, lane_count);
  std::vector<Value*> rows;
  for (int part = 0; part < count; ++part) {
    Value* at = after(type, first, part);
    rows.push_back(masks.empty() ? b_.CreateAlignedLoad(type, at, llvm::Align(size_of(dtype))) : load_part(type, at, dtype, masks[static_cast<std::size_t>(part)], false));
  }
  return rows;
}

// The first `count` elements of sixteen rows -> element k of all of them. No byte is read outside of what they span.
std::vector<Value*> VectorMemory::load_rows_apart(DType dtype, Value* first, Index apart, int count) {
  llvm::Type* type = memory_type(context_, dtype, lane_count);
  const Index span = (lane_count - 1) * apart + count, last = span - lane_count;
  std::vector<Picks> all;
  for (Index start = 0; start < span; start += lane_count)
    all.push_back({b_.CreateAlignedLoad(type, after(memory_type(context_, dtype, 1), first, std::min(start, last)), llvm::Align(size_of(dtype))), {}});
  std::vector<Value*> columns;
  for (int k = 0; k < count; ++k) {
    std::vector<Picks> parts = all;
    for (Index row = 0; row < lane_count; ++row)
      for (Index part = 0; part < static_cast<Index>(parts.size()); ++part) {
        const Index element = row * apart + k;
        parts[static_cast<std::size_t>(part)].lanes.push_back(element / lane_count == part ? static_cast<int>(element - std::min(part * lane_count, last)) : -1);
      }
    columns.push_back(gathered(b_, std::move(parts)));
  }
  return columns;
}

// Of such rows one element each, where the first lies at `at`: what other loads of these rows load, so that they share it.
Value* VectorMemory::load_column(DType dtype, Value* at, Index count, Index column) {
  Value* first = after(memory_type(context_, dtype, 1), at, -column);
  return column_of_rows(load_rows(dtype, first, static_cast<int>(count)), static_cast<int>(column));
}

// The reverse.
void VectorMemory::store_joined(const std::vector<Value*>& columns, Value* first, DType dtype, bool past_caches, int rows) {
  const auto count = static_cast<int>(columns.size());
  std::vector<Value*> vectors;
  for (int part = 0; part * lane_count < rows * count; ++part) {
    std::vector<Picks> parts;
    for (int k = 0; k < count; ++k) {
      Picks picks{columns[static_cast<std::size_t>(k)], {}};
      for (int lane = 0; lane < lane_count; ++lane) picks.lanes.push_back((part * lane_count + lane) % count == k ? (part * lane_count + lane) / count : -1);
      parts.push_back(std::move(picks));
    }
    vectors.push_back(gathered(b_, std::move(parts)));
  }
  const int left = rows * count % lane_count;
  Value* last = left > 0 ? std::exchange(vectors.back(), nullptr) : nullptr;
  if (last) vectors.pop_back();
  store_vectors(vectors, first, dtype, past_caches);
  if (!last) return;
  std::vector<llvm::Constant*> there;
  for (int lane = 0; lane < lane_count; ++lane) there.push_back(b_.getInt1(lane < left));
  store_part(last, after(last->getType(), first, static_cast<Index>(vectors.size())), dtype, llvm::ConstantVector::get(there), false);
}

void VectorMemory::store_vectors(const std::vector<Value*>& vectors, Value* first, DType dtype, bool past_caches, const Masks& masks) {
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    Value* at = after(vectors[k]->getType(), first, static_cast<Index>(k));
    if (!masks.empty()) store_part(vectors[k], at, dtype, masks[k], false);
    else if (past_caches) store_past_caches(vectors[k], at);
    else b_.CreateAlignedStore(vectors[k], at, llvm::Align(size_of(dtype)));
  }
}

// Lanes one by one, at any stride; with a mask as many as it has, by way of memory.
Value* VectorMemory::load_each(DType dtype, Value* at, Value* stride, Value* mask, int count) {
  llvm::Type *element = memory_type(context_, dtype, 1), *type = memory_type(context_, dtype, count);
  const llvm::Align align(size_of(dtype));
  if (mask) {
    auto* cell = stack_cell(type, "lanes");
    b_.CreateStore(llvm::Constant::getNullValue(type), cell);
    for_range(number(0), lanes_set(mask), 1, "lane", [&](Value* lane) {
      Value* each = b_.CreateAlignedLoad(element, b_.CreateGEP(b_.getInt8Ty(), at, b_.CreateMul(lane, stride)), align);
      b_.CreateAlignedStore(each, b_.CreateGEP(element, cell, lane), align);
    });
    return b_.CreateLoad(type, cell);
  }
  Value* value = llvm::PoisonValue::get(type);
  for (int lane = 0; lane < count; ++lane) {
    if (lane > 0) at = b_.CreateGEP(b_.getInt8Ty(), at, stride);
    value = b_.CreateInsertElement(value, b_.CreateAlignedLoad(element, at, align), static_cast<std::uint64_t>(lane));
  }
  return value;
}

void VectorMemory::store_each(Value* value, DType dtype, Value* at, Value* stride, Value* mask) {
  llvm::Type* element = memory_type(context_, dtype, 1);
  const llvm::Align align(size_of(dtype));
  if (mask) {
    auto* cell = stack_cell(value->getType(), "lanes");
    b_.CreateStore(value, cell);
    for_range(number(0), lanes_set(mask), 1, "lane", [&](Value* lane) {
      Value* each = b_.CreateAlignedLoad(element, b_.CreateGEP(element, cell, lane), align);
      b_.CreateAlignedStore(each, b_.CreateGEP(b_.getInt8Ty(), at, b_.CreateMul(lane, stride)), align);
    });
    return;
  }
  for (int lane = 0; lane < lane_count; ++lane) {
    if (lane > 0) at = b_.CreateGEP(b_.getInt8Ty(), at, stride);
    b_.CreateAlignedStore(b_.CreateExtractElement(value, static_cast<std::uint64_t>(lane)), at, align);
  }
}

}  // namespace weft
