#include "addresses.h"

#include "code/features.h"

namespace weft {

using llvm::Value;

Addresses::Addresses(llvm::Module& module, const Program& program, const StrideClasses& classes, Plan& plan, int lanes)
    : LoopChoices(program, classes, host_features(lanes)), VectorMemory(module, features_), plan_(plan), slots_(slots_of(program, plan)) {}

llvm::Function* Addresses::new_function(llvm::FunctionType* type, llvm::Function::LinkageTypes linkage, const std::string& name) {
  auto* function = llvm::Function::Create(type, linkage, name, module_);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("target-features", features_);
  function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr("min-legal-vector-width", "512");
  return function;
}

void Addresses::start_function(llvm::FunctionType* type, const std::string& name, llvm::Function::LinkageTypes linkage) {
  function_ = new_function(type, linkage, name);
  const char* names[] = {"slots", "sizes", "begin", "end", "scratch"};
  for (unsigned k = 0; k < 5; ++k) function_->getArg(k)->setName(names[k]);
  auto* entry = llvm::BasicBlock::Create(context_, "entry", function_);
  auto* start = llvm::BasicBlock::Create(context_, "start", function_);
  entry_.SetInsertPoint(entry);
  entry_.SetInsertPoint(entry_.CreateBr(start));
  b_.SetInsertPoint(start);
  entries_.clear();
  size_values_.clear();
}

Addresses::Suspended Addresses::suspend_function() { return {function_, b_.saveIP(), entry_.saveIP(), std::move(entries_), std::move(size_values_)}; }

void Addresses::resume(Suspended caller) {
  function_ = caller.function;
  b_.restoreIP(caller.point);
  entry_.restoreIP(caller.entry);
  entries_ = std::move(caller.entries);
  size_values_ = std::move(caller.size_values);
}

void Addresses::forget_rows() {
  row_offsets_.assign(program_.buffers.size(), std::nullopt);
  axis_index_.assign(program_.axes.size(), nullptr);
  scratch_ = 0;
}

Value* Addresses::sizes_entry(int entry) {
  Value*& value = size_values_[entry];
  if (!value) value = entry_.CreateLoad(b_.getInt64Ty(), entry_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), function_->getArg(1), static_cast<std::uint64_t>(entry)));
  return value;
}

Value* Addresses::size(const Extent& extent) {
  if (extent.is_number()) return number(extent.constant());
  return sizes_entry(plan_.sizes.add(extent));
}

// Of an array; a stride comes from here where the code numbers its arrays itself. At the entry, but for what a unit leaves: that is wanted once in a unit, and takes no register until then.
Value* Addresses::array_entry(ArrayEntry which) {
  int place = slots_[static_cast<std::size_t>(which.buffer)];
  if (array_entries_) {
    const auto known = std::find(array_entries_->begin(), array_entries_->end(), which);
    place = static_cast<int>(known - array_entries_->begin());
    if (known == array_entries_->end()) array_entries_->push_back(which);
  }
  llvm::Type* type = which.dim < 0 ? static_cast<llvm::Type*>(b_.getPtrTy()) : b_.getInt64Ty();
  const auto load_by = [&](llvm::IRBuilder<>& b) { return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getPtrTy(), function_->getArg(0), static_cast<std::uint64_t>(place))); };
  if (program_.buffer(which.buffer).place == Place::partial) return load_by(b_);
  Value*& entry = entries_[which];
  if (!entry) entry = load_by(entry_);
  return entry;
}

// Room in the scratch of a thread for `copies` rows of the buffer's elements: its offset.
Extent Addresses::reserve_rows(int buffer, Index copies) {
  const Buffer& row = program_.buffer(buffer);
  const Extent offset = scratch_;
  const Index bytes = item_bytes(row.dtype), beyond = most_vectors * lane_count * bytes;      // whole steps of vectors may end behind it
  scratch_ = scratch_ + floor_div(row_elements(row) * Extent(bytes * copies) + (beyond + line_bytes - 1), line_bytes) * Extent(line_bytes);
  return offset;
}

// Computed where it is used: thousands of rows must not live in registers through the whole function.
Value* Addresses::scratch_at(const Extent& offset) { return b_.CreateInBoundsGEP(b_.getInt8Ty(), function_->getArg(4), size(offset)); }

Value* Addresses::base_of(int number_of_buffer) {
  const auto k = static_cast<std::size_t>(number_of_buffer);
  const Buffer& buffer = program_.buffers[k];
  if (buffer.place == Place::row) {
    if (!row_offsets_[k]) row_offsets_[k] = reserve_rows(number_of_buffer, 1);
    Value* row = scratch_at(*row_offsets_[k]);
    const auto shift = row_shifts_.find(number_of_buffer);
    return shift == row_shifts_.end() ? row : b_.CreateGEP(b_.getInt8Ty(), row, shift->second);
  }
  return array_entry({number_of_buffer});
}

Value* Addresses::stride_bytes(int number_of_buffer, std::size_t dim) {
  const Buffer& buffer = program_.buffer(number_of_buffer);
  if (buffer.place != Place::argument && buffer.place != Place::result) return size(stride_between(buffer, dim));
  const StrideClass stride = class_of(buffer, dim);
  if (is_known(stride)) return number(step_of(stride) * item_bytes(buffer.dtype));
  const int entry_of_dim = static_cast<int>(dim);
  return array_entries_ ? array_entry({number_of_buffer, entry_of_dim}) : sizes_entry(plan_.sizes.stride(slots_[static_cast<std::size_t>(number_of_buffer)], entry_of_dim));
}

// Copies of a body that run side by side differ by numbers: those stay apart, so that the rest is common to all, and they become
// displacements of instructions.
Addresses::Position Addresses::position_of(const Buffer& buffer, const Subscript& subscript, int skip_axis) {
  const bool relative = subscript.axis >= 0 && buffer.place == Place::row && program_.per_root(subscript.axis) > 0;
  Position position;
  if (subscript.axis >= 0 && subscript.axis != skip_axis) {
    position.variable = axis_index_[static_cast<std::size_t>(subscript.axis)];
    if (subscript.period > 0) return {b_.CreateURem(position.variable, number(subscript.period)), 0};
    if (subscript.each > 1) return {b_.CreateUDiv(position.variable, number(subscript.each)), 0};
    if (auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(position.variable); sum && sum->getOpcode() == llvm::Instruction::Add)
      if (auto* apart = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1))) {
        position.variable = sum->getOperand(0);
        position.constant = apart->getSExtValue() * subscript.step;
      }
  }
  if (relative) {
    Value* begin = range_of(subscript.axis).begin;
    position.variable = position.variable ? b_.CreateSub(position.variable, begin) : b_.CreateNeg(begin);
  }
  if (position.variable && subscript.step != 1 && subscript.axis != skip_axis) position.variable = b_.CreateMul(position.variable, number(subscript.step));
  if (subscript.start.is_number()) position.constant += subscript.start.constant();
  else position.variable = position.variable ? b_.CreateAdd(size(subscript.start), position.variable) : size(subscript.start);
  return position;
}

// The address at the current iteration; the term of `skip_axis` is left out, but not its start.
Value* Addresses::address(int number_of_buffer, const std::vector<Subscript>& at, int skip_axis) {
  const Buffer& buffer = program_.buffer(number_of_buffer);
  Value *base = base_of(number_of_buffer), *offset = nullptr;
  const auto add = [&](Value* bytes) { offset = offset ? b_.CreateAdd(offset, bytes) : bytes; };
  Index constant = 0;                   // in bytes
  for (std::size_t d = 0; d < at.size(); ++d) {
    Value* stride = stride_bytes(number_of_buffer, d);
    Position position = position_of(buffer, at[d], skip_axis);
    if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(stride)) constant += position.constant * known->getSExtValue();
    else if (position.constant != 0) position.variable = position.variable ? b_.CreateAdd(position.variable, number(position.constant)) : number(position.constant);
    if (position.variable) add(b_.CreateMul(position.variable, stride));
  }
  if (buffer.place == Place::partial) add(b_.CreateMul(unit_, size(row_elements(buffer) * Extent(item_bytes(buffer.dtype)))));
  return bytes_after(offset ? b_.CreateGEP(b_.getInt8Ty(), base, offset) : base, constant);
}

// How far memory moves with an element of the axis, in bytes.
Value* Addresses::stride_along(int number_of_buffer, const std::vector<Subscript>& at, int axis) {
  Value* stride = number(0);
  for (std::size_t d = 0; d < at.size(); ++d)
    if (at[d].axis == axis) stride = b_.CreateAdd(stride, b_.CreateMul(number(at[d].step), stride_bytes(number_of_buffer, d)));
  return stride;
}

Range Addresses::range_of(int axis) {
  const Index few = program_.per_root(axis);
  if (few == 1) return tile_;
  if (few > 0) return {b_.CreateMul(tile_.begin, number(few)), b_.CreateMul(tile_.end, number(few))};
  return {number(0), size(program_.axis(axis).extent)};
}

// What is known of an axis, and from here on taken for granted.
bool Addresses::relies_on_whole(int axis, Index size) {
  if (!runs_in_whole(axis, size)) return false;
  plan_.relied.whole(program_.axis(axis).extent, size);
  return true;
}

bool Addresses::relies_on_one_leaf(int axis) {
  if (!fits_one_leaf(axis)) return false;
  if (!program_.is_tiled(axis)) plan_.relied.at_most(program_.axis(axis).extent, fold_leaf);
  return true;
}

bool Addresses::relies_on_some(int axis) {
  const NestAxis& known = program_.axis(axis);
  if (known.known.least < 1) return false;
  plan_.relied.some(known.extent);
  return true;
}

// Units and blocks are begun for what they hold.
bool Addresses::has_some(int axis) { return program_.is_tiled(axis) || relies_on_some(axis); }

void Addresses::rely_on_one_unit() {
  const int axis = program_.root.var.axis;
  plan_.relied.at_most(program_.axis(axis).extent, std::min(program_.unit, fold_leaf));
  if (std::any_of(program_.folds.begin(), program_.folds.end(), [&](const Fold& fold) { return fold.axis == axis; })) plan_.relied.some(program_.axis(axis).extent);
}

// The end of the part of the axis's range that `size` elements, a power of two, go into.
Value* Addresses::end_of_whole(int axis, Range range, Index size) {
  if (relies_on_whole(axis, size)) return range.end;
  return b_.CreateAdd(range.begin, b_.CreateAnd(b_.CreateSub(range.end, range.begin), number(-size)));
}

}  // namespace weft
