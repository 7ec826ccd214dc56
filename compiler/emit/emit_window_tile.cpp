// Windows in tiles (emit_tile.cpp) that have all indices of the vector loop: a row is there or not, for each copy. Where all rows are, or code knows for
// which copies, they are transposed as others; else each copy asks. Shifts, concatenations and paddings along other axes than the vector loop's: 2000 x 5 x 6
// floats less those before them along the second axis, summed up, .85 -> .21 ns an element (Zen 4).
#include "emit_kernel.h"
#include "program/index_conditions.h"

namespace weft {

using llvm::Value;

// Which copies have rows of the window, if code knows: from `first` to before `last`; then `there` says whether any has, else whether all have.
struct KernelEmitter::RowsOfWindow {
  std::size_t first, last;
  bool is_known;
  Value* there;
};

KernelEmitter::RowsOfWindow KernelEmitter::rows_of_window(const Load& load, int lanes) {
  const auto has = [&](const Subscript& s, Value* at) -> Value* {
    if (has_every_index(program_, load, s)) return b_.getTrue();
    Value* distance = b_.CreateSub(at, size(s.start));
    if (s.dim < 0) return b_.CreateICmpEQ(distance, number(0));
    return b_.CreateICmpULT(s.step < 0 ? b_.CreateNeg(distance) : distance, size(elements_of_window(program_, load, s)));
  };
  RowsOfWindow window{jam_.size(), 0, true, b_.getTrue()};
  std::vector<Value*> copies(jam_.size(), b_.getTrue());
  for (const Subscript& s : load.at) {
    if (s.axis >= 0 && s.axis == lanes) continue;
    if (s.axis >= 0 && s.axis == copies_.tiled_by) {
      for (std::size_t k = 0; k < jam_.size(); ++k) copies[k] = b_.CreateAnd(copies[k], has(s, jam_[k].axis_index[static_cast<std::size_t>(s.axis)]));
    } else {
      window.there = b_.CreateAnd(window.there, has(s, s.axis < 0 ? number(0) : jam_[0].axis_index[static_cast<std::size_t>(s.axis)]));
    }
  }
  for (std::size_t k = 0; k < copies.size(); ++k) {
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(copies[k]);
    window.is_known &= known != nullptr;
    if (known && known->isOne()) window.first = std::min(window.first, k), window.last = k + 1;
  }
  if (window.is_known) return window;
  window.first = 0, window.last = jam_.size();
  for (Value* copy : copies) window.there = b_.CreateAnd(window.there, copy);
  return window;
}

// Whether each copy finds its elements in a tile of what the loop reads elsewhere (tile_windows.cpp).
bool KernelEmitter::is_in_tiles(const Load& load, const Loop& lanes) {
  bool all = true;
  each_copy([&] { all = all && window_of_tile(lanes, load); });
  return all;
}

void KernelEmitter::load_window_tile(const Item& item, int step, const Loop& lanes, Value* index, const Masks& masks) {
  const auto& load = std::get<Load>(item);
  if (is_in_tiles(load, lanes)) return;
  const DType dtype = program_.buffer(load.buffer).dtype;
  const RowsOfWindow window = rows_of_window(load, lanes.var.axis);
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(window.there);
  auto& columns = tiles_[&item];
  columns.assign(jam_.size(), llvm::Constant::getNullValue(memory_type(context_, dtype, lane_count)));
  if ((known && known->isZero()) || window.first >= window.last) return;
  const auto place = [&](const std::vector<Value*>& rows) { std::copy(rows.begin(), rows.end(), columns.begin() + static_cast<std::ptrdiff_t>(window.first)); };
  const auto take = [&] { return load_across(load, unguarded(program_, load), step, window.first, window.last, lanes.var.axis, index, masks); };
  if (known) return place(take());
  auto *then = llvm::BasicBlock::Create(context_, "window", function_), *other = llvm::BasicBlock::Create(context_, "window.else", function_), *done = llvm::BasicBlock::Create(context_, "window.end", function_);
  b_.CreateCondBr(window.there, then, other);
  b_.SetInsertPoint(then);
  const std::vector<Value*> rows = take();
  then = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(other);
  std::vector<Value*> others(rows.size(), columns[0]);
  if (!window.is_known) each_copy([&] { others[jam_copy_] = to_memory(guarded_load(load, index, 0, mask_of(masks, 0)), dtype); });
  other = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  std::vector<Value*> both;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    auto* column = b_.CreatePHI(rows[k]->getType(), 2);
    column->addIncoming(rows[k], then);
    column->addIncoming(others[k], other);
    both.push_back(column);
  }
  place(both);
}

}  // namespace weft
