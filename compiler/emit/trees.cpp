// The trees over the sixteen slots of several rows that run side by side: s with s+8, then s+4, s+2, s+1, as of one row, but two registers
// that hold a row each become one that holds both, half as wide: fewer shuffles and additions, and the rows do not wait for each other.
#include <algorithm>
#include <bit>

#include <weft/error.h>

#include "folds.h"

namespace weft {

using llvm::Value;

namespace {

// Registers in which every row has `length` elements side by side, at the same places in all of them.
struct Rows {
  std::vector<Value*> registers;
  std::vector<int> places;                       // of the rows of a register, in their order
  int length;
};

// Lanes of two registers (the second one's follow) that make one: of each row the first half of its elements; and where rows are then.
// Half rows of whole 128 bits stay in order, smaller ones stay within their 128 bits: instructions that move anything else are slower.
std::vector<int> first_halves(const Rows& rows, int width, int of_128_bits, std::vector<int>& places) {
  const int half = rows.length / 2, part = std::max(rows.length, of_128_bits);
  std::vector<int> lanes;
  std::vector<std::pair<int, int>> starts;       // of a row, in two registers: before, after
  const auto take = [&](int first, int past) {
    for (int lane = first; lane < past; lane += rows.length) {
      starts.emplace_back(lane, static_cast<int>(lanes.size()));
      for (int k = 0; k < half; ++k) lanes.push_back(lane + k);
    }
  };
  if (half >= of_128_bits) take(0, 2 * width);
  else for (int start = 0; start < width; start += part) take(start, start + part), take(width + start, width + start + part);
  for (const int base : {0, width})
    for (const int place : rows.places)
      places.push_back(std::find_if(starts.begin(), starts.end(), [&](const auto& start) { return start.first == base + place; })->second);
  return lanes;
}

std::vector<int> moved(std::vector<int> lanes, int by) {
  for (int& lane : lanes) if (lane >= 0) lane += by;
  return lanes;
}

}  // namespace

// The value of each of these vectors' trees.
std::vector<Value*> Folds::across_lanes(std::vector<Value*> vectors, const Combine& combine) {
  if (vectors.size() == 1) return {across_lanes(vectors[0], combine)};
  const auto* type = llvm::cast<llvm::FixedVectorType>(vectors[0]->getType());
  WEFT_ASSERT(type->getScalarSizeInBits() >= 8, "trees of rows side by side are of numbers");
  const int bytes = static_cast<int>(type->getScalarSizeInBits()) / 8;
  const int width = std::min(static_cast<int>(type->getNumElements()), static_cast<int>(register_bytes()) / bytes);
  const std::size_t count = vectors.size();
  Rows rows{std::move(vectors), {0}, static_cast<int>(type->getNumElements())};
  for (; rows.length > width; rows.length /= 2)
    for (Value*& row : rows.registers) {
      std::vector<int> low;
      for (int k = 0; k < rows.length / 2; ++k) low.push_back(k);
      row = combine(b_.CreateShuffleVector(row, low), b_.CreateShuffleVector(row, moved(low, rows.length / 2)));
    }
  rows.registers.resize(std::bit_ceil(count), llvm::PoisonValue::get(rows.registers[0]->getType()));
  for (; rows.length > 1; rows.length /= 2) {
    if (rows.registers.size() == 1) {
      std::vector<int> second(static_cast<std::size_t>(width), -1);
      for (const int place : rows.places)
        for (int k = 0; k < rows.length / 2; ++k) second[static_cast<std::size_t>(place + k)] = place + k + rows.length / 2;
      rows.registers[0] = combine(rows.registers[0], b_.CreateShuffleVector(rows.registers[0], second));
      continue;
    }
    std::vector<int> places;
    const std::vector<int> lanes = first_halves(rows, width, 16 / bytes, places);
    Rows joined{{}, places, rows.length};
    for (std::size_t k = 0; k < rows.registers.size(); k += 2) {
      Value *a = rows.registers[k], *b = rows.registers[k + 1];
      joined.registers.push_back(combine(b_.CreateShuffleVector(a, b, lanes), b_.CreateShuffleVector(a, b, moved(lanes, rows.length / 2))));
    }
    rows = std::move(joined);
  }
  std::vector<Value*> values;
  for (Value* of_rows : rows.registers) {
    const std::vector<Value*> elements = elements_of(of_rows, rows.places);
    values.insert(values.end(), elements.begin(), elements.end());
  }
  values.resize(count);
  return values;
}

// By way of memory: for each element that is taken out of the end of a tree, LLVM follows all of its branches, time and again. Four of four rows were a
// half of what their tree took to compile.
std::vector<Value*> Folds::elements_of(Value* vector, const std::vector<int>& lanes) {
  auto* element = llvm::cast<llvm::FixedVectorType>(vector->getType())->getElementType();
  auto* cell = stack_cell(vector->getType(), "elements");
  b_.CreateStore(vector, cell);
  std::vector<Value*> elements;
  for (const int lane : lanes) {
    elements.push_back(b_.CreateLoad(element, after(element, cell, lane)));
    ends_of_trees_[elements.back()] = {vector, lane};
  }
  return elements;
}

// As many elements as a vector has, from one on of those that follow each other in all of these; whatever it may be behind the last one.
Value* Folds::elements_from(const std::vector<Value*>& vectors, int first) {
  const auto at = static_cast<std::size_t>(first / lane_count);
  std::vector<int> lanes;
  for (int lane = first % lane_count; lane < first % lane_count + lane_count; ++lane) lanes.push_back(lane);
  if (lanes[0] == 0) return vectors[at];
  return b_.CreateShuffleVector(vectors[at], at + 1 < vectors.size() ? vectors[at + 1] : vectors[at], lanes);
}

// Whether each copy has its ordered folds in a register.
bool Folds::sums_in_registers(const Loop& loop) const {
  return std::all_of(loop.folds.begin(), loop.folds.end(), [&](int fold) {
    const auto at = static_cast<std::size_t>(fold);
    return !program_.folds[at].ordered || (program_.folds[at].result >= 0 && !jam_[0].folds[at].registers.empty());
  });
}

// Ends their leaves, of all copies at once.
void Folds::end_leaves_together(const Loop& loop) {
  for (int number_of_fold : loop.folds) {
    const auto at = static_cast<std::size_t>(number_of_fold);
    const Fold& fold = program_.folds[at];
    if (!fold.ordered) continue;
    std::vector<Value*> slots;
    for (const JamCopy& copy : jam_) slots.push_back(b_.CreateLoad(register_type(context_, fold.dtype, lane_count), copy.folds[at].registers[0]));
    const std::vector<Value*> values = across_lanes(std::move(slots), combine_of(fold));
    for (std::size_t k = 0; k < jam_.size(); ++k) jam_[k].scalars[static_cast<std::size_t>(fold.result)] = values[k];
  }
}

void Folds::take_columns(int fold) {
  const auto at = static_cast<std::size_t>(fold);
  llvm::Type* type = register_type(context_, program_.folds[at].dtype, lane_count);
  std::vector<Value*> rows;
  for (const JamCopy& copy : jam_) rows.push_back(b_.CreateLoad(type, copy.folds[at].registers[0]));
  for (std::size_t k = 0; k < jam_.size(); ++k) b_.CreateStore(column_of_rows(rows, static_cast<int>(k)), jam_[k].folds[at].registers[0]);
}

void Folds::take_columns(const Loop& loop) {
  for (const int fold : loop.folds) take_columns(fold);
  folds_hold_rows_ = false;
}

// The trees of all columns at once: slots lie one after the other in the vectors of rows, and each half is added to the other, whatever lanes it begins at. By way
// of memory loads waited for stores that they lie across: sums of 1250 rows of 16 x 3 floats .245 -> .061 ns an element (Zen 4). With columns that are taken from
// vectors of rows first, sums of 15 columns took 19 ms to compile, 4 by way of memory (Zen 5).
std::vector<Value*> Folds::across_slots_of_rows(int number_of_fold) {
  const auto at = static_cast<std::size_t>(number_of_fold);
  const Fold& fold = program_.folds[at];
  const auto count = static_cast<int>(jam_.size());
  const Combine combine = combine_of(fold);
  std::vector<Value*> rows;
  for (const JamCopy& copy : jam_) rows.push_back(b_.CreateLoad(register_type(context_, fold.dtype, lane_count), copy.folds[at].registers[0]));
  for (int half = static_cast<int>(fold_slots) / 2 * count; half >= count; half /= 2) {
    std::vector<Value*> sums;
    for (int first = 0; first < half; first += lane_count) sums.push_back(combine(rows[static_cast<std::size_t>(first / lane_count)], elements_from(rows, half + first)));
    rows = std::move(sums);
  }
  std::vector<int> lanes;
  for (int k = 0; k < count; ++k) lanes.push_back(k);
  return elements_of(rows[0], lanes);
}

void Folds::end_leaves_of_rows(const Loop& loop) {
  for (const int number_of_fold : loop.folds) {
    const Fold& fold = program_.fold(number_of_fold);
    if (!fold.ordered) {
      take_columns(number_of_fold);
      continue;
    }
    const std::vector<Value*> values = across_slots_of_rows(number_of_fold);
    for (std::size_t k = 0; k < jam_.size(); ++k) jam_[k].scalars[static_cast<std::size_t>(fold.result)] = values[k];
  }
  folds_hold_rows_ = false;
}

}  // namespace weft
