#include "transpose.h"

#include <algorithm>
#include <bit>
#include <functional>

#include <llvm/Analysis/VectorUtils.h>

#include "emit.h"

namespace weft {

using llvm::Value;

namespace {

using Vectors = std::vector<Value*>;

int lanes_of_type(Value* vector) { return static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements()); }

Value* shuffled(llvm::IRBuilderBase& builder, Value* a, Value* b, const std::function<int(int lane)>& from) {
  std::vector<int> mask;
  for (int lane = 0; lane < lanes_of_type(a); ++lane) mask.push_back(from(lane));
  return builder.CreateShuffleVector(a, b, mask);
}

// Transposes all blocks of 4 x 4 elements: by instructions that interleave single elements, then pairs.
void transpose_fours(llvm::IRBuilderBase& builder, Vectors& rows) {
  const int width = lanes_of_type(rows[0]);
  const auto interleaved = [&](Value* a, Value* b, int each, int first) {
    return shuffled(builder, a, b, [&](int lane) { return lane / 4 * 4 + first + lane % 4 / (2 * each) * each + lane % each + (lane / each % 2) * width; });
  };
  for (auto row = rows.begin(); row != rows.end(); row += 4) {
    Value *a = interleaved(row[0], row[1], 1, 0), *b = interleaved(row[0], row[1], 1, 2), *c = interleaved(row[2], row[3], 1, 0), *d = interleaved(row[2], row[3], 1, 2);
    row[0] = interleaved(a, c, 2, 0);
    row[1] = interleaved(a, c, 2, 2);
    row[2] = interleaved(b, d, 2, 0);
    row[3] = interleaved(b, d, 2, 2);
  }
}

// A square whose rows are one register of 128 bits: four times the halves of rows eight apart are interleaved, one instruction each. Of bytes LLVM
// makes truncations of the exchange of neighbours below, two instructions each.
void transpose_by_interleaving(llvm::IRBuilderBase& builder, Vectors& rows) {
  const std::size_t side = rows.size();
  const auto interleaved = [&](Value* a, Value* b, int first) {
    return shuffled(builder, a, b, [&](int lane) { return first + lane / 2 + lane % 2 * static_cast<int>(side); });
  };
  for (std::size_t round = 1; round < side; round *= 2) {
    Vectors next;
    for (std::size_t row = 0; row < side / 2; ++row)
      for (std::size_t first : {std::size_t{0}, side / 2}) next.push_back(interleaved(rows[row], rows[row + side / 2], static_cast<int>(first)));
    rows = std::move(next);
  }
}

// Squares side by side, of as many lanes as there are vectors, a power of two: vector k holds lane k of each. Halves, then quarters and
// so on trade places.
void transpose_squares(llvm::IRBuilderBase& builder, Vectors& rows) {
  const int width = lanes_of_type(rows[0]), side = static_cast<int>(rows.size());
  if (side == width && rows[0]->getType()->getPrimitiveSizeInBits() == 128 && width == lane_count) return transpose_by_interleaving(builder, rows);
  const bool fours = rows[0]->getType()->getScalarSizeInBits() == 32 && side >= 4;
  for (int half = side / 2; half >= (fours ? 4 : 1); half /= 2)
    for (int row = 0; row < side; ++row) {
      if (row & half) continue;
      auto &a = rows[static_cast<std::size_t>(row)], &b = rows[static_cast<std::size_t>(row + half)];
      Value* first = shuffled(builder, a, b, [&](int lane) { return (lane & half) ? width + lane - half : lane; });
      b = shuffled(builder, a, b, [&](int lane) { return (lane & half) ? width + lane : lane + half; });
      a = first;
    }
  if (fours) transpose_fours(builder, rows);
}

}  // namespace

Vectors transposed(llvm::IRBuilderBase& builder, const Vectors& rows, std::size_t register_bytes) {
  const auto width = std::min<std::size_t>(lane_count, register_bytes * 8 / rows[0]->getType()->getScalarSizeInBits()), squares = lane_count / width;
  std::vector<Vectors> parts(lane_count, Vectors(squares));    // of the results
  for (std::size_t down = 0; down < squares; ++down)
    for (std::size_t right = 0; right < squares; ++right) {
      Vectors square;
      for (std::size_t k = 0; k < width; ++k) {
        Value* row = rows[down * width + k];
        square.push_back(squares == 1 ? row : builder.CreateShuffleVector(row, llvm::createSequentialMask(static_cast<unsigned>(right * width), static_cast<unsigned>(width), 0)));
      }
      transpose_squares(builder, square);
      for (std::size_t k = 0; k < width; ++k) parts[right * width + k][down] = square[k];
    }
  Vectors columns;
  for (const Vectors& of_column : parts) columns.push_back(llvm::concatenateVectors(builder, of_column));
  return columns;
}

// Rows that are no power of two of elements count as longer ones; what these would hold beyond is dropped.
Vectors columns_of(llvm::IRBuilderBase& builder, const Vectors& rows, std::size_t register_bytes) {
  const auto length = static_cast<std::size_t>(lanes_of_type(rows[0])), width = std::bit_ceil(length);
  Vectors whole = rows;
  if (width != length)
    for (Value*& row : whole) row = builder.CreateShuffleVector(row, llvm::createSequentialMask(0, static_cast<unsigned>(length), static_cast<unsigned>(width - length)));
  Vectors columns(width);               // vector k holds rows k, width + k, ..
  if (width == lane_count) {
    columns = transposed(builder, whole, register_bytes);
  } else {
    for (std::size_t k = 0; k < width; ++k) {
      Vectors every;
      for (std::size_t row = k; row < whole.size(); row += width) every.push_back(whole[row]);
      columns[k] = llvm::concatenateVectors(builder, every);
    }
    transpose_squares(builder, columns);
  }
  columns.resize(length);
  return columns;
}

Vectors rows_of(llvm::IRBuilderBase& builder, Vectors columns, std::size_t register_bytes) {
  const std::size_t length = columns.size(), width = std::bit_ceil(length);
  columns.resize(width, llvm::PoisonValue::get(columns[0]->getType()));
  if (width == lane_count) columns = transposed(builder, columns, register_bytes);
  else transpose_squares(builder, columns);
  if (length == lane_count) return columns;
  Vectors rows;
  for (std::size_t row = 0; row < lane_count; ++row)
    rows.push_back(builder.CreateShuffleVector(columns[row % width], llvm::createSequentialMask(static_cast<unsigned>(row / width * width), static_cast<unsigned>(length), 0)));
  return rows;
}

}  // namespace weft
