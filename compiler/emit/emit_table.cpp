// Functions of one byte, such as the tone curve of an image: the 256 results are made once, by the loop's own instructions, and then
// looked up: in registers, sixty-four at a time, or one by one in memory on processors that cannot. With operands that repeat there is a
// table for each of their elements.
#include <llvm/IR/IntrinsicsX86.h>

#include "emit_kernel.h"
#include "schedule/schedule.h"

namespace weft {

using llvm::Value;

namespace {
constexpr int bytes_each = 64;
constexpr Index in_memory = 8;          // lookups in memory of one iteration, for each table
}  // namespace

// The loop's results for all bytes, with element `phase` of the operands that repeat.
void KernelEmitter::fill_table(const Loop& loop, const ByteFunction& function, Value* table, Value* phase) {
  for_range(number(0), number(table_entries), lane_count, "entries", [&](Value* entry) {
    for (const Item& item : loop.body) {
      if (auto* load = std::get_if<Load>(&item)) {
        const DType dtype = program_.buffer(load->buffer).dtype;
        Value* lanes = nullptr;
        if (&item == function.load) {
          lanes = b_.CreateTrunc(b_.CreateAdd(b_.CreateVectorSplat(lane_count, entry), lane_numbers(64)), memory_type(context_, dtype, lane_count));
        } else {
          const LaneAccess& access = accesses_.at(&item);
          Value* at = b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(phase, access.lane_stride));
          lanes = b_.CreateVectorSplat(lane_count, b_.CreateAlignedLoad(memory_type(context_, dtype, 1), at, llvm::Align(size_of(dtype))));
        }
        packs_[static_cast<std::size_t>(load->result)] = {from_memory(lanes, dtype)};
      } else if (auto* compute = std::get_if<Compute>(&item)) {
        packs_[static_cast<std::size_t>(compute->result)] = emit_lane_compute(loop, *compute, 1);
      } else {
        const auto& store = std::get<Store>(item);
        const DType dtype = program_.buffer(store.buffer).dtype;
        b_.CreateAlignedStore(to_memory(pack(store.value, 0), dtype), b_.CreateGEP(b_.getInt8Ty(), table, entry), llvm::Align(lane_count));
      }
    }
  });
}

// Sixty-four bytes through the tables; lane l belongs to table (first + l) mod the number of tables. `tables`: four registers for each.
Value* KernelEmitter::look_up(Value* bytes, const std::vector<Value*>& tables, int first) {
  const auto count = tables.size() / 4;
  Value* halves[] = {bytes, bytes};                           // of the results; lanes still to come hold their bytes
  for (std::size_t t = 0; t < count; ++t) {
    std::vector<llvm::Constant*> mine;
    for (int lane = 0; lane < bytes_each; ++lane) mine.push_back(b_.getInt1(static_cast<std::size_t>(first + lane) % count == t));
    for (std::size_t half : {0, 1}) {
      const std::size_t low = 4 * t + 2 * half;
      Value* found = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {}, {tables[low], halves[half], tables[low + 1]});
      halves[half] = b_.CreateSelect(llvm::ConstantVector::get(mine), found, halves[half]);
    }
  }
  return b_.CreateSelect(b_.CreateICmpSLT(bytes, llvm::Constant::getNullValue(bytes->getType())), halves[1], halves[0]);
}

// The whole vectors of a range, which begins with the first table, through tables in registers.
Value* KernelEmitter::look_up_in_registers(const Loop& loop, const ByteFunction& function, Value* memory, Range range) {
  const Index stride = bytes_each * function.tables;
  const bool past_caches = streams(std::get<Store>(*function.store), loop.var.axis, bytes_each);
  auto* type = llvm::FixedVectorType::get(b_.getInt8Ty(), bytes_each);
  std::vector<Value*> tables;
  for (Index k = 0; k < 4 * function.tables; ++k) tables.push_back(b_.CreateAlignedLoad(type, after(type, memory, k), llvm::Align(64)));
  Value* end = b_.CreateSub(range.end, b_.CreateURem(b_.CreateSub(range.end, range.begin), number(stride)));
  for_range(range.begin, end, stride, "lookups", [&](Value* index) {
    for (int first = 0; first < static_cast<int>(stride); first += bytes_each) {
      Value* at = b_.CreateAdd(index, number(first));
      const LaneAccess& from = accesses_.at(function.load);
      Value* bytes = load_steps(DType::u8, lane_address(from, DType::u8, at, 0), step_of(from.lane), bytes_each);
      Value* to = b_.CreateGEP(b_.getInt8Ty(), accesses_.at(function.store).base, at);
      Value* results = look_up(bytes, tables, first);
      if (past_caches) store_past_caches(results, to);
      else b_.CreateAlignedStore(results, to, llvm::Align(1));
    }
  });
  return end;
}

// The same through tables in memory, of elements that may lie anywhere.
Value* KernelEmitter::look_up_in_memory(const ByteFunction& function, Value* memory, Range range) {
  const Index stride = in_memory * function.tables;
  Value* end = b_.CreateSub(range.end, b_.CreateURem(b_.CreateSub(range.end, range.begin), number(stride)));
  const auto byte_at = [&](const Item* item, Value* index) {
    const LaneAccess& access = accesses_.at(item);
    return b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(index, access.lane_stride));
  };
  for_range(range.begin, end, stride, "lookups", [&](Value* index) {
    for (Index k = 0; k < stride; ++k) {
      Value* at = b_.CreateAdd(index, number(k));
      Value* byte = b_.CreateLoad(b_.getInt8Ty(), byte_at(function.load, at));
      Value* entry = b_.CreateAdd(b_.CreateZExt(byte, b_.getInt64Ty()), number(k % function.tables * table_entries));
      b_.CreateStore(b_.CreateLoad(b_.getInt8Ty(), b_.CreateGEP(b_.getInt8Ty(), memory, entry)), byte_at(function.store, at));
    }
  });
  return end;
}

Value* KernelEmitter::look_up_range(const Loop& loop, const ByteFunction& function, Value* memory, Range range) {
  if (function.in_registers) range.begin = look_up_in_registers(loop, function, memory, range);
  return look_up_in_memory(function, memory, range);
}

// Where there are tables, or the range is long enough to pay for them, runs all of it but a rest. Returns where that begins.
Value* KernelEmitter::emit_table_lookups(const Loop& loop, const ByteFunction& function, Range range) {
  auto* rest = stack_cell(b_.getInt64Ty(), "rest");
  b_.CreateStore(range.begin, rest);
  if (const EarlyTables* early = early_tables(loop)) {
    if_then(early->ready, "tables", [&] {
      Value* table = early->axis < 0 ? number(0) : axis_index_[static_cast<std::size_t>(early->axis)];
      Value* memory = b_.CreateGEP(b_.getInt8Ty(), early->memory, b_.CreateMul(table, number(table_entries)));
      b_.CreateStore(look_up_range(loop, function, memory, range), rest);
    });
    return b_.CreateLoad(b_.getInt64Ty(), rest);
  }
  if_then(b_.CreateICmpSGE(b_.CreateSub(range.end, range.begin), number(2 * table_entries * function.tables)), "tables", [&] {
    auto* memory = stack_cell(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<std::uint64_t>(table_entries * function.tables)), "tables");
    for_range(number(0), number(function.tables), 1, "table", [&](Value* table) {
      Value* phase = b_.CreateURem(b_.CreateAdd(range.begin, table), number(function.tables));
      fill_table(loop, function, b_.CreateGEP(b_.getInt8Ty(), memory, b_.CreateMul(table, number(table_entries))), phase);
    });
    b_.CreateStore(look_up_range(loop, function, memory, range), rest);
  });
  return b_.CreateLoad(b_.getInt64Ty(), rest);
}

}  // namespace weft
