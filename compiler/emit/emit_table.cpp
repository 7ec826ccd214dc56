// Functions of one byte, such as the tone curve of an image: the 256 results are made once, by the loop's own instructions, and then
// looked up: in registers, sixty-four or thirty-two at a time, or one by one in memory on processors that cannot. With operands that repeat
// there is a table for each of their elements.
#include <cstdint>
#include <numeric>
#include <vector>

#include <llvm/IR/IntrinsicsX86.h>

#include "emit_kernel.h"
#include "schedule/schedule.h"

namespace weft {

using llvm::Value;

namespace {
constexpr int sixteenth = table_entries / 16;
constexpr Index in_memory = 8;          // lookups in memory of one iteration, for each table
}  // namespace

// An element of an operand that repeats.
Value* KernelEmitter::element_in_all_lanes(const Item& item, const Load& load, Value* which) {
  const DType dtype = program_.buffer(load.buffer).dtype;
  const LaneAccess& access = accesses_.at(&item);
  Value* at = b_.CreateGEP(b_.getInt8Ty(), access.base, b_.CreateMul(which, access.lane_stride));
  return from_memory(b_.CreateVectorSplat(lane_count, b_.CreateAlignedLoad(memory_type(context_, dtype, 1), at, llvm::Align(size_of(dtype)))), dtype);
}

// The loop's results for all bytes, with element `phase` of the operands that repeat.
void KernelEmitter::fill_table(const Loop& loop, const ByteFunction& function, Value* table, Value* phase) {
  for_range(number(0), number(table_entries), lane_count, "entries", [&](Value* entry) {
    for (const Item& item : loop.body) {
      if (auto* load = std::get_if<Load>(&item)) {
        const DType dtype = program_.buffer(load->buffer).dtype;
        const auto bytes = [&] { return b_.CreateTrunc(b_.CreateAdd(b_.CreateVectorSplat(lane_count, entry), lane_numbers(64)), memory_type(context_, dtype, lane_count)); };
        packs_[static_cast<std::size_t>(load->result)] = {&item == function.load ? from_memory(bytes(), dtype) : element_in_all_lanes(item, *load, phase)};
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

// How tables differ from one sixteenth to the next, in each half: what look_up wants without AVX-512. As many bytes as the tables have.
Value* KernelEmitter::make_differences(const ByteFunction& function, Value* memory, Index tables) {
  if (!function.in_registers || permutes_bytes()) return nullptr;
  constexpr Index half = table_entries / sixteenth / 2;
  auto* type = llvm::FixedVectorType::get(b_.getInt8Ty(), sixteenth);
  const Index parts = tables * 2 * half;
  auto* cell = stack_cell(llvm::ArrayType::get(type, static_cast<std::uint64_t>(parts)), "differences");
  for_range(number(0), number(parts), 1, "sixteenth", [&](Value* part) {
    Value *is_first = b_.CreateICmpEQ(b_.CreateURem(part, number(half)), number(0)), *before = b_.CreateSelect(is_first, part, b_.CreateSub(part, number(1)));
    const auto entries = [&](Value* which) { return b_.CreateAlignedLoad(type, b_.CreateGEP(type, memory, which), llvm::Align(sixteenth)); };
    Value* difference = b_.CreateXor(entries(part), b_.CreateSelect(is_first, llvm::Constant::getNullValue(type), entries(before)));
    b_.CreateAlignedStore(difference, b_.CreateGEP(type, cell, part), llvm::Align(sixteenth));
  });
  return cell;
}

// A register of bytes through a table in four.
Value* KernelEmitter::look_up_by_permutes(Value* bytes, const std::vector<Value*>& quarters) {
  const auto half = [&](std::size_t low) {
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {}, {quarters[low], bytes, quarters[low + 1]});
  };
  Value* lower = half(0);
  return b_.CreateSelect(b_.CreateICmpSLT(bytes, llvm::Constant::getNullValue(bytes->getType())), half(2), lower);
}

// A register of bytes through the differences of a table: a shuffle gives zero for bytes below zero, and does not mind the upper bits of others, so
// those add up of all sixteenths up to that of the byte.
Value* KernelEmitter::look_up_by_shuffles(Value* bytes, Value* differences) {
  const auto like = [&](int value) { return llvm::ConstantInt::get(bytes->getType(), static_cast<std::uint64_t>(value)); };
  auto* type = llvm::FixedVectorType::get(b_.getInt8Ty(), sixteenth);
  std::vector<int> twice;
  for (int lane = 0; lane < 2 * sixteenth; ++lane) twice.push_back(lane % sixteenth);
  Value* found = nullptr;
  for (int half : {0, 1}) {
    Value* at = half == 0 ? bytes : b_.CreateXor(bytes, like(128));
    for (int part = 0; part < table_entries / sixteenth / 2; ++part) {
      if (part > 0) at = b_.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, at, like(sixteenth));
      Value* difference = b_.CreateShuffleVector(b_.CreateAlignedLoad(type, after(type, differences, half * 8 + part), llvm::Align(sixteenth)), twice);
      Value* more = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_pshuf_b, {}, {difference, at});
      found = found ? b_.CreateXor(found, more) : more;
    }
  }
  return found;
}

// Each register through its own differences, which follow each other: one code for all.
void KernelEmitter::look_up_each_by_shuffles(std::vector<Value*>& registers, Value* differences) {
  if (registers.size() == 1) {
    registers[0] = look_up_by_shuffles(registers[0], differences);
    return;
  }
  llvm::Type* type = registers[0]->getType();
  auto* cell = stack_cell(llvm::ArrayType::get(type, registers.size()), "registers");
  const auto place = [&](std::size_t k) { return after(type, cell, static_cast<Index>(k)); };
  for (std::size_t k = 0; k < registers.size(); ++k) b_.CreateStore(registers[k], place(k));
  for_range(number(0), number(static_cast<Index>(registers.size())), 1, "table", [&](Value* table) {
    Value *here = b_.CreateGEP(type, cell, table), *own = b_.CreateGEP(b_.getInt8Ty(), differences, b_.CreateMul(table, number(table_entries)));
    b_.CreateStore(look_up_by_shuffles(b_.CreateLoad(type, here), own), here);
  }, true);
  for (std::size_t k = 0; k < registers.size(); ++k) registers[k] = b_.CreateLoad(type, place(k));
}

// As many registers of bytes as there are tables, for each byte in turn. The bytes of one table lie at different places in different registers, so that
// they are one register without a move: those of three tables do, and those of two or four after one place more of turning in each register.
std::vector<Value*> KernelEmitter::look_up(const std::vector<Value*>& bytes, const std::vector<std::vector<Value*>>& quarters, Value* table_differences) {
  const std::size_t count = bytes.size(), width = static_cast<std::size_t>(register_bytes());
  const bool turns = width % count == 0;
  const auto turned = [&](Value* whole, std::size_t by) -> Value* {            // each group of `count` bytes
    if (!turns || by % count == 0) return whole;
    std::vector<int> from;
    for (std::size_t lane = 0; lane < width; ++lane) from.push_back(static_cast<int>(lane / count * count + (lane + by) % count));
    return b_.CreateShuffleVector(whole, from);
  };
  const auto mine = [&](std::size_t table, std::size_t which) {
    std::vector<llvm::Constant*> lanes;
    for (std::size_t lane = 0; lane < width; ++lane) lanes.push_back(b_.getInt1((which * (turns ? 1 : width) + lane) % count == table));
    return llvm::ConstantVector::get(lanes);
  };
  // One register of what is each one's own, which lies at different places.
  const auto gathered = [&](const std::vector<Value*>& registers, const auto& own) {
    Value* all = registers[0];
    for (std::size_t k = 1; k < count; ++k) all = b_.CreateSelect(own(k), registers[k], all);
    return all;
  };
  std::vector<Value*> places, found, results;
  for (std::size_t k = 0; k < count; ++k) places.push_back(turned(bytes[k], k));
  for (std::size_t table = 0; table < count; ++table) found.push_back(gathered(places, [&](std::size_t k) { return mine(table, k); }));
  if (table_differences) look_up_each_by_shuffles(found, table_differences);
  else for (std::size_t table = 0; table < count; ++table) found[table] = look_up_by_permutes(found[table], quarters[table]);
  for (std::size_t k = 0; k < count; ++k) results.push_back(turned(gathered(found, [&](std::size_t table) { return mine(table, k); }), count - k));
  return results;
}

// The whole vectors of a range, which begins with the first table, through tables in registers.
Value* KernelEmitter::look_up_in_registers(const Loop& loop, const ByteFunction& function, Value* memory, Value* table_differences, Range range) {
  const Index width = register_bytes(), stride = width * function.tables;
  const bool past_caches = streams(std::get<Store>(*function.store), loop.var.axis, static_cast<int>(width));
  auto* type = llvm::FixedVectorType::get(b_.getInt8Ty(), static_cast<unsigned>(width));
  Value* end = b_.CreateSub(range.end, b_.CreateURem(b_.CreateSub(range.end, range.begin), number(stride)));
  std::vector<std::vector<Value*>> quarters(static_cast<std::size_t>(table_differences ? 0 : function.tables));
  for (Index k = 0; k < static_cast<Index>(4 * quarters.size()); ++k) quarters[static_cast<std::size_t>(k / 4)].push_back(b_.CreateAlignedLoad(type, after(type, memory, k), llvm::Align(64)));
  for_range(range.begin, end, stride, "lookups", [&](Value* index) {
    const LaneAccess& from = accesses_.at(function.load);
    std::vector<Value*> bytes, places;
    for (Index k = 0; k < function.tables; ++k) {
      Value* at = b_.CreateAdd(index, number(k * width));
      bytes.push_back(load_steps(DType::u8, lane_address(from, DType::u8, at, 0), step_of(from.lane), static_cast<int>(width)));
      places.push_back(b_.CreateGEP(b_.getInt8Ty(), accesses_.at(function.store).base, at));
    }
    const std::vector<Value*> results = look_up(bytes, quarters, table_differences);
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (past_caches) store_past_caches(results[k], places[k]);
      else b_.CreateAlignedStore(results[k], places[k], llvm::Align(1));
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

Value* KernelEmitter::look_up_range(const Loop& loop, const ByteFunction& function, Value* memory, Value* table_differences, Range range) {
  if (function.in_registers) range.begin = look_up_in_registers(loop, function, memory, table_differences, range);
  return look_up_in_memory(function, memory, range);
}

Value* KernelEmitter::pays_for_tables(const ByteFunction& function, Range range) {
  return b_.CreateICmpSGE(b_.CreateSub(range.end, range.begin), number(2 * table_entries * function.tables));
}

// Whether one code makes the tables and what is left over, from neighbours in memory to neighbours.
bool KernelEmitter::makes_tables_of_loop(const Loop& loop, const ByteFunction& function) const {
  const LaneAccess &from = accesses_.at(function.load), &to = accesses_.at(function.store);
  return !early_tables(loop) && from.lane == StrideClass::unit && to.lane == StrideClass::unit && !from.cells && !to.cells;
}

// The loop once for each table, from all bytes, with which most of the range is looked up then, and once from what is left to its results. A body that
// is worth a table is long: generating code for it is most of a first call.
void KernelEmitter::emit_tables_and_rest(const Loop& loop, const ByteFunction& function, Range range) {
  std::vector<std::uint8_t> every(table_entries);
  std::iota(every.begin(), every.end(), std::uint8_t{0});
  llvm::Constant* content = llvm::ConstantDataArray::get(context_, every);
  auto* bytes = new llvm::GlobalVariable(module_, content->getType(), /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, content, "bytes");
  auto* memory = stack_cell(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<std::uint64_t>(table_entries * function.tables)), "tables");
  auto* left = stack_cell(b_.getInt64Ty(), "left");
  b_.CreateStore(range.begin, left);
  Value *pays = pays_for_tables(function, range), *tables = number(function.tables);
  const auto arrays = accesses_;
  for_range(b_.CreateSelect(pays, number(0), tables), number(function.tables + 1), 1, "pass", [&](Value* pass) {
    Value* is_table = b_.CreateICmpSLT(pass, tables);
    accesses_.at(function.load).base = b_.CreateSelect(is_table, bytes, arrays.at(function.load).base);
    accesses_.at(function.store).base = b_.CreateSelect(is_table, b_.CreateGEP(b_.getInt8Ty(), memory, b_.CreateMul(pass, number(table_entries))), arrays.at(function.store).base);
    for (const Item& item : loop.body) {
      auto* load = std::get_if<Load>(&item);
      if (!load || &item == function.load) continue;
      accesses_.at(&item).alone = is_table;
      accesses_.at(&item).one = element_in_all_lanes(item, *load, b_.CreateURem(b_.CreateAdd(range.begin, pass), tables));
    }
    Value* begin = b_.CreateSelect(is_table, number(0), b_.CreateLoad(b_.getInt64Ty(), left));
    emit_rest(loop, {begin, b_.CreateSelect(is_table, number(table_entries), range.end)}, 1, true);
    accesses_ = arrays;
    if_then(b_.CreateICmpEQ(pass, number(function.tables - 1)), "lookups", [&] {
      b_.CreateStore(look_up_range(loop, function, memory, make_differences(function, memory, function.tables), range), left);
    });
  });
}

// Where there are tables, or the range is long enough to pay for them, runs all of it but a rest. Returns where that begins.
Value* KernelEmitter::emit_table_lookups(const Loop& loop, const ByteFunction& function, Range range) {
  auto* rest = stack_cell(b_.getInt64Ty(), "rest");
  b_.CreateStore(range.begin, rest);
  if (const EarlyTables* early = early_tables(loop)) {
    if_then(early->ready, "tables", [&] {
      Value* table = early->axis < 0 ? number(0) : axis_index_[static_cast<std::size_t>(early->axis)];
      const auto own = [&](Value* tables) { return tables ? b_.CreateGEP(b_.getInt8Ty(), tables, b_.CreateMul(table, number(table_entries))) : nullptr; };
      b_.CreateStore(look_up_range(loop, function, own(early->memory), own(early->differences), range), rest);
    });
    return b_.CreateLoad(b_.getInt64Ty(), rest);
  }
  if_then(pays_for_tables(function, range), "tables", [&] {
    auto* memory = stack_cell(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<std::uint64_t>(table_entries * function.tables)), "tables");
    for_range(number(0), number(function.tables), 1, "table", [&](Value* table) {
      Value* phase = b_.CreateURem(b_.CreateAdd(range.begin, table), number(function.tables));
      fill_table(loop, function, b_.CreateGEP(b_.getInt8Ty(), memory, b_.CreateMul(table, number(table_entries))), phase);
    });
    b_.CreateStore(look_up_range(loop, function, memory, make_differences(function, memory, function.tables), range), rest);
  });
  return b_.CreateLoad(b_.getInt64Ty(), rest);
}

}  // namespace weft
